/**
 * The clock by which data is removed for good (DEL-7). A clock that jumps forward makes everything old at once, so whoever is about
 * to remove anything first compares the clock with the last time that something was removed.
 * See docs/decisions/034-full-disks-and-wrong-clocks.md.
 */
import sql from 'sql-template-tag'
import { type SqlContext, tableSql } from '../sql/predicate.ts'
import type { ClockDoubt, PurgeClockStore } from '../storage.ts'
import { type Runner, single, type Transaction } from '../transaction.ts'

/** By how much a clock may differ, in milliseconds. Servers that run compare it each hour. */
const tolerance = 86_400_000

const isMark = sql`key = 'purge_clock'`

/** When something was last removed, or the clock was last confirmed: in milliseconds since 1970. */
function* readMark(): Transaction<number | undefined> {
  const row = yield* single(sql`select value from resourced_meta where ${isMark}`)
  return row === undefined ? undefined : Number(row['value'])
}

function* keepMark(now: number): Transaction<void> {
  yield sql`insert into resourced_meta (key, value) values ('purge_clock', ${String(now)}) on conflict (key) do update set value = excluded.value`
}

/**
 * Decides whether things may be removed by a clock, and notes that they are. In a database in which nothing was removed yet, the
 * newest record stands for the last removal.
 *
 * @returns why not; `undefined` where they may
 */
export function* admitRemoval(context: SqlContext, now: number): Transaction<ClockDoubt | undefined> {
  const mark = yield* readMark()
  const last = mark ?? (yield* newestRecord(context))
  if (last !== undefined && Math.abs(now - last) > tolerance) {
    return { now, last, of: mark === undefined ? 'record' : 'purge' }
  }
  yield* keepMark(now)
  return undefined
}

function* newestRecord({ catalog }: SqlContext): Transaction<number | undefined> {
  const times: number[] = []
  for (const { name } of [...catalog.resources.values(), ...catalog.system.values()]) {
    const row = yield* single(sql`select max(updated_at) as newest from ${tableSql(name)}`)
    if (typeof row?.['newest'] === 'string') times.push(Date.parse(row['newest']))
  }
  return times.length === 0 ? undefined : Math.max(...times)
}

/** The clock of purges as the port has it. */
export function purgeClockStore({ read, write }: Runner): PurgeClockStore {
  return {
    read: () => read(readMark),
    confirm: (now) => write(() => keepMark(now)),
  }
}
