/**
 * The beginning of deletions that become jobs.
 *
 * A deletion of few records is checked and begun in one transaction. A check of many records would hold off all other
 * writers, so such a deletion is announced first, in a short transaction: from then on its records are pending deletion
 * (`pending-deletions.ts`), and nothing can change what the check depends on. Then it is checked on a snapshot. A last
 * short transaction begins the job, or withdraws the announcement.
 */

import { timestamp } from 'resourced-contract/model/time'
import { issue } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import type { Outcome } from '../../../plan/outcome.ts'
import type { BulkDelete, Delete, DeleteMatching } from '../../../plan/plan.ts'
import { columnSql, subject } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { tick } from '../rows/clock.ts'
import { addJobRecord, addWork, keepState } from '../rows/job-rows.ts'
import { lockAllRulesBelow } from '../rows/other-records.ts'
import { cascadeReach, listKey, type Selection, selectedSql } from '../rows/pending-deletions.ts'
import { type Announced, lostAnnouncement, newState, type Removed, releaseAnnouncement } from './announcement.ts'
import {
  type Closure,
  closureOf,
  deleteClosure,
  liveRows,
  lockedIds,
  lockRows,
  markDeleted,
  sizeOf,
} from './cascade.ts'
import { claimRows, enqueue, enqueueSql } from './deletion-batches.ts'
import { blockingRules, findBlockers } from './deletion-blockers.ts'
import { onlyListed, withdraw } from './deletion-job.ts'
import { type DeletionState, lockedState, shownProgress } from './deletion-state.ts'
import type { Inspection } from './inspect-announced.ts'

/** Begins the job: deletes the records that were asked for; their children follow. */
export function* beginDeletion(
  context: SqlContext,
  plan: Delete | BulkDelete,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  const deletedAt = timestamp(now)
  const which = context.dialect.isAnyOf(raw('id'), ids)
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
  yield enqueueSql(listKey(deletion, 'selected'), resource, context.dialect.isAnyOf(raw('id'), ids))
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
  { resource, readable, readableReferences }: Removed,
  asked: number | null,
  state: DeletionState,
): DeletionState {
  const mayReadAll = cascadeReach(catalog, resource).every(
    ({ name }) => readable.get(name)?.kind === 'always' && readableReferences?.get(name) === undefined,
  )
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

/** Accepts a deletion by filter that nothing can block: its job finds the records. */
export function acceptMatching(context: SqlContext, plan: DeleteMatching, selection: Selection): Transaction<Outcome> {
  return addDeletion(context, plan, null, newState(plan, selection))
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
  yield* lockAllRulesBelow(context, resource.name)
  const announced = yield* lockedState(context, deletion)
  if (announced?.phase !== 'check') throw lostAnnouncement('deletion')
  if (few !== undefined && announced.selection !== undefined) {
    return yield* deleteFew(context, plan, announced.selection, few)
  }
  let state = newState(plan, announced.selection)
  if (kind !== 'delete-matching') {
    const which = context.dialect.isAnyOf(raw('id'), ids)
    const live = yield* lockedIds(
      context,
      sql`${liveRows(resource.name)} and ${context.dialect.isAnyOf(columnSql(subject, 'id'), ids)}`,
    )
    // Another deletion has come to them.
    if (live.length < ids.length) return { kind: 'conflict', issues: [issue('BEING_DELETED')] }
    // Rules may ask for records that are not announced. Functions have decided by the record alone, which is as it was.
    const issues = yield* blockingRules(context, plan, new Map([[resource.name, new Set(ids)]]), 'unless')
    if (issues.length > 0) return { kind: 'conflict', issues }
    yield* markDeleted(resource.name, which, deletion, state.deletedAt)
    yield tick(context, resource.name, -ids.length, ids.length)
    yield* enqueue(context, deletion, resource, which)
    state = { ...state, ids: kind === 'delete' ? ids : [], taken: ids.length, done: ids.length }
  }
  state = shownTo(context, plan, asked, { ...state, total: total ?? null, ...(!isJob && { scope: announced.scope }) })
  yield* keepState(deletion, state)
  if (isJob) {
    yield* releaseAnnouncement(deletion)
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
  yield* lockRows(context, resource, few)
  const isSelected = selectedSql({ ...context, locksReferenced: true }, resource, deletion, selection)
  const among = sql`${liveRows(resource.name)} and ${context.dialect.isAnyOf(columnSql(subject, 'id'), few)}`
  const ids = yield* lockedIds(context, sql`${among} and ${isSelected}`)
  const closure = yield* closureOf(context, resource, ids)
  const issues = yield* findBlockers(context, plan, closure)
  if (issues.length > 0) return { kind: 'conflict', issues }
  yield* deleteClosure(context, plan, closure)
  yield* withdraw(deletion)
  return { kind: 'deleted-matching', count: ids.length }
}
