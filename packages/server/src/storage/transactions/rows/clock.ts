/**
 * The clock of a collection: a number that every change moves, and the numbers of its live and deleted records.
 * One small read gives the exact unfiltered total, the collection's entity tag and the key of cached totals.
 */

import { eventMark } from 'resourced-contract/model/event'
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { type Move, type Moves, noteMove } from '../../sql/batch.ts'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { newStride, nextClockSql } from '../../sql/marks.ts'
import {
  type Bound,
  constant,
  filled,
  firstRow,
  ignoringRows,
  prebuilt,
  type Row,
  type Statement,
  slot,
  type Transaction,
  touching,
} from '../../transaction.ts'

type Reading = Pick<SqlContext, 'catalog' | 'horizon'> & { readonly dialect: Pick<Dialect, 'isAnyOf'> }
type KeptReading = Reading & Pick<SqlContext, 'statements'>
type Ticking = { readonly dialect: Pick<Dialect, 'clockSlot'> }
type KeptTicking = Ticking & Pick<SqlContext, 'statements' | 'batch'>
type Ticked = Move & { readonly collection: string; readonly stride: number }

/** The clock at a moment, of one collection or of several. */
export interface Clock {
  /**
   * Another one after every change in any of the collections. Two states do not share it: also not on a replica, which
   * may show changes in another order, nor after the database has lost its last changes (`marks.ts`).
   */
  readonly revision: number
  /** Live records of the first collection. */
  readonly live: number
  /** Its deleted records that are retained; left out: none. */
  readonly deleted?: number
}

/** The clocks that were read since the database last changed, by collection. */
interface KnownClocks {
  readonly clocks: Map<string, Clock>
}

/** Reads the clock of a collection, together with those of others that an answer depends on. */
export function* readClock(
  context: KeptReading,
  memory: KnownClocks,
  collection: string,
  others: ReadonlySet<string>,
): Transaction<Clock> {
  const own = yield* readOne(context, memory, collection)
  if (others.size === 0) return own
  let { revision } = own
  for (const other of others) revision += (yield* readOne(context, memory, other)).revision
  return { ...own, revision }
}

/**
 * The clock of a collection, if the answer depends on no other one and the clock was read since the database last
 * changed. Most reads get it here: a generator costs more than the look-up.
 */
export function knownClock(
  { clocks }: KnownClocks,
  collection: string,
  others: ReadonlySet<string>,
): Clock | undefined {
  return others.size === 0 ? clocks.get(collection) : undefined
}

function* readOne(context: KeptReading, { clocks }: KnownClocks, collection: string): Transaction<Clock> {
  const known = clocks.get(collection)
  if (known !== undefined) return known
  const make = () => constant(clockSql(context, collection))
  // A horizon belongs to one read.
  const statement = context.horizon === undefined ? context.statements.of(`clock ${collection}`, make) : make()
  const clock = clockOf(yield* firstRow(statement))
  clocks.set(collection, clock)
  return clock
}

/** Reads the clock of a collection; with `others`, `revision` is the sum over all of them. */
export function clockSql(context: Reading, collection: string, others: Iterable<string> = []): Sql {
  if (context.catalog.system.get(collection)?.order === 'by-position') return positionsSql(context, collection, others)
  const all = new Set([collection, ...others])
  const own = (count: 'live' | 'deleted') =>
    all.size === 1 ? raw(count) : sql`case collection when ${collection} then ${raw(count)} else 0 end`
  const which = all.size === 1 ? sql`collection = ${collection}` : context.dialect.isAnyOf(sql`collection`, [...all])
  const counts = sql`sum(${own('live')}) as live, sum(${own('deleted')}) as deleted`
  return sql`select sum(revision) as revision, ${counts} from resourced_clocks where ${which}`
}

/**
 * The clock of rows that are in the order of their positions. Their clock advances only when some are removed. When
 * rows are added, the last position that is read grows. A position may be given again, so the id of the row that has it
 * counts too.
 */
