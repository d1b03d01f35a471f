/**
 * The beginning of deletions that become jobs.
 *
 * A deletion of few records is checked and begun in one transaction. A check of many records would hold off all other
 * writers, so such a deletion is announced first, in a short transaction: from then on its records are pending deletion
 * (`pending-deletions.ts`), and nothing can change what the check depends on. Then it is checked on a snapshot. A last
 * short transaction begins the job, or withdraws the announcement. See decision 051.
 */
import sql, { raw } from 'sql-template-tag'
import { allOf } from '../../../model/predicate.ts'
import { timestamp } from '../../../model/time.ts'
import type { BulkDelete, Delete, DeleteMatching, Outcome } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { StorageFault } from '../../storage.ts'
import { firstRow, type Transaction } from '../../transaction.ts'
import { tick } from '../rows/clock.ts'
import { addJobRecord, addWork, keepState } from '../rows/job-rows.ts'
import { lockAllRulesBelow } from '../rows/other-records.ts'
import { beingDeletedIssue, cascadeReach, listKey, type Selection, selectedSql } from '../rows/pending-deletions.ts'
import {
  blockingRules,
  type Closure,
  canBeBlocked,
  closureOf,
  closureWithin,
  deleteClosure,
  findBlockers,
  liveRows,
  lockedIds,
  lockRows,
  markDeleted,
  mostInspected,
  sizeOf,
} from './cascade.ts'
import { claimRows, enqueue, enqueueSql } from './deletion-batches.ts'
import { countSelected, onlyListed, selectedRows, withdraw } from './deletion-job.ts'
import { type DeletionState, lockedState, shownProgress } from './deletion-state.ts'

/** The plan of a deletion. */
export type Removed = Delete | BulkDelete | DeleteMatching

/** A deletion that is announced. */
export interface Announced {
  readonly kind: 'announced'
  /** The records that were asked for by their ids and may be deleted. */
  readonly ids: readonly string[]
  /** Why other records that were asked for cannot be deleted. */
  readonly refused: readonly Issue[]
}

/** For how long nobody else ends an announced deletion, in milliseconds. */
export const announcedFor = 15_000

/** Begins the job: deletes the records that were asked for; their children follow. */
export function* beginDeletion(
  context: SqlContext,
  plan: Delete | BulkDelete,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  const deletedAt = timestamp(now)
  const which = context.engine.isAnyOf(raw('id'), ids)
  const { length } = yield* markDeleted(resource.name, which, deletion, deletedAt)
  yield tick(context, resource.name, -length, length)
  yield* enqueue(context, deletion, resource, which)
  if (closure !== undefined) yield* claimRows(context, deletion, closure)
  return yield* addDeletion(context, plan, ids.length, {
    ...{ collection: resource.name, deletedAt, ids: plan.kind === 'delete' ? ids : [], phase: 'mark', at: 0 },
    ...{ taken: ids.length, done: ids.length, total: closure === undefined ? null : sizeOf(closure) },
  })
}

/** Begins the job of a deletion by filter of few records. They are settled now. */
export function* beginFilteredDeletion(
  context: SqlContext,
  plan: DeleteMatching,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  yield enqueueSql(listKey(deletion, 'selected'), resource, context.engine.isAnyOf(raw('id'), ids))
  return yield* addDeletion(context, plan, ids.length, {
    ...{ collection: resource.name, deletedAt: timestamp(now), ids: [], phase: 'match', at: 0 },
    ...{ selection: onlyListed, taken: 0, left: 0, done: 0, total: closure === undefined ? null : sizeOf(closure) },
  })
}

/** Adds the job of a deletion that has begun. */
function* addDeletion(
  context: SqlContext,
  plan: Removed,
  asked: number | null,
  found: DeletionState,
): Transaction<Outcome> {
  const state = shownTo(context, plan, asked, found)
  yield* addWork({ id: plan.deletion, task: 'deletion', state })
  return yield* showJob(context, plan, state)
}

/** The state of a deletion that shows its caller no more than the records that were asked for (AUT-9). */
function shownTo(
  { catalog }: SqlContext,
  { resource, readable }: Removed,
  asked: number | null,
  state: DeletionState,
): DeletionState {
  const mayReadAll = cascadeReach(catalog, resource).every(({ name }) => readable.get(name)?.kind === 'always')
  // A known total is not counted again.
  return mayReadAll ? state : { ...state, asked, total: asked }
}

/** Adds the record of the job, which callers see. */
function* showJob(
  context: SqlContext,
  { kind, deletion: id, statusUrl, caller, now }: Removed,
  state: DeletionState,
): Transaction<Outcome> {
  const progress = shownProgress(state)
  yield* addJobRecord(context, { id, kind: jobKinds[kind], statusUrl, startedBy: caller.id, progress, now })
  return { kind: 'accepted', job: id, statusUrl }
}

