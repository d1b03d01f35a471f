/**
 * The job of a deletion of many records: its batches, the count of its records, and how it is undone (DEL-8). A batch
 * is one transaction, which also keeps the progress: a job that was killed continues after its last batch and does
 * nothing twice (JOB-3).
 */
import sql, { empty, type Sql } from 'sql-template-tag'
import { never } from '../../../model/predicate.ts'
import type { Catalog, Resource } from '../../../model/resource.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql } from '../../sql/predicate.ts'
import type { JobStep } from '../../storage.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'
import { tick } from '../rows/clock.ts'
import { advanceJob, finishJob, stateOf } from '../rows/job-rows.ts'
import { lockAllRulesBelow } from '../rows/other-records.ts'
import {
  cascadeReach,
  cascadesOf,
  listKey,
  resourceOf,
  type Selection,
  selectionRange,
} from '../rows/pending-deletions.ts'
import { liveRows, sizeOf } from './cascade.ts'
import { runBatch } from './deletion-batches.ts'
import { type DeletionState, lockedState, type Phase, reachedBy, shownProgress } from './deletion-state.ts'

/** The phases after which a job can be undone. */
const undoable: ReadonlySet<Phase> = new Set(['take', 'match', 'mark'])

/**
 * Undoes a job that cannot go on, in one transaction, if nothing was cleared or removed yet. Returns whether it was
 * undone.
 *
 * @throws Error of the engine if a unique value was taken meanwhile; nothing is undone then
 */
export function* undoDeletion(
  context: SqlContext,
  job: string,
  error: Readonly<Record<string, unknown>>,
  now: number,
): Transaction<boolean> {
  const state = yield* lockedState(context, job)
  if (state?.phase === 'check') {
    yield* withdraw(job)
    return true
  }
  if (state === undefined || !undoable.has(state.phase)) return false
  yield* lockAllRulesBelow(context, state.collection)
  for (const { name } of reachedBy(context, state)) {
    const table = tableSql(name)
    if (context.engine.lock.hasOtherWriters) {
      yield sql`update ${table} set _deletion = null where _deletion = ${job} and deleted_at is null`
    }
    const live = sql`deleted_at = null, _deletion = null, _revision = _revision + 1`
    const back = yield sql`update ${table} set ${live} where _deletion = ${job} returning id`
    if (back.length > 0) yield tick(context, name, back.length, -back.length)
  }
  yield* clearQueue(job)
  // A repetition of its request makes it anew.
  if (state.scope !== undefined) yield ignoringRows(sql`delete from resourced_idempotency where scope = ${state.scope}`)
  yield* finishJob(context, job, { status: 'failed', progress: { ...shownProgress(state), done: 0 }, error }, now)
  return true
}

/** The most ids that are held in memory while records are counted: beyond that the total stays unknown. */
const mostHeld = 500_000

/** The most records whose children one statement counts. */
const mostCountedParents = 500

/**
 * Counts the records that a deletion which has just begun will delete; `undefined`: the number is known, or too large
 * for memory.
 */
export function* countDeletion(context: SqlContext, job: string): Transaction<number | undefined> {
  const state = yield* stateOf<DeletionState>(job)
  if (state === undefined || state.total !== null) return undefined
  const { catalog, engine } = context
  const resource = catalog.resources.get(state.collection)
  if (state.phase === 'check' || resource === undefined) return undefined
  if (state.asked === null)
    return state.taken + (yield* countSelected(context, { resource, job, selection: state.selection }))
  const held = new Map<string, Set<string>>()
  const queued = yield sql`select record as id from resourced_queue where job = ${job} limit ${mostHeld}`
  const roots = [
    ...queued,
    ...(yield* selectedRows(context, { resource, job, selection: state.selection }, mostHeld)),
  ].slice(0, mostHeld)
  const frontier: [string, string[]][] = [[state.collection, roots.map((row) => String(row['id']))]]
  let count = roots.length
  let room = mostHeld - count
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, ids] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      const fresh: string[] = []
      for (let at = 0; at < ids.length; at += mostCountedParents) {
        const refers = engine.isAnyOf(columnSql(subject, field), ids.slice(at, at + mostCountedParents))
        if (isLeaf(catalog, state.collection, from)) {
          const row = yield* firstRow(sql`select count(*) as count from ${liveRows(from)} and ${refers}`)
          count += Number(row?.['count'])
          continue
        }
        const known = held.get(from) ?? new Set()
        held.set(from, known)
        const rows = yield sql`select id from ${liveRows(from)} and ${refers} limit ${room + 1}`
        for (const row of rows) {
          const id = String(row['id'])
          if (known.has(id)) continue
          known.add(id)
          fresh.push(id)
        }
        room = mostHeld - roots.length - sizeOf(held)
        if (room < 0) return undefined
      }
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return count
}

/** The records that a deletion by filter has still to delete; none, if `selection` is left out. */
interface Selected {
  readonly resource: Resource
  readonly job: string
  readonly selection: Selection | undefined
}

