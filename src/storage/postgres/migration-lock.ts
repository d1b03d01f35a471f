/** Allows one migration at a time, however many servers start at once, and limits how long each waits. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { StorageFault } from '../storage.ts'
import { query, stateOf } from './session.ts'

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
