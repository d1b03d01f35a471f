/**
 * Migrates a PostgreSQL schema in one transaction. Only indexes of existing tables are built afterwards, while other
 * connections write. The next start completes a migration that was killed: it drops the invalid index of a killed build
 * and builds it again. One session migrates a schema at a time, and each waits for locks for a limited time.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import { changeSchema, isMigrated, type Migrated, type MigrateOptions, migrationTo } from '../migration/apply.ts'
import type { MigrationDialect } from '../migration/migration-dialect.ts'
import { type IndexStep, MigrationRefused, type MigrationStep, needsCount } from '../migration/migration-step.ts'
import { assessStep } from '../migration/take-step.ts'
import { identifier } from '../sql/columns.ts'
import { createIndex } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import { distributing } from './citus.ts'
import { createSearch } from './dialect.ts'
import { stateOf } from './errors.ts'
import { migrationDialect } from './migration-dialect.ts'
import { checkEvents, checkRights, checkServer } from './requirements.ts'
import { inTransaction, query, run, withSettings } from './session.ts'

interface PooledOptions extends MigrateOptions {
  /** Whether a pooler shares the connection after each transaction, so that it keeps no lock and no setting. */
  readonly isPooled?: boolean
}

const needsSession =
  'The database lacks tables or columns, ' +
  'which cannot be added through a pooler that shares connections among transactions. ' +
  'Run once: npx resourced migrate --apply --database with the address of the PostgreSQL server itself; ' +
  'then start again.'

/**
 * Adds and changes tables, columns and indexes until a database fits a catalog, as `migrate` of SQLite does.
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
  const dialect = migrationDialect(waits.lock)
  const migration = migrationTo(catalog, dialect, options)
  try {
    const begin = 'begin isolation level repeatable read read only'
    const isDone = await inTransaction(client, begin, async () => {
      await checkServer(client)
      if (catalog.system.has('events')) await checkEvents(client)
      return run(client, isMigrated(migration))
    })
    if (isDone) return { steps: [], applied: false }
    if (options.isPooled === true) throw new StorageFault('failed', needsSession)
    await checkRights(client)
    return await withSettings(client, unlimited(waits), () =>
      underLock(client, waits, async () => {
        const { steps, deferred } = await withRetries(waits, () =>
          inTransaction(client, 'begin isolation level read committed', async () => {
            await query(client, distributing.text)
            return run(client, changeSchema(migration))
          }),
        )
        await buildIndexes(client, dialect, deferred)
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

/**
 * Builds indexes, one after the other.
 *
 * @throws MigrationRefused where records that were written meanwhile have duplicate values; all other indexes are built
 * @throws StorageFault where a value is too long for an index
 */
async function buildIndexes(client: ClientBase, dialect: MigrationDialect, steps: readonly IndexStep[]): Promise<void> {
  const refused: MigrationStep[] = []
  // A concurrent build waits for every transaction that began before it, and blocks none that begins later.
  await withSettings(client, { lock_timeout: '0' }, async () => {
    for (const step of steps) {
      const clash = await buildIndex(client, dialect, step)
      if (clash !== undefined) refused.push(clash)
    }
    // Without this, the planner has no statistics of new columns until autovacuum runs.
    for (const table of new Set(steps.map((step) => step.table))) await query(client, `analyze ${identifier(table)}`)
  })
  if (refused.length > 0) throw new MigrationRefused(refused)
}

