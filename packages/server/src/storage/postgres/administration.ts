/** Commands on a PostgreSQL database beside its servers: migrate, manage API keys, switch maintenance. */
import type { ClientBase } from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Administration, OpenKeys } from '../administration/administration.ts'
import { type Examination, examine } from '../migration/examine.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { sqlContext } from '../sql/context.ts'
import { StorageFault } from '../storage.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { keyStore, keysCatalog } from '../transactions/keys.ts'
import { maintenanceStore } from '../transactions/meta.ts'
import { Database } from './database.ts'
import { postgres } from './dialect.ts'
import { toStorageFault } from './errors.ts'
import { migratePostgres } from './migrate.ts'
import { migrationDialect } from './migration-dialect.ts'
import { checkDurability, checkRights, checkServer } from './requirements.ts'
import { inTransaction, query, run, withConnection } from './session.ts'
import type { ConnectionOptions } from './settings.ts'
import type { PostgresOptions } from './storage.ts'

/** The administration of a database. Commands load what few of them need when they need it. */
export function postgresAdministration(options: PostgresOptions): Administration {
  const isPooled = options.session === 'off'
  const hasTables = () => withConnection(options, isInUse)
  async function openKeys(): Promise<OpenKeys> {
    await withConnection(options, (client) => migrateForKeys(client, isPooled))
    const database = new Database(options)
    const keys = keyStore(sqlContext({ catalog: keysCatalog(), dialect: postgres }), database)
    return { keys, close: () => database.close() }
  }
  return {
    async open(catalog, { migrate, onCommit, onReplica }) {
      const { openPostgres } = await import('./storage.ts')
      return openPostgres(catalog, { ...options, migrate, onCommit, onReplica })
    },
    openKeys,
    async listKeys() {
      if (!(await hasTables())) return undefined
      const { keys, close } = await openKeys()
      return keys.list().finally(close)
    },
    async openMaintenance() {
      if (!(await hasTables())) return undefined
      const database = new Database(options)
      const close = () => database.close()
      return { maintenance: maintenanceStore(database), purgeClock: purgeClockStore(database), close }
    },
    hasTables,
    async migrate(catalog, apply) {
      const how = { apply, now: Date.now(), isPooled, undoesNewer: true }
      try {
        return await withConnection(options, (client) => migratePostgres(client, catalog, how))
      } catch (error) {
        if (apply === 'all' || !(error instanceof MigrationRefused)) throw error
        return { steps: error.steps, applied: false }
      }
    },
    examine: (catalog) => examinePostgres(options, catalog),
    openSource: async () => (await import('./move.ts')).postgresSource(options),
    fill: async (schema, fill) => (await import('./move.ts')).fillPostgres(options, schema, fill),
    foreign: {
      describe: async (schemas) => (await import('./inspect.ts')).describePostgres(options, schemas),
      open: async (schemas) => (await import('./read-tables.ts')).openPostgresTables(options, schemas),
    },
  }
}

/** Migrates a schema to the tables that API keys need. Other tables belong to a declaration that was not read. */
export async function migrateForKeys(client: ClientBase, isPooled = false): Promise<void> {
  await migratePostgres(client, keysCatalog(), { apply: 'additive', now: Date.now(), keepsOthers: true, isPooled })
}

/** Examines a database for at most ten seconds a statement. It only reads, and waits for no lock. */
function examinePostgres(options: ConnectionOptions, catalog: Catalog | undefined): Promise<Examination> {
  return withConnection(options, (client) => {
    const examined = inTransaction(client, 'begin isolation level repeatable read read only', async () => {
      await query(client, 'set local statement_timeout = 10000')
      await query(client, 'set local lock_timeout = 1000')
      const [found] = await query(
        client,
        `select current_setting('server_version') as version, extract(epoch from clock_timestamp())::float8 as now,
           current_setting('max_connections')::int as most, (select count(*) from pg_stat_activity
           where backend_type = 'client backend') as used, current_schema() is null as homeless`,
      )
      const refused = (await refusalOf(checkServer(client))) ?? (await refusalOf(checkRights(client)))
      const isReadable = found?.['homeless'] === 0
      return {
        ...(isReadable ? await run(client, examine(migrationDialect(0), catalog)) : nothingFound),
        server: {
          ...{ name: 'PostgreSQL', version: String(found?.['version']) },
          now: Number(found?.['now']) * 1_000,
          refused,
          undurable: await refusalOf(checkDurability(client)),
          connections: { most: Number(found?.['most']), used: Number(found?.['used']) },
        },
      }
    })
    return examined.catch((error) => {
      throw toStorageFault(error)
    })
  })
}

const nothingFound: Examination = {
  ...{ isUsed: false, pending: undefined, maintenance: undefined, purged: undefined, newest: undefined },
  summaries: new Map(),
  jobs: new Map(),
}

async function refusalOf(check: Promise<void>): Promise<string | undefined> {
  try {
    await check
    return undefined
  } catch (error) {
    if (error instanceof StorageFault) return error.message
    throw error
  }
}

/** Whether a server has ever used this schema: it has the table that the maintenance switch is in, among others. */
export async function isInUse(client: ClientBase): Promise<boolean> {
  const found = `select 1 as one from pg_class where relname = 'resourced_meta' and relkind = 'r'
    and relnamespace = (select oid from pg_namespace where nspname = current_schema())`
  return (await query(client, found)).length > 0
}
