/** A PostgreSQL database opened for one thing, beside its servers: its tables, its keys, its switch of maintenance. */

import type { Catalog } from '../../model/resource.ts'
import type { Migrated } from '../migration/apply.ts'
import { MigrationRefused } from '../migration/describe.ts'
import { sqlContext } from '../sql/context.ts'
import { type KeyStore, type MaintenanceStore, type PurgeClockStore, StorageFault } from '../storage.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { keyStore, keysAlone } from '../transactions/keys.ts'
import { maintenanceStore } from '../transactions/maintenance.ts'
import { Client } from './client.ts'
import { type ConnectionOptions, settingsOf } from './connections.ts'
import { Database } from './database.ts'
import { postgres } from './engine.ts'
import { migrateForKeys, migratePostgres } from './migration/migrate.ts'
import { isInUse } from './migration/requirements.ts'
import { unreachable } from './unreachable.ts'

/**
 * Has something done on a connection of its own, on which a statement may take as long as it takes.
 *
 * @throws StorageFault with what to do, where the database cannot be reached
 */
export async function alone<T>(options: ConnectionOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connected(options)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

function made(options: ConnectionOptions): Client {
  try {
    return new Client({ ...settingsOf(options), statement_timeout: 0, lock_timeout: 0 })
  } catch (error) {
    const { path } = error as { readonly path?: string }
    if (path === undefined) throw error
    throw new StorageFault('failed', `The address of the database names the file ${path}, which cannot be read.`)
  }
}

/**
 * A connection of its own; whoever asks for it ends it.
 *
 * @throws StorageFault with what to do, where the database cannot be reached
 */
export async function connected(options: ConnectionOptions): Promise<Client> {
  const client = made(options)
  try {
    await client.connect()
    return client
  } catch (error) {
    throw unreachable(error, client, options)
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
      migratePostgres(client, catalog, {
        ...{ apply: apply ? 'all' : 'never', now: Date.now(), isPooled: options.session === 'off', isAsked: true },
      }),
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
  await alone(options, (client) => migrateForKeys(client, options.session === 'off'))
  const database = new Database(options)
  return {
    keys: keyStore(sqlContext({ catalog: keysAlone(), engine: postgres }), database),
    close: () => database.close(),
  }
}

/**
 * Opens a database for its switch and its clock of purges alone. Nothing else in it changes, whichever version has made it: servers may be running
 * on it.
 *
 * @returns `undefined` where no server has ever used it
 */
export async function openPostgresMaintenance(
  options: ConnectionOptions,
): Promise<
  { readonly maintenance: MaintenanceStore; readonly purgeClock: PurgeClockStore; close(): Promise<void> } | undefined
> {
  if (!(await hasPostgresTables(options))) return undefined
  const database = new Database(options)
  return {
    maintenance: maintenanceStore(database),
    purgeClock: purgeClockStore(database),
    close: () => database.close(),
  }
}

/** Whether a database has the tables of Resourced. */
export function hasPostgresTables(options: ConnectionOptions): Promise<boolean> {
  return alone(options, isInUse)
}