/** Their ids. */
export function* selectedRows(
  context: SqlContext,
  { resource, job, selection }: Selected,
  most?: number,
): Transaction<Row[]> {
  if (selection === undefined) return []
  const limit = most === undefined ? empty : sql` limit ${most}`
  const listed = yield sql`select record as id from resourced_queue where job = ${listKey(job, 'selected')}`
  return [...listed, ...(yield sql`select id ${matchingSql(context, resource, selection)}${limit}`)]
}

/** How many there are. */
export function* countSelected(context: SqlContext, { resource, job, selection }: Selected): Transaction<number> {
  if (selection === undefined) return 0
  const listed = sql`select count(*) from resourced_queue where job = ${listKey(job, 'selected')}`
  const matching = sql`select count(*) ${matchingSql(context, resource, selection)}`
  const row = yield* firstRow(sql`select (${listed}) + (${matching}) as count`)
  return Number(row?.['count'])
}

/** The live records that the filter of a selection decides about and that match it. */
function matchingSql(context: SqlContext, resource: Resource, selection: Selection): Sql {
  const matches = liveSql(context, resource, selection.filter)
  return sql`from ${subjectSql(resource.name)} where ${matches} and ${selectionRange(context, selection)}`
}

/** Whether records of a collection have no children and a single kind of parent: then none of them is met twice. */
function isLeaf(catalog: Catalog, root: string, collection: string): boolean {
  if (cascadesOf(catalog, collection).length > 0) return false
  const reached = cascadeReach(catalog, resourceOf(catalog, root))
  const references = reached.flatMap(({ name }) => cascadesOf(catalog, name))
  return references.filter((each) => each.collection === collection).length === 1
}

/** The number of records of a batch whose duration nobody measures. */
const usualSize = 100

const phases = ['check', 'match', 'mark', 'clear', 'erase', 'tidy'] as const

/** How a batch runs. */
export interface Stepping {
  /** How many records the batch changes: other writers wait for it. */
  readonly size?: number | undefined
  /** Whether the request that waits for the deletion runs the batch: meanwhile nobody else does. */
  readonly isRequest?: boolean | undefined
}

/** Runs the next batch of a job. */
export function* stepDeletion(
  context: SqlContext,
  job: string,
  now: number,
  { size = usualSize, isRequest = false }: Stepping = {},
): Transaction<JobStep> {
  const { update } = context.engine.lock
  const isHeld = sql`case when until > ${now} then 1 else 0 end as held`
  const row = yield* firstRow(sql`select state, ${isHeld} from resourced_work where job = ${job}${update}`)
  if (row === undefined || (row['held'] === 1 && !isRequest)) return 'elsewhere'
  const state: DeletionState = yield* upToDate(job, JSON.parse(String(row['state'])))
  if (state.phase === 'check') {
    // The server that checked it has stopped, and its client has no answer. Nothing was deleted.
    yield* withdraw(job)
    return 'elsewhere'
  }
  yield* lockAllRulesBelow(context, state.collection)
  const next = yield* runBatch(context, { job, state, size })
  const ended = next === 'ended'
  if (ended && state.phase === 'tidy') {
    const { done, taken, left, ids, deletedAt } = state
    const what =
      ids.length === 0 ? { deleted_count: taken, ...(left !== undefined && { left_count: left }) } : { id: ids[0] }
    const affected = state.asked === undefined ? done : taken
    const result = { ...what, deleted_at: deletedAt, affected_count: affected }
    const progress = { done: affected, total: affected }
    yield* finishJob(context, job, { status: 'succeeded', progress, result }, now)
    return 'finished'
  }
  const kept = ended ? { ...state, phase: after(state.phase), at: 0, table: 0, selection: undefined } : next
  yield* advanceJob(context, job, { state: kept, progress: shownProgress(kept), now })
  return 'more'
}

/** Ends a deletion that has deleted nothing. */
export function* withdraw(job: string): Transaction<void> {
  yield* clearQueue(job)
  yield ignoringRows(sql`delete from resourced_work where job = ${job}`)
}

function* clearQueue(job: string): Transaction<void> {
  for (const key of [job, listKey(job, 'selected'), listKey(job, 'kept')]) {
    yield ignoringRows(sql`delete from resourced_queue where job = ${key}`)
  }
}

/** The state as this version of the program keeps it. */
function* upToDate(job: string, state: DeletionState): Transaction<DeletionState> {
  if (state.phase !== 'take') return state
  const selected = sql`update resourced_queue set job = ${listKey(job, 'selected')}`
  yield ignoringRows(sql`${selected} where job = ${job} and _row > ${state.at}`)
  return { ...state, phase: 'match', at: 0, selection: onlyListed }
}

/** The selection of a deletion whose records are all listed. */
export const onlyListed: Selection = { filter: never, at: 0, last: 0, newest: '' }

function after(phase: Phase): Phase {
  return phases[phases.indexOf(phase as (typeof phases)[number]) + 1] ?? 'tidy'
}
