/** Removing for good what was deleted longer ago than its grace period (DEL-7): a job of small batches. */
import sql from 'sql-template-tag'
import type { Catalog, Resource } from '../../../model/resource.ts'
import { retainedSince } from '../../../plan/check-record.ts'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { ClockDoubt, JobStep, PurgeClockStore } from '../../storage.ts'
import { firstRow, type Runner, type Transaction } from '../../transaction.ts'
import { forgetDeleted } from '../rows/clock.ts'
import { addJob, advanceJob, finishJob, stateOf } from '../rows/job-rows.ts'
import { removeRows } from './delete-rows.ts'

/** The most records that one transaction purges: whoever writes meanwhile waits for it. */
export const mostPurged = 50

/** What the job of a purge knows. */
interface PurgeState {
  /** When it began, in milliseconds since 1970: what is due later, a later purge takes. */
  readonly due: number
  readonly done: number
  readonly total: number
}

/** A row that is always there, and that nobody changes. */
const gate = sql`key = 'cursor_secret'`

/**
 * When the purge began that runs, in milliseconds since 1970; `undefined`: none runs, nor begins before the transaction ends. A
 * purge takes what was deleted together batch by batch, so from its beginning on nothing of what was due then returns, whatever
 * the clock of who asks says.
 */
export function* purgeBegan(context: SqlContext): Transaction<number | undefined> {
  yield sql`select key from resourced_meta where ${gate}${context.engine.lock.share}`
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

/** Begins a purge where there is anything to purge, and none runs. Gives whether it began. */
export function* beginPurge(
  context: SqlContext,
  { id, statusUrl, now }: { readonly id: string; readonly statusUrl: string; readonly now: number },
): Transaction<boolean> {
  // Of two servers that begin one at once, the second waits here, and finds the first one's; so do restorations.
  yield sql`select key from resourced_meta where ${gate}${context.engine.lock.update}`
  const running = yield sql`select job from resourced_work where task = 'purge'`
  if (running.length > 0) return false
  let total = 0
  for (const resource of keptFor(context.catalog)) {
    const row = yield* firstRow(sql`select count(*) as count ${expiredRows(resource, now)}`)
    total += Number(row?.['count'])
  }
  if (total === 0) return false
  const progress = { done: 0, total }
  const state: PurgeState = { due: now, ...progress }
  const kind = 'purge'
  yield* addJob(context, { id, kind, task: kind, statusUrl, startedBy: null, progress, state, now })
  return true
}

/** Purges one batch, of the records that were deleted first; `finished` where there was nothing left. */
export function* stepPurge(context: SqlContext, job: string, now: number): Transaction<JobStep> {
  const state = (yield* stateOf(job, context.engine.lock.update)) as PurgeState | undefined
  if (state === undefined) return 'elsewhere'
  let count = 0
  for (const resource of keptFor(context.catalog)) {
    count = yield* purgeRecords(context, resource, state.due)
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
 * Purges records of a resource, at most `mostPurged`. Which they are is decided in the transaction that removes them, so a
 * record that is restored meanwhile is not among them. Gives their number.
 */
export function* purgeRecords(context: SqlContext, resource: Resource, due: number): Transaction<number> {
  const rows =
    yield sql`select id ${expiredRows(resource, due)} order by deleted_at limit ${mostPurged}${context.engine.lock.skipLocked}`
  if (rows.length === 0) return 0
  yield* removeRows(
    context,
    resource,
    rows.map((row) => String(row['id'])),
  )
  yield forgetDeleted(context, resource.name, rows.length)
  return rows.length
}

function expiredRows(resource: Resource, due: number) {
  return sql`from ${tableSql(resource.name)} where _deletion is not null and deleted_at <= ${retainedSince(resource, due)}`
}

/** The resources whose deleted records are kept for a while; those of others go with the job that deleted them. */
function keptFor({ resources }: Catalog): Resource[] {
  return [...resources.values()].filter(({ deletion }) => deletion.variant === 'soft')
}

/** By how much a clock may differ, in milliseconds. Servers that run compare it each hour. */
const tolerance = 86_400_000

const isMark = sql`key = 'purge_clock'`

/** When something was last removed, or the clock was last confirmed: in milliseconds since 1970. */
function* readMark(): Transaction<number | undefined> {
  const row = yield* firstRow(sql`select value from resourced_meta where ${isMark}`)
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
    const row = yield* firstRow(sql`select max(updated_at) as newest from ${tableSql(name)}`)
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
