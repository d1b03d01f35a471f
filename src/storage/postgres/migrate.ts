/**
 * Migrates a PostgreSQL schema in one transaction. Only indexes of existing tables are built afterwards, while other
 * connections write. The next start completes a migration that was killed.
 * See docs/decisions/026-migrations-on-postgresql.md.
 */
import type { ClientBase } from 'pg'
import type { Catalog } from '../../model/resource.ts'
import { changeSchema, isMigrated, type Migrated, type MigrateOptions, migrationTo } from '../migration/apply.ts'
import { StorageFault } from '../storage.ts'
import { keysCatalog } from '../transactions/keys.ts'
import { buildIndexes } from './build-indexes.ts'
import { migrationEngine } from './migration-engine.ts'
import { underLock, usualWaits, type Waits, withRetries } from './migration-lock.ts'
import { checkRights, checkServer } from './requirements.ts'
import { inTransaction, run, stateOf, withSettings } from './session.ts'

interface PooledOptions extends MigrateOptions {
  /** Whether a pooler shares the connection after each transaction, so that it keeps no lock and no setting. */
  readonly isPooled?: boolean
}

const needsSession =
  'The database lacks tables or columns, ' +
  'which cannot be added through a pooler that shares connections among transactions. ' +
  'Run once: resourced migrate --apply --database with the address of the PostgreSQL server itself; then start again.'

/**
 * Adds what a database lacks for a catalog, and changes what differs, as `migrate` of SQLite does.
 *
 * @param client a connection to the server itself, or to a pooler that keeps sessions; it must not be in use
 * @throws MigrationRefused where `apply` does not allow it, or it is impossible; nothing is changed then, unless
 *   duplicates were written while indexes were built
 * @throws StorageFault where PostgreSQL fails, is too old, or other sessions hold locks for a minute
 */
export async function migratePostgres(
  client: ClientBase,
  catalog: Catalog,
  options: PooledOptions,
  waits: Waits = usualWaits,
): Promise<Migrated> {
  const engine = migrationEngine(waits.lock)
  const migration = migrationTo(catalog, engine, options)
  try {
    await checkServer(client)
    const begin = 'begin isolation level repeatable read read only'
    if (await inTransaction(client, begin, () => run(client, isMigrated(migration)))) {
      return { steps: [], applied: false }
    }
    if (options.isPooled === true) throw new StorageFault('failed', needsSession)
    await checkRights(client)
    return await withSettings(client, unlimited(waits), () =>
      underLock(client, waits, async () => {
        const { steps, deferred } = await withRetries(waits, () =>
          inTransaction(client, 'begin isolation level read committed', () => run(client, changeSchema(migration))),
        )
        await buildIndexes(client, engine, deferred)
        return { steps, applied: steps.length > 0 }
      }),
    )
  } catch (error) {
    throw stateOf(error) === undefined ? error : new StorageFault('failed', 'The database cannot be migrated:', error)
  }
}

/** Settings without a session's limits. The server notices within a second that the client was killed. */
function unlimited({ lock }: Waits): Record<string, string> {
  const none = { statement_timeout: '0', idle_in_transaction_session_timeout: '0', transaction_timeout: '0' }
  return { ...none, lock_timeout: String(lock), client_connection_check_interval: '1000' }
}

/** Migrates a schema to what API keys alone need. Other tables belong to a declaration that was not read. */
export async function migrateForKeys(client: ClientBase, isPooled = false): Promise<void> {
  await migratePostgres(client, keysCatalog(), { apply: 'additive', now: Date.now(), keepsOthers: true, isPooled })
}
