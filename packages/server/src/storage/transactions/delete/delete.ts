/**
 * The three deletions that a caller can ask for: one record, a list of ids, and everything that matches a filter. Each
 * deletes all that it should, children included, or nothing (DEL-4, DEL-5, DEL-9, DEL-10). A deletion of many records
 * becomes a job (DEL-8).
 */

import { never } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import { checkFilterConditions, checkRecord, decidableRecords } from '../../../plan/check-record.ts'
import type { Outcome } from '../../../plan/outcome.ts'
import type { BulkDelete, Delete, DeleteMatching } from '../../../plan/plan.ts'
import { type Batch, roomOf } from '../../sql/batch.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { storedSql } from '../../sql/records.ts'
import type { Row, Transaction } from '../../transaction.ts'
import { tickOne } from '../rows/clock.ts'
import { lockRules, ruledBelow } from '../rows/other-records.ts'
import {
  changing,
  isHeldByChange,
  isMarkOfChange,
  pendingIssue,
  pendingMark,
  resourceOf,
} from '../rows/pending-deletions.ts'
import { holdsSql, lockRecord, lockState } from '../rows/record-row.ts'
import { beginNow, putOnList, stateOfDeletion } from './begin.ts'
import {
  amongSql,
  type Closure,
  deleteClosure,
  liveRows,
  lockRows,
  markOne,
  mostInspected,
  type RecordSet,
  reachWithin,
  setOf,
  sizeOf,
} from './cascade.ts'
import { selectMatching } from './collect.ts'
import { blockersById, canBeBlocked, findBlockers, isAlone } from './deletion-blockers.ts'
import { lockMatches, matchesFew, tooManyAffected } from './matching.ts'
import { type Announced, announce, type Removed } from './work-list.ts'

/** Runs a Delete. */
export function* deleteRecord(context: SqlContext, plan: Delete): Transaction<Outcome | Announced> {
  const { resource, id } = plan
  const permitted = decidableRecords(plan, plan.readable.get(resource.name) ?? never)
  if (plan.above > 0 && isAlone(context, resource)) return yield* deleteAlone(context, { ...plan, permitted })
  yield* lockRulesBelow(context, resource)
  yield* lockRows(context, resource, [id])
  const { found, record } = yield* lockRecord(context, { ...plan, permitted })
  const ended = checkRecord(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  const mark = yield* pendingMark(context, resource, record)
  if (mark !== undefined) return { kind: 'conflict', issues: [pendingIssue(mark)] }
  return yield* deleteAsked(context, plan, [id], {
    blockersOf: (set) => findBlockers(context, plan, set),
    deleted: { kind: 'deleted', id, deletedAt: timestamp(plan.now) },
  })
}

/** The same where no other record matters. */
function* deleteAlone(context: SqlContext, plan: Delete): Transaction<Outcome> {
  const { resource, id } = plan
  const ended = checkRecord(plan, yield* lockState(context, plan))
  if (ended !== undefined) return ended
  const deletedAt = timestamp(plan.now)
  yield markOne(context, resource, { id, at: deletedAt })
  yield* tickOne(context, resource.name, { live: -1, deleted: 1, ids: [id] })
  return { kind: 'deleted', id, deletedAt }
}

/** Runs a BulkDelete: all of the records, or none and the reason for each that cannot be deleted. */
export function* bulkDelete(context: SqlContext, plan: BulkDelete): Transaction<Outcome | Announced> {
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const { resource, ids } = plan
  yield* lockRulesBelow(context, resource)
  yield* lockRows(context, resource, ids)
  const { allowed, refused } = yield* findRequested(context, plan)
  return yield* deleteAsked(context, plan, allowed, {
    refused,
    blockersOf: (set) => blockersById(context, plan, allowed, set),
    deleted: { kind: 'bulk-deleted', ids, deletedAt: timestamp(plan.now) },
  })
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
  const isFew = yield* matchesFew(context, plan)
  if (!isFew) return yield* announce(plan, stateOfDeletion(plan, { selection: yield* selectMatching(plan) }))
  const rows = yield* lockMatches(context, plan, storedSql(context, resource))
  if (rows.length === 0) return { kind: 'deleted-matching', count: 0 }
  if (most !== undefined && rows.length > most)
    return { kind: 'conflict', issues: [tooManyAffected(plan, rows.length)] }
  if (rows.some((row) => isMarkOfChange(String(row['_deletion'])))) {
    return { kind: 'conflict', issues: [issue('BEING_CHANGED')] }
  }
  const ids = rows.filter((row) => row['_deletion'] === null).map((row) => String(row['id']))
  return yield* deleteAsked(context, plan, ids, {
    blockersOf: (set) => findBlockers(context, plan, set),
    deleted: { kind: 'deleted-matching', count: ids.length },
  })
}

/** How a deletion is decided and answered. */
interface Deciding {
  /** Why records that were asked for cannot be deleted. */
  readonly refused?: readonly Issue[]
  readonly blockersOf: (set: RecordSet) => Transaction<Issue[]>
  /** The outcome of a deletion that is no job. */
  readonly deleted: Outcome
}

/**
 * Deletes locked records that were asked for, with what is below them: few records now, or as a job that begins now.
 * Many are put on the work list, for windows to follow (`large-changes.ts`); where nothing can block them, in a job.
 */
function* deleteAsked(
  context: SqlContext,
  plan: Removed,
  ids: readonly string[],
  { refused = [], blockersOf, deleted }: Deciding,
): Transaction<Outcome | Announced> {
  if (yield* isHeldByChange(context, plan.resource)) return { kind: 'conflict', issues: [issue('BEING_CHANGED')] }
  const { closure, isComplete } = yield* reachWithin(context, plan.resource, ids, mostInspected)
  if (isComplete) {
    const changed = (yield* isChangedAmong(context, closure)) ? [issue('BEING_CHANGED')] : []
    const issues = [...refused, ...changed, ...(yield* blockersOf(setOf(context, closure)))]
    if (issues.length > 0) return { kind: plan.kind === 'bulk-delete' ? 'bulk-refused' : 'conflict', issues }
    const isTooMany = context.batch !== undefined && sizeOf(closure) > roomOf(context.batch)
    if (sizeOf(closure) <= plan.above && !isTooMany) {
      yield* deleteClosure(context, plan, closure)
      return deleted
    }
  }
  if (context.batch !== undefined) return beyondBatch(context.batch, isComplete ? sizeOf(closure) : undefined)
  const state = yield* putOnList(context, plan, ids, closure)
  if (isComplete && state.total === state.seen) return yield* beginNow(context, plan, state, 'flip')
  const mayBeRefused = isComplete || refused.length > 0 || canBeBlocked(context.catalog, plan.resource)
  if (!mayBeRefused && plan.above <= mostInspected) return yield* beginNow(context, plan, state, 'collect')
  return yield* announce(plan, state, { ids, refused })
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

/**
 * The refusal of a deletion or restoration that is too large for a transaction of several operations.
 *
 * @param size how many records it changes; `undefined`: very many
 */
export function beyondBatch(batch: Batch, size = Number.POSITIVE_INFINITY): Outcome {
  return size > roomOf(batch) ? tooManyTouched(batch) : { kind: 'conflict', issues: [issue('jobInTransaction')] }
}

export function tooManyTouched({ most }: Batch): Outcome {
  return { kind: 'conflict', issues: [issue('tooManyTouched', { limit: most })] }
}
