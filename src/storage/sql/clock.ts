/**
 * The clock of a collection: how often it has changed, and how many records it has, live and deleted.
 * One small read gives the exact unfiltered total, the collection's entity tag and the key of cached totals.
 */
import sql, { type Sql } from 'sql-template-tag'
import { single, type Transaction } from './transaction.ts'

/** The clock at a moment. */
export interface Clock {
  /** Grows with every change in any of the collections asked for. */
  readonly revision: number
  /** Live records of the first collection asked for. */
  readonly live: number
}

/** Reads the clock of a collection, together with those of others that an answer depends on. */
export function* readClock(collection: string, others: Iterable<string> = []): Transaction<Clock> {
  let revision = 0
  let live = 0
  for (const name of [collection, ...others]) {
    const row = yield* single(sql`select revision, live from resourced_clocks where collection = ${name}`)
    revision += Number(row?.['revision'] ?? 0)
    if (name === collection) live = Number(row?.['live'] ?? 0)
  }
  return { revision, live }
}

/** Moves the clock of a collection on: by one revision, and by so many live and deleted records. */
export function tick(collection: string, live: number, deleted: number): Sql {
  return sql`update resourced_clocks set revision = revision + 1, live = live + ${live}, deleted = deleted + ${deleted} where collection = ${collection}`
}