const jobKinds = { delete: 'deletion', 'bulk-delete': 'bulk-deletion', 'delete-matching': 'filtered-deletion' } as const

/** What an announcement is about: records by their ids, or by a filter. */
interface Asked {
  readonly ids?: readonly string[]
  readonly refused?: readonly Issue[]
  readonly selection?: Selection
}

/** Announces a deletion of many records. */
export function* announce(plan: Removed, { ids = [], refused = [], selection }: Asked): Transaction<Announced> {
  const { deletion: id, now } = plan
  const scope = 'idempotency' in plan ? plan.idempotency?.scope : undefined
  const state = { ...newState(plan, selection), ids, phase: 'check', scope } as const
  yield* addWork({ id, task: 'deletion', state, until: now + announcedFor })
  return { kind: 'announced', ids, refused }
}

/** Announces a deletion by filter of few records, with which many others go. They are settled now. */
export function* announceListed(
  context: SqlContext,
  plan: DeleteMatching,
  ids: readonly string[],
): Transaction<Announced> {
  yield enqueueSql(listKey(plan.deletion, 'selected'), plan.resource, context.engine.isAnyOf(raw('id'), ids))
  return yield* announce(plan, { selection: onlyListed })
}

function newState(plan: Removed, selection: Selection | undefined): DeletionState {
  const { resource, now } = plan
  const isFiltered = plan.kind === 'delete-matching'
  return {
    ...{ collection: resource.name, deletedAt: timestamp(now), ids: [], phase: isFiltered ? 'match' : 'mark', at: 0 },
    ...{ selection, taken: 0, done: 0, total: null },
    ...(isFiltered && { left: 0, most: plan.most }),
  }
}

/** Accepts a deletion by filter that nothing can block: its job finds the records. */
export function acceptMatching(context: SqlContext, plan: DeleteMatching, selection: Selection): Transaction<Outcome> {
  return addDeletion(context, plan, null, newState(plan, selection))
}

/** The records that match now, as the job of a deletion finds them later. */
export function* selectMatching({ resource, filter, permitted, now }: DeleteMatching): Transaction<Selection> {
  const row = yield* firstRow(sql`select max(_row) as last from ${tableSql(resource.name)}`)
  const created = yield* firstRow(
    sql`select max(created_at) as newest from ${tableSql(resource.name)} where deleted_at is null`,
  )
  // A record may be newer than the clock, if the clock was set back.
  const newest = [String(created?.['newest'] ?? ''), timestamp(now)].sort().at(-1) as string
  return { filter: allOf([filter, permitted]), at: 0, last: Number(row?.['last'] ?? 0), newest }
}

/** Whether the request of a deletion with the same idempotency key still waits for it, or would if it were there. */
export function* isWaitedFor(scope: string): Transaction<boolean> {
  const rows = yield sql`select state from resourced_work where task = 'deletion'`
  return rows.some((row) => (JSON.parse(String(row['state'])) as DeletionState).scope === scope)
}

/** Extends the time for which nobody else ends an announced deletion. */
export function* renewAnnouncement(deletion: string, now: number): Transaction<void> {
  yield sql`update resourced_work set until = ${now + announcedFor} where job = ${deletion} and until is not null`
}

/** The result of the check of an announced deletion. */
export interface Inspection {
  readonly issues: readonly Issue[]
  /** How many records were asked for. */
  readonly asked: number
  /** How many are deleted, children included; `undefined`: not counted, because nothing can block the deletion. */
  readonly total: number | undefined
  readonly isJob: boolean
  /** The records that match the filter, where they and their children are few and not deleted by a job. */
  readonly few?: readonly string[] | undefined
}

/** Checks an announced deletion. It only reads. */
export function* inspectAnnounced(context: SqlContext, plan: Removed, announced: Announced): Transaction<Inspection> {
  const { engine } = context
  const none = raw('')
  const lock = { ...engine.lock, update: none, share: none, orderById: none }
  const reading: SqlContext = { ...context, engine: { ...engine, lock } }
  const { resource, above } = plan
  const isBlockable = canBeBlocked(context.catalog, resource)
  let { ids } = announced
  let asked = ids.length
  if (plan.kind === 'delete-matching') {
    const state = yield* lockedState(reading, plan.deletion)
    if (state?.selection === undefined) throw lost()
    const selected = { resource, job: plan.deletion, selection: state.selection }
    asked = yield* countSelected(reading, selected)
    if (plan.most !== undefined && asked > plan.most) {
      return { issues: [tooMany(asked, plan.most)], asked, total: undefined, isJob: false }
    }
    if (!isBlockable && asked > above) return { issues: [], asked, total: undefined, isJob: true }
    const rows = yield* selectedRows(reading, selected)
    ids = rows.map((row) => String(row['id']))
  }
  const closure = isBlockable
    ? yield* closureOf(reading, resource, ids)
    : yield* closureWithin(reading, resource, ids, above)
  const total = closure === undefined ? undefined : sizeOf(closure)
  const isJob = total === undefined || total > above
  const isFew = plan.kind === 'delete-matching' && !isJob && total <= mostInspected
  if (isFew) return { issues: [], asked, total, isJob, few: ids }
  if (closure === undefined || !isBlockable) return { issues: [], asked, total, isJob }
  const issues =
    plan.kind === 'bulk-delete'
      ? yield* blockersById(reading, plan, ids, closure)
      : yield* findBlockers(reading, plan, closure)
  return { issues, asked, total, isJob }
}

