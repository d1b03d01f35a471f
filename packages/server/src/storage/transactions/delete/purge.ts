/**
 * The purge: a job of small batches that removes records which are past their grace period (DEL-7). A clock that jumps
 * forward makes every record look old, so the clock is first compared with the time of the last removal.
 */

import type { Catalog, Resource } from 'resourced-contract/model/resource'
import sql, { empty, raw } from 'sql-template-tag'
import { retainedSince } from '../../../plan/check-record.ts'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { ClockDoubt, JobStep, PurgeClockStore } from '../../storage.ts'
import { firstRow, type Runner, type Transaction } from '../../transaction.ts'
import { countRemoved } from '../rows/clock.ts'
import { eraseStates } from '../rows/erase-states.ts'
import { addJob, advanceJob, finishJob, stateOf } from '../rows/job-rows.ts'
import { marksInWork } from '../rows/other-records.ts'
import { removeRows } from './cascade.ts'

/** How many records a batch removes unless it is told: other writers wait for it. */
export const mostPurged = 50

/** The state that the job of a purge keeps between its batches. */
interface PurgeState {
  /** When the purge began, in milliseconds since 1970: a later purge removes what becomes due later. */
  readonly due: number
  readonly done: number
  /** `null`: not counted yet. */
  readonly total: number | null
}

/** A row that always exists and never changes: purges lock it against each other and against restorations. */
const gate = sql`key = 'cursor_secret'`

/**
 * When the running purge began, in milliseconds since 1970; `undefined`: none runs, and none begins before the
 * transaction ends. A purge removes records that were deleted together in several batches. So from its beginning no
 * record that was due then can be restored, on a server with any clock.
 */
export function* purgeBegan(context: SqlContext): Transaction<number | undefined> {
  yield sql`select key from resourced_meta where ${gate}${context.dialect.lock.share}`
  const row = yield* firstRow(sql`select state from resourced_work where task = 'purge'`)
  return row === undefined ? undefined : (JSON.parse(String(row['state'])) as PurgeState).due
}

/** Whether any deleted record is past its grace period. */
export function* hasExpired({ catalog }: SqlContext, now: number): Transaction<boolean> {
  for (const resource of keptFor(catalog)) {
    if ((yield sql`select 1 as found ${expiredRows(resource, now)} limit 1`).length > 0) return true
  }
  return false
}

/** Begins a purge if there is anything to purge and none runs. Returns whether it began. */
export function* beginPurge(
  context: SqlContext,
  { id, statusUrl, now }: { readonly id: string; readonly statusUrl: string; readonly now: number },
): Transaction<boolean> {
  // Of two servers that begin a purge at once, the second waits here and finds the purge of the first.
  yield sql`select key from resourced_meta where ${gate}${context.dialect.lock.update}`
  const running = yield sql`select job from resourced_work where task = 'purge'`
  if (running.length > 0) return false
  if (!(yield* hasExpired(context, now))) return false
  // Counted later, outside of a transaction that other writers wait for.
  const progress = { done: 0, total: null }
  const state: PurgeState = { due: now, ...progress }
  const kind = 'purge'
  yield* addJob(context, { id, kind, task: kind, statusUrl, startedBy: null, progress, state, now })
  return true
}

/** Counts the records that a purge removes; `undefined`: the number is known. */
export function* countPurge({ catalog }: SqlContext, job: string): Transaction<number | undefined> {
  const state = yield* stateOf<PurgeState>(job)
  if (state === undefined || state.total !== null) return undefined
  let total = state.done
  for (const resource of keptFor(catalog)) {
    const row = yield* firstRow(sql`select count(*) as count ${expiredRows(resource, state.due)}`)
    total += Number(row?.['count'])
  }
  return total
}

