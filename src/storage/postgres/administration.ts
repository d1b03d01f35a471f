/** Commands on a PostgreSQL database beside its servers: migrate, manage API keys, switch maintenance. */
import type { ClientBase } from 'pg'
import type { Catalog } from '../../model/resource.ts'
import type { Migrated } from '../migration/apply.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { sqlContext } from '../sql/context.ts'
import type { Storage } from '../storage.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { keyStore, keysCatalog } from '../transactions/keys.ts'
import { maintenanceStore } from '../transactions/meta.ts'
import { Database } from './database.ts'
import { postgres } from './engine.ts'
import { migratePostgres } from './migrate.ts'
import { query, withConnection } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

/** The steps that a database needs for a catalog. With `apply`, they are taken, even if they lose data. */
export async function planOrMigratePostgres(
  options: ConnectionOptions,
  catalog: Catalog,
  apply: boolean,
): Promise<Migrated> {
  try {
    return await withConnection(options, (client) =>
      migratePostgres(client, catalog, {
        ...{ apply: apply ? 'all' : 'never', now: Date.now(), isPooled: options.session === 'off', undoesNewer: true },
      }),
    )
  } catch (error) {
    if (apply || !(error instanceof MigrationRefused)) throw error
    return { steps: error.steps, applied: false }
  }
}

/** Opens a database for its API keys only. No declaration is needed. */
export async function openPostgresKeys(options: ConnectionOptions): Promise<Pick<Storage, 'keys' | 'close'>> {
  await withConnection(options, (client) => migrateForKeys(client, options.session === 'off'))
  const database = new Database(options)
  return {
    keys: keyStore(sqlContext({ catalog: keysCatalog(), engine: postgres }), database),
    close: () => database.close(),
  }
}

/** Migrates a schema to the tables that API keys need. Other tables belong to a declaration that was not read. */
export async function migrateForKeys(client: ClientBase, isPooled = false): Promise<void> {
  await migratePostgres(client, keysCatalog(), { apply: 'additive', now: Date.now(), keepsOthers: true, isPooled })
}

/**
 * Opens a database for its maintenance switch and its purge clock only. Nothing else changes, whichever version
 * created the database, because servers may be running on it.
 *
 * @returns `undefined` where no server has ever used it
 */
export async function openPostgresMaintenance(
  options: ConnectionOptions,
): Promise<Pick<Storage, 'maintenance' | 'purgeClock' | 'close'> | undefined> {
  if (!(await hasPostgresTables(options))) return undefined
  const database = new Database(options)
  return {
    maintenance: maintenanceStore(database),
    purgeClock: purgeClockStore(database),
    close: () => database.close(),
  }
}

/** Whether a server has ever used a database. */
export function hasPostgresTables(options: ConnectionOptions): Promise<boolean> {
  return withConnection(options, isInUse)
}

/** Whether a server has ever used this schema: it has the table that the maintenance switch is in, among others. */
export async function isInUse(client: ClientBase): Promise<boolean> {
  const found = `select 1 as one from pg_class where relname = 'resourced_meta' and relkind = 'r'
    and relnamespace = (select oid from pg_namespace where nspname = current_schema())`
  return (await query(client, found)).length > 0
}