/** What blocks each record by itself. The other records of the request do not block it: they are deleted too. */
export function* blockersById(
  context: SqlContext,
  plan: BulkDelete,
  ids: readonly string[],
  deleted: Closure,
): Transaction<Issue[]> {
  if ((yield* findBlockers(context, plan, deleted)).length === 0) return []
  const issues: Issue[] = []
  for (const id of ids) {
    const own = yield* closureOf(context, plan.resource, [id])
    const pointer = `/ids/${plan.ids.indexOf(id)}`
    // The pointer of a business rule leads into a record that the body does not show.
    issues.push(...(yield* findBlockers(context, plan, own, deleted)).map((each) => ({ ...each, pointer })))
  }
  return issues
}

/** The issue of a deletion by filter of more records than its client allows. */
export function tooMany(count: number, most: number): Issue {
  const message = `${count} records match, which is more than max-affected allows (${most}); none was deleted.`
  return { code: 'TOO_MANY_AFFECTED', message, count, header: 'Prefer' }
}

/**
 * Begins an announced deletion that nothing blocks.
 *
 * @returns the outcome for the caller; unless it is `accepted`, the caller waits until the deletion is done
 */
export function* beginAnnounced(
  context: SqlContext,
  plan: Removed,
  { ids }: Announced,
  { asked, total, isJob, few }: Inspection,
): Transaction<Outcome> {
  const { kind, resource, deletion } = plan
  const announced = yield* lockedState(context, deletion)
  if (announced?.phase !== 'check') throw lost()
  if (few !== undefined && announced.selection !== undefined) {
    return yield* deleteFew(context, plan, announced.selection, few)
  }
  let state = newState(plan, announced.selection)
  if (kind !== 'delete-matching') {
    const which = context.engine.isAnyOf(raw('id'), ids)
    const live = yield* lockedIds(
      context,
      sql`${liveRows(resource.name)} and ${context.engine.isAnyOf(columnSql(subject, 'id'), ids)}`,
    )
    // Another deletion has come to them.
    if (live.length < ids.length) return { kind: 'conflict', issues: [beingDeletedIssue] }
    // Rules may ask for records that are not announced.
    const issues = yield* blockingRules(context, plan, new Map([[resource.name, new Set(ids)]]))
    if (issues.length > 0) return { kind: 'conflict', issues }
    yield* markDeleted(resource.name, which, deletion, state.deletedAt)
    yield tick(context, resource.name, -ids.length, ids.length)
    yield* enqueue(context, deletion, resource, which)
    state = { ...state, ids: kind === 'delete' ? ids : [], taken: ids.length, done: ids.length }
  }
  state = shownTo(context, plan, asked, { ...state, total: total ?? null, ...(!isJob && { scope: announced.scope }) })
  yield* keepState(deletion, state)
  if (isJob) {
    yield sql`update resourced_work set until = null where job = ${deletion}`
    return yield* showJob(context, plan, state)
  }
  if (kind === 'delete') return { kind: 'deleted', id: plan.id, deletedAt: state.deletedAt }
  if (kind === 'bulk-delete') return { kind: 'bulk-deleted', ids: plan.ids, deletedAt: state.deletedAt }
  return { kind: 'deleted-matching', count: asked }
}

/** Deletes the few records that match a filter, with their children, in one transaction (DEL-5). */
function* deleteFew(
  context: SqlContext,
  plan: Removed,
  selection: Selection,
  few: readonly string[],
): Transaction<Outcome> {
  const { resource, deletion } = plan
  yield* lockAllRulesBelow(context, resource.name)
  yield* lockRows(context, resource, few)
  const isSelected = selectedSql({ ...context, locksReferenced: true }, resource, deletion, selection)
  const among = sql`${liveRows(resource.name)} and ${context.engine.isAnyOf(columnSql(subject, 'id'), few)}`
  const ids = yield* lockedIds(context, sql`${among} and ${isSelected}`)
  const closure = yield* closureOf(context, resource, ids)
  const issues = yield* findBlockers(context, plan, closure)
  if (issues.length > 0) return { kind: 'conflict', issues }
  yield* deleteClosure(context, plan, closure)
  yield* withdraw(deletion)
  return { kind: 'deleted-matching', count: ids.length }
}

function lost(): StorageFault {
  return new StorageFault('busy', 'The check of a deletion took so long that another server ended it.')
}