/** Runs one batch, of the records that were deleted first. */
export function* stepPurge(context: SqlContext, job: string, now: number, size?: number): Transaction<JobStep> {
  const state = yield* stateOf<PurgeState>(job, context.dialect.lock.update)
  if (state === undefined) return 'elsewhere'
  let count = 0
  for (const resource of keptFor(context.catalog)) {
    const purged = yield* purgeRecords(context, resource, state.due, size)
    if (purged === 'erasing') return 'more'
    count = purged
    if (count > 0) break
  }
  const done = state.done + count
  if (count === 0) {
    const progress = { done, total: done }
    yield* finishJob(context, job, { status: 'succeeded', progress, result: { purged_count: done } }, now)
    return 'finished'
  }
  const next: PurgeState = { ...state, done }
  yield* advanceJob(context, job, { state: next, progress: next, now })
  return 'more'
}

/**
 * Removes records of a resource, at most a number of them, and returns how many; `erasing`: they have so many former
 * states that only a part of those is erased. The transaction that removes them also chooses them, so it leaves out a
 * record that was restored meanwhile.
 */
export function* purgeRecords(
  context: SqlContext,
  resource: Resource,
  due: number,
  size = mostPurged,
): Transaction<number | 'erasing'> {
  const { isAnyOf, lock } = context.dialect
  const { skipLocked } = lock
  const kept = yield* marksInWork()
  const isFree = kept.length === 0 ? empty : sql` and (_deletion is null or not ${isAnyOf(raw('_deletion'), kept)})`
  const which = sql`${expiredRows(resource, due)}${isFree}`
  const rows = yield sql`select id, _deletion ${which} order by deleted_at limit ${size}${skipLocked}`
  if (rows.length === 0) return 0
  // A deletion that has begun between the two statements may not have reached what is below these records.
  const begun = yield* marksInWork()
  if (rows.some((row) => begun.includes(String(row['_deletion'])))) {
    return yield* purgeRecords(context, resource, due, size)
  }
  const ids = rows.map((row) => String(row['id']))
  if (yield* eraseStates(context, resource, ids)) return 'erasing'
  yield* removeRows(context, resource, ids)
  yield countRemoved(context, resource.name, rows.length)
  return rows.length
}

function expiredRows(resource: Resource, due: number) {
  const since = retainedSince(resource, due)
  return sql`from ${tableSql(resource.name)} where deleted_at <= ${since}`
}

/** The resources with a grace period. Deleted records of others are removed by the deletion itself. */
function keptFor({ resources }: Catalog): Resource[] {
  return [...resources.values()].filter(({ deletion }) => deletion.variant === 'soft')
}

/** By how much a clock may differ from the last removal, in milliseconds. A running server compares every hour. */
const tolerance = 86_400_000

const isMark = sql`key = 'purge_clock'`

/** When something was last removed or the clock was last confirmed, in milliseconds since 1970. */
function* readMark(): Transaction<number | undefined> {
  const row = yield* firstRow(sql`select value from resourced_meta where ${isMark}`)
  return row === undefined ? undefined : Number(row['value'])
}

function* keepMark(now: number): Transaction<void> {
  const mark = sql`insert into resourced_meta (key, value) values ('purge_clock', ${String(now)})`
  yield sql`${mark} on conflict (key) do update set value = excluded.value`
}

/**
 * Checks the clock before something is removed, and keeps the time of the removal. Before the first removal, the time
 * of the newest record counts.
 *
 * @returns why nothing may be removed; `undefined`: it may
 */
export function* checkClock(context: SqlContext, now: number): Transaction<ClockDoubt | undefined> {
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
  for (const { name, order } of [...catalog.resources.values(), ...catalog.system.values()]) {
    // Events have the times of records, and no index of them.
    if (order === 'by-position') continue
    const row = yield* firstRow(sql`select max(updated_at) as newest from ${tableSql(name)}`)
    if (typeof row?.['newest'] === 'string') times.push(Date.parse(row['newest']))
  }
  return times.length === 0 ? undefined : Math.max(...times)
}

/** The clock of purges of an open database. */
export function purgeClockStore({ read, write }: Runner): PurgeClockStore {
  return {
    read: () => read(readMark),
    confirm: (now) => write(() => keepMark(now)),
  }
}