function positionsSql({ dialect, horizon }: Reading, collection: string, others: Iterable<string>): Sql {
  const table = tableSql(collection)
  const last = horizon === undefined ? sql`(select max(_row) from ${table})` : sql`cast(${horizon} as bigint)`
  const positions = sql`select coalesce(${last}, 0) as last, coalesce((select min(_row) from ${table}), 0) as first`
  const clocks = sql`select coalesce(sum(revision), 0) as revision
    from resourced_clocks where ${dialect.isAnyOf(sql`collection`, [collection, ...others])}`
  const newest = sql`(select id from ${table} where _row <= last order by _row desc limit 1)`
  return sql`select last + first + clocks.revision as revision, last - first as live, ${newest} as newest
    from (${positions}) positions, (${clocks}) clocks`
}

/** The clock in a row of its `revision` and `live`, and of events the id of the `newest`. */
export function clockOf(row: Row | undefined): Clock {
  const { revision, live, deleted, newest } = row ?? {}
  const changes = Number(revision ?? 0) + eventMark(newest)
  return { revision: changes, live: Number(live ?? 0), deleted: Number(deleted ?? 0) }
}

/**
 * Advances the clock of a collection, and counts so many live and deleted records more.
 *
 * @param stride how far it advances; a slot in statements that run many times
 */
export function tick(
  { dialect }: Ticking,
  collection: string,
  live: number,
  deleted: number,
  stride: Bound = newStride(),
): Sql {
  const changed = sql`revision = ${nextClockSql(stride)}, live = live + ${live}, deleted = deleted + ${deleted}`
  return sql`update resourced_clocks set ${changed} where collection = ${collection}${dialect.clockSlot}`
}

/** Locks the row of a collection's clock that a transaction will update, where there are other writers. */
export function* lockClock(
  { dialect }: { readonly dialect: Pick<Dialect, 'clockSlot' | 'lock'> },
  collection: string,
): Transaction<void> {
  const row = sql`collection = ${collection}${dialect.clockSlot}`
  yield ignoringRows(sql`select 1 as one from resourced_clocks where ${row}${dialect.lock.update}`)
}

/**
 * Advances the clocks of several collections, after all rows are changed: in a batch at its end. The clocks are locked
 * in one order, so that two transactions never deadlock.
 */
export function* tickAll(ticking: KeptTicking, moves: Moves): Transaction<void> {
  if (ticking.batch !== undefined) {
    for (const [collection, move] of moves) noteMove(ticking.batch.moves, collection, move)
    return
  }
  for (const collection of [...moves.keys()].sort()) {
    yield touchedTick(ticking, collection, moves.get(collection) as Move)
  }
}

/** Advances the clock of one collection. */
export function tickOne(ticking: KeptTicking, collection: string, move: Move): Transaction<void> {
  return tickAll(ticking, new Map([[collection, move]]))
}

/** The statement that advances the clock of one collection. Its text is built once. */
function touchedTick(ticking: KeptTicking, collection: string, { live, deleted, ids }: Move): Statement {
  const slots = ticking.statements.of('tick', () => {
    const growth = (name: 'live' | 'deleted') => slot((about: Ticked) => about[name]) as number
    const which = slot((about: Ticked) => about.collection) as string
    const stride = slot((about: Ticked) => about.stride)
    return prebuilt(tick(ticking, which, growth('live'), growth('deleted'), stride))
  })
  const stride = newStride()
  const ticked = filled<Ticked>(slots, { collection, live, deleted, stride })
  return ids === undefined ? ignoringRows(ticked) : touching(ticked, { collection, ids, stride })
}

/**
 * Subtracts deleted records that are no longer kept. No caller could see them, so the collection's revision stays;
 * except where events are read through them (EVT-4), whose readers depend on the rows of deleted records too.
 */
export function countRemoved(
  { dialect, catalog }: Ticking & Pick<SqlContext, 'catalog'>,
  collection: string,
  count: number,
): Sql {
  const row = sql`collection = ${collection}${dialect.clockSlot}`
  const advanced = catalog.system.has('events') ? sql`, revision = ${nextClockSql(newStride())}` : empty
  return sql`update resourced_clocks set deleted = deleted - ${count}${advanced} where ${row}`
}
