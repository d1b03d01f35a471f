/** Commands on a PostgreSQL database beside its servers: migrate, manage API keys, switch maintenance. */
import type { ClientBase } from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Administration, Host, OpenKeys } from '../administration/administration.ts'
import { schemaHash } from '../migration/apply.ts'
import { type Examination, examine } from '../migration/examine.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { sqlContext } from '../sql/context.ts'
import { StorageFault } from '../storage.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { keyStore, keysCatalog } from '../transactions/keys.ts'
import { maintenanceStore } from '../transactions/meta.ts'
import { tenantsIn } from '../transactions/tenants.ts'
import { type Node, nodesForTenants, onNode } from './citus.ts'
import { Database } from './database.ts'
import { postgres } from './dialect.ts'
import { toStorageFault } from './errors.ts'
import { HostConnections } from './host-connections.ts'
import { migratePostgres } from './migrate.ts'
import { migrationDialect } from './migration-dialect.ts'
import { checkDurability, checkRights, checkServer, checkTenants } from './requirements.ts'
import { createEmptySchema, createSchema, listSchemas, removeSchema, sizeOf } from './schemas.ts'
import { inTransaction, query, run, withConnection } from './session.ts'
import type { ConnectionOptions } from './settings.ts'
import type { PostgresOptions } from './storage.ts'
import { schemaOf } from './tenant-schema.ts'

/** A database, and those of its tenants in schemas beside its own. */
export function postgresHost(options: PostgresOptions): Host {
  const shared = new HostConnections()
  return {
    administer: (tenant) => postgresAdministration(options, tenant, shared),
    hashOf: (catalog) => schemaHash(catalog, postgres),
    remove: (tenant) => withConnection(options, (client) => removeSchema(client, schemaOf(tenant))),
    databases: () => withConnection(options, listSchemas),
    async size(tenant) {
      const schema = schemaOf(tenant)
      const { transactions } = await shared.reach({ ...options, schema })
      return transactions.use((client) => sizeOf(client, schema))
    },
    close: () => shared.close(),
  }
}

/**
 * The administration of a database. Commands load what few of them need when they need it.
 *
 * @param tenant the tenant whose database is meant; left out: that of the operators
 * @param shared the connections of a host; left out: an opened storage has its own
 */
export function postgresAdministration(
  given: PostgresOptions,
  tenant?: string,
  shared?: HostConnections,
): Administration {
  const schema = tenant === undefined ? undefined : schemaOf(tenant)
  const options = { ...given, schema }
  const isPooled = options.session === 'off'
  const hasTables = () => withConnection(options, isInUse)
  async function openKeys(): Promise<OpenKeys> {
    if (schema !== undefined) await withConnection(given, (client) => createSchema(client, keysCatalog(), schema))
    await withConnection(options, (client) => migrateForKeys(client, isPooled))
    const { database, close } = await openDatabase(options)
    return { keys: keyStore(sqlContext({ catalog: keysCatalog(), dialect: postgres }), database), close }
  }
  return {
    async open(catalog, { migrate, isCurrent, onCommit, onReplica }) {
      const { openPostgres } = await import('./storage.ts')
      return openPostgres(catalog, { ...options, migrate, isCurrent, onCommit, onReplica }, shared)
    },
    openKeys,
    async listKeys() {
      if (!(await hasTables())) return undefined
      const { keys, close } = await openKeys()
      return keys.list().finally(close)
    },
    async openMaintenance() {
      if (!(await hasTables())) return undefined
      const { database, close } = await openDatabase(options)
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
    async changesEnded() {
      // A tenant that nobody has used has no tables yet.
      if (await hasTables()) await (await import('./move.ts')).changesEnded(options)
    },
    openSource: async () => (await import('./move.ts')).postgresSource(options),
    async fill(tables, fill) {
      if (schema !== undefined) await withConnection(given, (client) => createEmptySchema(client, schema))
      return (await import('./move.ts')).fillPostgres(options, tables, fill)
    },
    foreign: {
      describe: async (schemas) => (await import('./inspect.ts')).describePostgres(options, schemas),
      open: async (schemas) => (await import('./read-tables.ts')).openPostgresTables(options, schemas),
    },
  }
}

async function openDatabase(options: PostgresOptions) {
  const connections = new HostConnections()
  const place = await connections.place(options)
  return { database: new Database(options, undefined, place), close: () => connections.close() }
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
      const hasTenants = catalog !== undefined && tenantsIn(catalog) !== undefined
      const nodes = hasTenants ? ((await nodesForTenants(client)) ?? []) : []
      const firstRefusal = async (checks: readonly Promise<void>[], ofNode: (client: ClientBase) => Promise<void>) => {
        const all = [...checks, ...nodes.map((node) => checkNode(options, node, ofNode))].map(refusalOf)
        return (await Promise.all(all)).find((each) => each !== undefined)
      }
      const ofTenants = hasTenants ? [checkTenants(client)] : []
      const refused = await firstRefusal([checkServer(client), checkRights(client), ...ofTenants], checkServer)
      const undurable =
        (await refusalOf(checkDurability(client))) ??
        (refused === undefined ? await firstRefusal([], checkDurability) : undefined)
      const isReadable = found?.['homeless'] === 0
      return {
        ...(isReadable ? await run(client, examine(migrationDialect(0), catalog)) : nothingFound),
        server: {
          ...{ name: 'PostgreSQL', version: String(found?.['version']) },
          now: Number(found?.['now']) * 1_000,
          refused,
          undurable,
          connections: { most: Number(found?.['most']), used: Number(found?.['used']) },
        },
      }
    })
    return examined.catch((error) => {
      throw toStorageFault(error)
    })
  })
}

/** Checks a node of Citus, which is a server of its own. */
async function checkNode(options: ConnectionOptions, node: Node, check: (client: ClientBase) => Promise<void>) {
  const checked = withConnection(onNode({ ...options, schema: undefined }, node), check)
  await checked.catch((error: unknown) => {
    if (!(error instanceof StorageFault)) throw error
    throw new StorageFault('failed', `The node ${node.host}:${node.port} of Citus cannot be used. ${error.message}`)
  })
}

const nothingFound: Examination = {
  ...{ isUsed: false, pending: undefined, maintenance: undefined, purged: undefined, newest: undefined },
  summaries: new Map(),
  jobs: new Map(),
  tenants: undefined,
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
  return (await inTransaction(client, 'begin read only', () => query(client, found))).length > 0
}
