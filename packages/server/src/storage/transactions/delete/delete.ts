/**
 * The three deletions that a caller can ask for: one record, a list of ids, and everything that matches a filter. Each
 * deletes all that it should, children included, or nothing (DEL-4, DEL-5, DEL-9, DEL-10). A deletion of many records
 * becomes a job (DEL-8).
 */

import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import { checkFilterConditions, checkRecord } from '../../../plan/check-record.ts'
import type { Outcome } from '../../../plan/outcome.ts'
import type { BulkDelete, Delete, DeleteMatching, Restore } from '../../../plan/plan.ts'
import { type Batch, roomOf } from '../../sql/batch.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { storedSql } from '../../sql/records.ts'
import type { Row, Transaction } from '../../transaction.ts'
import { tickOne } from '../rows/clock.ts'
import { addJobRecord, addWork, keepState } from '../rows/job-rows.ts'
import { lockHolders } from '../rows/lock-operations.ts'
import {
  cascadeReach,
  changing,
  isHeldByChange,
  isMarkOfChange,
  lockRules,
  pendingIssue,
  pendingMark,
  resourceOf,
  ruledBelow,
} from '../rows/other-records.ts'
import { addressOf, holdsSql, lockRecord, lockState } from '../rows/record-row.ts'
import { blockersOf, canBeBlocked, isAlone } from './blockers.ts'
import {
  amongSql,
  type Closure,
  deleteClosure,
  liveRows,
  lockHoldersBelow,
  lockRows,
  markOne,
  mostInspected,
  type Reached,
  reachWithin,
  setOf,
  sizeOf,
} from './cascade.ts'
import { lockMatches, matchedSql, matchesFew, selectMatching, takeTurn, tooManyAffected } from './matching.ts'
import { asked, flip } from './windows.ts'
import {
  type Announced,
  announce,
  enqueue,
  type Large,
  lastQueued,
  mark,
  newState,
  type Removed,
  releaseAnnouncement,
  shownProgress,
  type WorkState,
  workOf,
} from './work-list.ts'