/** Builds an index. Returns the assessed step where duplicate values prevent it. */
async function buildIndex(
  client: ClientBase,
  dialect: MigrationDialect,
  step: IndexStep,
): Promise<MigrationStep | undefined> {
  const name = identifier(step.kind === 'create-index' ? step.index.name : step.search.name)
  const definition = step.kind === 'create-index' ? createIndex(step.index) : createSearch(step.search)
  // Not within a transaction; others go on writing.
  const create = definition.replace('index', 'index concurrently')
  const drop = () => query(client, `drop index concurrently if exists ${name}`)
  await drop()
  while (true) {
    try {
      await query(client, create)
      return undefined
    } catch (error) {
      const state = stateOf(error)
      // After a lost connection, the next start drops it.
      if (state !== undefined) await drop()
      if (state === '23505' && needsCount(step)) {
        const assessed = await run(client, assessStep(dialect, step))
        if (assessed.impossible) return assessed
      } else if (state !== '40P01' && state !== '40001') {
        throw tooLongForIndex(error, step, 'start again') ?? error
      }
    }
    await sleep(100 + 400 * Math.random())
  }
}

/** The fault of a value that PostgreSQL cannot index because of its length; `undefined` for any other error. */
export function tooLongForIndex(error: unknown, step: MigrationStep, remedy: string): StorageFault | undefined {
  if (stateOf(error) !== '54000' || step.kind !== 'create-index') return undefined
  const columns = step.index.columns.join(', ')
  const problem = `A value in ${step.table} is too long for PostgreSQL's index of (${columns})`
  return new StorageFault('failed', `${problem}: shorten it, then ${remedy}.`, error)
}

/** How long a migration waits, in milliseconds. */
export interface Waits {
  /** In total, for locks of other sessions. */
  readonly patience: number
  /** In one try, for locks of tables: all other sessions that need such a lock wait behind it. */
  readonly lock: number
  /** Between two tries. */
  readonly pause: number
}

/** The waits of a server. */
export const usualWaits: Waits = { patience: 60_000, lock: 5_000, pause: 1_000 }

// The first number identifies our locks, the second the schema.
const key = `1381191541, (select oid::int from pg_namespace where nspname = current_schema())`

/**
 * Does work while no other session migrates this schema. The lock ends with the session at the latest.
 *
 * @throws StorageFault `busy` where another session holds the lock for too long
 */
export async function underLock<T>(client: ClientBase, waits: Waits, work: () => Promise<T>): Promise<T> {
  const end = Date.now() + waits.patience
  // A statement that waits would hold a snapshot, for which a concurrent index build of another session would wait.
  while ((await query(client, `select pg_try_advisory_lock(${key}) as taken`))[0]?.['taken'] !== 1) {
    if (Date.now() >= end) throw new StorageFault('busy', await heldSentence(client, waits.patience))
    await sleep(Math.min(200, waits.pause))
  }
  try {
    return await work()
  } finally {
    await query(client, `select pg_advisory_unlock(${key})`).catch(() => undefined)
  }
}

async function heldSentence(client: ClientBase, patience: number): Promise<string> {
  const [holder] = await query(
    client,
    `select pid from pg_locks
       where locktype = 'advisory' and granted and (classid, objid) = (${key.replace('::int', '')})
       and database = (select oid from pg_database where datname = current_database())`,
  )
  const who = holder === undefined ? '' : ` (process ${holder['pid']} of PostgreSQL)`
  return `Another server${who} has been migrating the database for ${seconds(patience)}. Start again when it is done.`
}

/** The errors after which a try is repeated: lock timeouts, deadlocks, and serialization failures. */
const retried = new Set(['55P03', '40P01', '40001'])

/**
 * Repeats work while it fails because of other sessions.
 *
 * @throws StorageFault `busy` where that takes too long
 */
export async function withRetries<T>(waits: Waits, work: () => Promise<T>): Promise<T> {
  const end = Date.now() + waits.patience
  while (true) {
    try {
      return await work()
    } catch (error) {
      if (!retried.has(stateOf(error) ?? '')) throw error
      if (Date.now() >= end) {
        const inUse = `The tables to be changed were in use for ${seconds(waits.patience)}.`
        const remedy = 'End long queries and open transactions (pg_stat_activity shows them), then start again.'
        throw new StorageFault('busy', `${inUse} ${remedy}`, error)
      }
    }
    // Several servers must not all try at the same moment.
    await sleep(waits.pause * (0.5 + Math.random()))
  }
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} seconds`
}
