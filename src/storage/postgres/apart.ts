/** A PostgreSQL database opened for one thing, beside its servers: its tables, its keys, its switch of maintenance. */
import pg from 'pg'
import type { Catalog } from '../../model/resource.ts'
import { keyStore } from '../sql/key-store.ts'
import { keysAlone } from '../sql/keys-alone.ts'
import { maintenanceStore } from '../sql/maintenance-store.ts'
import type { Migrated } from '../sql/migrated.ts'
import { MigrationRefused } from '../sql/migration-refused.ts'
import type { KeyStore, MaintenanceStore } from '../storage.ts'
import { type ConnectionOptions, settingsOf } from './connections.ts'
import { Database } from './database.ts'
import { expressions } from './expressions.ts'
import { migrateForKeys, migratePostgres } from './migration/migrate.ts'
import { isInUse } from './migration/schema.ts'

/** Has something done on a connection of its own, on which a statement may take as long as it takes. */
export async function alone<T>(options: ConnectionOptions, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...settingsOf(options), statement_timeout: 0, lock_timeout: 0 })
  // What fails on it is told to whoever waits for it.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** What a database lacks for a catalog; with `apply`, changed, whatever it loses. */
export async function planOrMigratePostgres(
  options: ConnectionOptions,
  catalog: Catalog,
  apply: boolean,
): Promise<Migrated> {
  try {
    return await alone(options, (client) =>
      migratePostgres(client, catalog, { apply: apply ? 'all' : 'never', now: Date.now() }),
    )
  } catch (error) {
    if (apply || !(error instanceof MigrationRefused)) throw error
    return { steps: error.steps, applied: false }
  }
}

/** Opens a database for its API keys alone: whatever is declared, and before anything is. */
export async function openPostgresKeys(
  options: ConnectionOptions,
): Promise<{ readonly keys: KeyStore; close(): Promise<void> }> {
  await alone(options, migrateForKeys)
  const database = new Database(options)
  return { keys: keyStore({ catalog: keysAlone(), expressions }, database), close: () => database.close() }
}

/**
 * Opens a database for its switch alone. Nothing else in it changes, whichever version has made it: servers may be running
 * on it.
 *
 * @returns `undefined` where no server has ever used it
 */
export async function openPostgresMaintenance(
  options: ConnectionOptions,
): Promise<{ readonly maintenance: MaintenanceStore; close(): Promise<void> } | undefined> {
  if (!(await alone(options, isInUse))) return undefined
  const database = new Database(options)
  return { maintenance: maintenanceStore(database), close: () => database.close() }
}