/** Runs a Delete. */
export function* deleteRecord(context: SqlContext, plan: Delete): Transaction<Outcome | Announced> {
  const { resource, id } = plan
  const addressed = addressOf(plan)
  if (plan.above > 0 && isAlone(context, resource)) return yield* deleteAlone(context, addressed)
  yield* lockRulesBelow(context, resource)
  yield* lockHoldersBelow(context, resource, [id])
  yield* lockRows(context, resource, [id])
  const { found, record } = yield* lockRecord(context, addressed)
  const ended = checkRecord(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  const mark = yield* pendingMark(context, resource, record)
  if (mark !== undefined) return conflict(pendingIssue(mark))
  return yield* deleteAsked(context, plan, [id])
}

/** The same where no other record matters. */
function* deleteAlone(context: SqlContext, plan: Delete): Transaction<Outcome> {
  const { resource, id } = plan
  yield* lockHoldersBelow(context, resource, [id])
  const ended = checkRecord(plan, yield* lockState(context, plan))
  if (ended !== undefined) return ended
  yield markOne(context, resource, { id, at: timestamp(plan.now) })
  yield* tickOne(context, resource.name, { live: -1, deleted: 1, ids: [id] })
  return deletedOutcome(plan)
}

/** Runs a BulkDelete: all of the records, or none and the reason for each that cannot be deleted. */
export function* bulkDelete(context: SqlContext, plan: BulkDelete): Transaction<Outcome | Announced> {
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const { resource, ids } = plan
  yield* lockRulesBelow(context, resource)
  yield* lockHoldersBelow(context, resource, ids)
  yield* lockRows(context, resource, ids)
  const { allowed, refused } = yield* findRequested(context, plan)
  return yield* deleteAsked(context, plan, allowed, refused)
}

/** Finds and locks the records that are asked for: the ids that the caller may delete, and why others cannot go. */
export function* findRequested(
  context: SqlContext,
  plan: Pick<BulkDelete, 'resource' | 'ids' | 'permitted'>,
): Transaction<{ readonly allowed: readonly string[]; readonly refused: readonly Issue[] }> {
  const { resource, ids } = plan
  const { isAnyOf, lock } = context.dialect
  const among = isAnyOf(columnSql(subject, 'id'), ids)
  const permitted = holdsSql({ ...context, locksReferenced: true }, resource, plan.permitted)
  const columns = sql`${storedSql(context, resource)}, ${permitted} as _permitted`
  const rows = yield sql`select ${columns} from ${liveRows(resource.name)} and ${among}${lock.orderById}${lock.update}`
  const found = new Map(rows.map((row) => [String(row['id']), row]))
  const refused = refusalsOf(plan, found)
  const isFree = (row: Row | undefined) => row?.['_permitted'] === 1 && row['_deletion'] === null
  return { allowed: ids.filter((id) => isFree(found.get(id))), refused }
}

/** The ids without a live record, those that the caller may not delete, and those that are being deleted already. */
function refusalsOf({ ids }: Pick<BulkDelete, 'ids'>, found: ReadonlyMap<string, Row>): Issue[] {
  const issues: Issue[] = []
  for (const [index, id] of ids.entries()) {
    const pointer = `/ids/${index}`
    const row = found.get(id)
    if (row === undefined) issues.push(issue('noRecord', { pointer }))
    else if (row['_permitted'] !== 1) issues.push(issue('undeletable', { pointer }))
    else if (row['_deletion'] !== null) issues.push(pendingIssue(String(row['_deletion']), { pointer }))
  }
  return issues
}

/** Runs a DeleteMatching: the records that match a filter and that the caller may delete. */
export function* deleteMatching(context: SqlContext, plan: DeleteMatching): Transaction<Outcome | Announced> {
  const { resource, most } = plan
  const stale = checkFilterConditions(plan)
  if (stale !== undefined) return stale
  yield* lockRulesBelow(context, resource)
  yield* takeTurn(context, resource)
  const isFew = yield* matchesFew(context, plan)
  if (!isFew) return yield* announce(plan, newState(plan, { selection: yield* selectMatching(plan) }))
  const holders = yield* lockHolders(context, [{ resource, which: matchedSql(context, plan) }])
  const rows = yield* lockMatches(context, plan, storedSql(context, resource), holders)
  if (rows.length === 0) return { kind: 'deleted-matching', count: 0 }
  if (most !== undefined && rows.length > most) return conflict(tooManyAffected(plan, rows.length))
  if (rows.some((row) => isMarkOfChange(String(row['_deletion'])))) return conflict(issue('BEING_CHANGED'))
  const ids = rows.filter((row) => row['_deletion'] === null).map((row) => String(row['id']))
  return yield* deleteAsked(context, plan, ids)
}

/** Deletes locked records that were asked for, with what is below them. */
function* deleteAsked(
  context: SqlContext,
  plan: Removed,
  ids: readonly string[],
  refused: readonly Issue[] = [],
): Transaction<Outcome | Announced> {
  if (yield* isHeldByChange(context, plan.resource)) return conflict(issue('BEING_CHANGED'))
  const reached = yield* reachWithin(context, plan.resource, ids, mostInspected)
  const isChanged = reached.isComplete && (yield* isChangedAmong(context, reached.closure))
  return yield* carryOut(context, plan, reached, {
    ids,
    refused: isChanged ? [...refused, issue('BEING_CHANGED')] : refused,
    *now(closure) {
      yield* deleteClosure(context, plan, closure)
      return deletedOutcome(plan, ids.length)
    },
    list: (closure) => putOnList(context, plan, ids, closure),
  })
}

/** Whether a change by filter has any of these records on its list. */
function* isChangedAmong(context: SqlContext, closure: Closure): Transaction<boolean> {
  for (const [collection, ids] of closure) {
    if (ids.size === 0 || !resourceOf(context.catalog, collection).updates.byFilter) continue
    const among = amongSql(context.dialect, raw('id'), [...ids])
    const rows = yield sql`select 1 as one from ${tableSql(collection)} where ${among} and ${changing} limit 1`
    if (rows.length > 0) return true
  }
  return false
}

/** Keeps serializable changes away from a deletion that is not serializable, if rules cover some of its collections. */
function* lockRulesBelow(context: SqlContext, resource: Resource): Transaction<void> {
  if (ruledBelow(context, resource) === 'some') yield* lockRules(context)
}

/** Puts records on a new work list, except those of another one. Returns its state. */
function* putOnList(
  context: SqlContext,
  plan: Removed,
  ids: readonly string[],
  closure: Closure,
): Transaction<WorkState> {
  const { deletion: job, resource } = plan
  const marked: [collection: string, ids: string[]][] = []
  for (const [collection, all] of closure) marked.push([collection, yield* mark(context, job, collection, [...all])])
  yield* enqueue(context, job, resource.name, ids, { isRoot: true })
  const roots = yield* lastQueued(job)
  const asked = new Set(ids)
  for (const [collection, all] of marked) {
    const others = collection === resource.name ? all.filter((id) => !asked.has(id)) : all
    yield* enqueue(context, job, collection, others)
  }
  const total = marked.reduce((sum, [, all]) => sum + all.length, 0)
  return newState(plan, { roots, found: ids.length, total, seen: sizeOf(closure) })
}

/** How a deletion or restoration is decided and carried out. */
interface Direction extends Pick<Announced, 'ids' | 'refused'> {
  /** Flips all records in this transaction. */
  readonly now: (closure: Closure) => Transaction<Outcome>
  /** Puts records on the work list. */
  readonly list: (closure: Closure) => Transaction<WorkState>
}

/**
 * Carries out a deletion or restoration of locked records: few of them now, or as a job that begins now. Many are put
 * on the work list, for windows to follow (`large-changes.ts`); where nothing can block them, in a job.
 */
export function* carryOut(
  context: SqlContext,
  plan: Removed | Restore,
  { closure, isComplete }: Reached,
  { ids, refused, now, list }: Direction,
): Transaction<Outcome | Announced> {
  const { batch } = context
  const size = sizeOf(closure)
  if (isComplete) {
    const issues = [...refused, ...(yield* blockersOf(context, plan, ids, setOf(context, closure)))]
    if (issues.length > 0) return refusal(plan, issues)
    if (size <= plan.above && (batch === undefined || size <= roomOf(batch))) return yield* now(closure)
  }
  if (batch !== undefined) {
    return isComplete && size <= roomOf(batch) ? conflict(issue('jobInTransaction')) : tooManyTouched(batch)
  }
  const state = yield* list(closure)
  const isListed = isComplete && state.total === state.seen
  const mayBeRefused =
    isComplete || refused.length > 0 || plan.kind === 'restore' || canBeBlocked(context, plan.resource)
  if (!isListed && (mayBeRefused || plan.above > mostInspected)) return yield* announce(plan, state, { ids, refused })
  yield* addWork({ id: workOf(plan), task: 'deletion', state })
  const begun = plan.kind === 'restore' ? state : yield* flipAsked(context, plan.deletion, state)
  return yield* accept(context, plan, { ...begun, phase: isListed ? 'flip' : 'collect' })
}

/** The refusal of a transaction of several operations that changes too many records. */
export function tooManyTouched({ most }: Batch): Outcome {
  return conflict(issue('tooManyTouched', { limit: most }))
}

/** The refusal by one issue. */
export function conflict(found: Issue): Outcome {
  return { kind: 'conflict', issues: [found] }
}

/** The refusal of a deletion or restoration. That of a list has the reason for each of its records. */
export function refusal({ kind }: Large, issues: readonly Issue[]): Outcome {
  return { kind: kind === 'bulk-delete' ? 'bulk-refused' : 'conflict', issues }
}

/** The outcome of a deletion that is no job, of so many records that were asked for. */
export function deletedOutcome(plan: Removed, count = 1): Outcome {
  const deletedAt = timestamp(plan.now)
  if (plan.kind === 'delete') return { kind: 'deleted', id: plan.id, deletedAt }
  return plan.kind === 'bulk-delete'
    ? { kind: 'bulk-deleted', ids: plan.ids, deletedAt }
    : { kind: 'deleted-matching', count }
}

/** Deletes the records on the list that were asked for. */
export function* flipAsked(context: SqlContext, job: string, checked: WorkState): Transaction<WorkState> {
  const state: WorkState = { ...checked, phase: 'flip', at: 0, table: asked }
  const next = yield* flip(context, { job, state, size: mostInspected })
  return next === 'ended' ? state : next
}

/** Adds the record of the job, which callers see. */
export function* accept(context: SqlContext, plan: Large, begun: WorkState): Transaction<Outcome> {
  const { statusUrl, caller, now } = plan
  const id = workOf(plan)
  const mayReadAll = plan.kind === 'update-matching' || readsAllBelow(context, plan)
  const state = { ...begun, isHidden: false, scope: undefined, asked: mayReadAll ? undefined : begun.found }
  yield* keepState(id, state)
  yield* releaseAnnouncement(id)
  const progress = shownProgress(state)
  yield* addJobRecord(context, { id, kind: jobKinds[plan.kind], statusUrl, startedBy: caller.id, progress, now })
  return { kind: 'accepted', job: id, statusUrl, count: begun.found }
}

/** Whether the caller may read everything that the work may reach. */
function readsAllBelow(context: SqlContext, plan: Removed | Restore): boolean {
  const references = 'readableReferences' in plan ? plan.readableReferences : undefined
  return cascadeReach(context.catalog, plan.resource).every(
    ({ name }) => plan.readable.get(name)?.kind === 'always' && references?.get(name) === undefined,
  )
}

const jobKinds = {
  delete: 'deletion',
  'bulk-delete': 'bulk-deletion',
  'delete-matching': 'filtered-deletion',
  restore: 'restoration',
  'update-matching': 'update',
} as const
