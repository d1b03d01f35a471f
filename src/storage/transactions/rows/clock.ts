/**
 * The clock of a collection: how often it has changed, and how many records it has, live and deleted.
 * One small read gives the exact unfiltered total, the collection's entity tag and the key of cached totals.
 */
import sql, { type Sql } from 'sql-template-tag'
import type { Engine } from '../../sql/engine.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'

type Reading = { readonly engine: Pick<Engine, 'clockChecksum'> }
type Ticking = { readonly engine: Pick<Engine, 'clockSlot'> }

/** The clock of one collection. */
export interface KnownClock {
  readonly revision: number
  readonly live: number
  /** See `Engine.clockChecksum`. */
  readonly mark: number
}

/** The clocks that were read since the database last changed, by collection. */
interface KnownClocks {
  readonly clocks: Map<string, KnownClock>
}

/** The clock at a moment. */
export interface Clock {
  /** Grows with every change in any of the collections asked for. */
  readonly revision: number
  /** See `Engine.clockChecksum`. */
  readonly mark: number
  /** Live records of the first collection asked for. */
  readonly live: number
}

/** Reads the clock of a collection, together with those of others that an answer depends on. */
export function* readClock(
  { engine }: Reading,
  memory: KnownClocks,
  collection: string,
  others: Iterable<string>,
): Transaction<Clock> {
  const { revision, live, mark } = yield* readOne(engine, memory, collection)
  const sums = { revision, mark }
  for (const other of others) {
    const clock = yield* readOne(engine, memory, other)
    sums.revision += clock.revision
    sums.mark += clock.mark
  }
  return { ...sums, live }
}

function* readOne(
  { clockChecksum }: Reading['engine'],
  { clocks }: KnownClocks,
  collection: string,
): Transaction<KnownClock> {
  const known = clocks.get(collection)
  if (known !== undefined) return known
  const row = yield* firstRow(
    sql`select sum(revision) as revision, sum(live) as live, ${clockChecksum} as mark from resourced_clocks where collection = ${collection}`,
  )
  const clock = clockOf(row)
  clocks.set(collection, clock)
  return clock
}

/** The clock in a row of its `revision`, `live` and `mark`. */
export function clockOf(row: Row | undefined): KnownClock {
  const { revision, live, mark } = row ?? {}
  return { revision: Number(revision ?? 0), live: Number(live ?? 0), mark: Number(mark ?? 0) }
}

/** Moves the clock of a collection on: by one revision, and by so many live and deleted records. */
export function tick({ engine }: Ticking, collection: string, live: number, deleted: number): Sql {
  return sql`update resourced_clocks set revision = revision + 1, live = live + ${live}, deleted = deleted + ${deleted} where collection = ${collection}${engine.clockSlot}`
}

/** How many live and deleted records more several collections have. */
export type Moves = Map<string, { readonly live: number; readonly deleted: number }>

/** Notes what has changed in a collection. */
export function noteMove(moves: Moves, collection: string, live: number, deleted: number): void {
  const known = moves.get(collection)
  moves.set(collection, { live: (known?.live ?? 0) + live, deleted: (known?.deleted ?? 0) + deleted })
}

/**
 * Moves the clocks of several collections on: when all rows are changed, and in one order, so that nobody who has a clock
 * waits for somebody who wants it.
 */
export function* tickAll(ticking: Ticking, moves: Moves): Transaction<void> {
  for (const collection of [...moves.keys()].sort()) {
    const { live, deleted } = moves.get(collection) as { live: number; deleted: number }
    yield ignoringRows(tick(ticking, collection, live, deleted))
  }
}

/** Fewer deleted records are kept. Nobody could see them any more: the collection's revision stays. */
export function forgetDeleted({ engine }: Ticking, collection: string, count: number): Sql {
  return sql`update resourced_clocks set deleted = deleted - ${count} where collection = ${collection}${engine.clockSlot}`
}
