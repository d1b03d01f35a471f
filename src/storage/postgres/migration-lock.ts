/** One migration at a time, however many servers start at once, and none that waits for ever. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { StorageFault } from '../storage.ts'
import { query, stateOf } from './session.ts'

/** How long a migration waits, in milliseconds. */
export interface Waits {
  /** In all, for whatever is in the way. */
  readonly patience: number
  /** At one go for locks of tables: everybody else who wants one of them waits behind it. */
  readonly lock: number
  /** Between two tries. */
  readonly pause: number
}

/** The waits of a server. */
export const usualWaits: Waits = { patience: 60_000, lock: 5_000, pause: 1_000 }

// The first number says that it is ours, the second which schema it is about.
const key = `1381191541, (select oid::int from pg_namespace where nspname = current_schema())`

/**
 * Does work while no other session does such work on this schema. The lock belongs to the session: it goes with it.
 *
 * @throws StorageFault `busy` where another has it for longer than patience lasts
 */
export async function underLock<T>(client: ClientBase, waits: Waits, work: () => Promise<T>): Promise<T> {
  const end = Date.now() + waits.patience
  // Never waiting within a statement: it would hold a snapshot, which the one who makes indexes concurrently waits for.
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
    `select pid from pg_locks where locktype = 'advisory' and granted and (classid, objid) = (${key.replace('::int', '')})
       and database = (select oid from pg_database where datname = current_database())`,
  )
  const who = holder === undefined ? '' : ` (process ${holder['pid']} of PostgreSQL)`
  return `Another server${who} has been migrating the database for ${seconds(patience)}. Start again when it is done.`
}

/** What is tried again: locks that were not got in time, deadlocks, and transactions that came in one another's way. */
const passing = new Set(['55P03', '40P01', '40001'])

/**
 * Does work again for as long as it fails of others who are in the way.
 *
 * @throws StorageFault `busy` where they are for longer than patience lasts
 */
export async function patiently<T>(waits: Waits, work: () => Promise<T>): Promise<T> {
  const end = Date.now() + waits.patience
  while (true) {
    try {
      return await work()
    } catch (error) {
      if (!passing.has(stateOf(error) ?? '')) throw error
      if (Date.now() >= end) {
        const inUse = `The tables to be changed were in use for ${seconds(waits.patience)}.`
        const remedy = 'End long queries and open transactions (pg_stat_activity shows them), then start again.'
        throw new StorageFault('busy', `${inUse} ${remedy}`, error)
      }
    }
    // Not all at the same moment.
    await sleep(waits.pause * (0.5 + Math.random()))
  }
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} seconds`
}
