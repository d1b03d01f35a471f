/**
 * The beginning of a deletion or restoration of many records, after its records are on the work list: the check, on a
 * snapshot, and the transaction that deletes what was asked for and answers the request.
 */

import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql from 'sql-template-tag'
import type { Outcome } from '../../../plan/outcome.ts'
import type { Restore } from '../../../plan/plan.ts'
import { subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { addJobRecord, addWork, keepState } from '../rows/job-rows.ts'
import { lockAllRulesBelow } from '../rows/other-records.ts'
import { cascadeReach, isHeldByChange } from '../rows/pending-deletions.ts'
import { type Closure, closureOf, markedSet, mostInspected, setOf, sizeOf } from './cascade.ts'
import { blockersById, blockingRules, findBlockers, hasDeletionRules } from './deletion-blockers.ts'
import { asked, flip } from './flip.ts'
import { countMatching, tooManyAffected } from './matching.ts'
import { findRestorationBlockers } from './restoration-blockers.ts'
import { readingOnly } from './snapshot-context.ts'
import { finishAtOnce } from './work.ts'
import {
  type Announced,
  checkedState,
  enqueue,
  type Large,
  lastQueued,
  mark,
  newState,
  nextQueued,
  type Removed,
  reachedBy,
  releaseAnnouncement,
  shownProgress,
  type WorkState,
  workOf,
} from './work-list.ts'

/** Records that functions of rules decide about. */
export interface Undecided {
  readonly collection: string
  readonly ids: readonly string[]
  /** Where their objections point, instead of into the record. */
  readonly pointer: string | undefined
}

/** The result of the check. */
export interface Inspection {
  readonly issues: readonly Issue[]
  /** The records that functions of rules have still to decide about. */
  readonly undecided: readonly Undecided[]
}

/**
 * Checks work whose records are collected. It only reads.
 *
 * @param deciders the collections whose rules are functions, which the caller asks
 */
export function* inspect(
  given: SqlContext,
  plan: Removed | Restore,
  ids: readonly string[],
  deciders: readonly string[],
): Transaction<Inspection> {
  const context = readingOnly(given)
  const job = workOf(plan)
  const state = yield* checkedState(context, job)
  const refusal = yield* refusalOf(context, plan, state)
  if (refusal !== undefined) return { issues: [refusal], undecided: [] }
  const collections = reachedBy(context, state).map(({ name }) => name)
  const set = markedSet(job, collections)
  const issues =
    plan.kind === 'restore'
      ? yield* findRestorationBlockers(context, plan, set)
      : plan.kind === 'bulk-delete'
        ? yield* blockersById(context, plan, ids, set)
        : yield* findBlockers(context, plan, set)
  const undecided: Undecided[] = []
  for (const collection of collections.filter((name) => deciders.includes(name))) {
    const rows = yield sql`select id from ${subjectSql(collection)} where _deletion = ${job} order by id`
    undecided.push({ collection, ids: rows.map(({ id }) => String(id)), pointer: undefined })
  }
  if (plan.kind !== 'bulk-delete') return { issues, undecided }
  return { issues, undecided: undecided.length === 0 ? [] : yield* undecidedById(context, plan, deciders) }
}

/** Why work is refused, whatever depends on its records. */
function* refusalOf(
  context: SqlContext,
  plan: Removed | Restore,
  { found }: WorkState,
): Transaction<Issue | undefined> {
  if (plan.kind !== 'delete-matching' || plan.most === undefined || found <= plan.most) return undefined
  return tooManyAffected(plan, yield* countMatching(context, plan))
}

/** The same by the ids of the request. */
function* undecidedById(
  context: SqlContext,
  plan: Extract<Removed, { kind: 'bulk-delete' }>,
  deciders: readonly string[],
): Transaction<Undecided[]> {
  const undecided: Undecided[] = []
  for (const [index, id] of plan.ids.entries()) {
    const own: Closure = yield* closureOf(context, plan.resource, [id])
    for (const collection of deciders) {
      undecided.push({ collection, ids: [...(own.get(collection) ?? [])], pointer: `/ids/${index}` })
    }
  }
  return undecided
}

/** The state of a deletion that begins. */
export function stateOfDeletion(plan: Removed, given: Partial<WorkState> = {}): WorkState {
  const isFiltered = plan.kind === 'delete-matching'
  return newState(plan, {
    ...(isFiltered && { left: 0, ...(hasDeletionRules(plan.resource) && { caller: plan.caller }) }),
    ...given,
  })
}

/** Puts records on a new work list, except those of another one. Returns its state. */
export function* putOnList(
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
  return stateOfDeletion(plan, { roots, found: ids.length, total, seen: sizeOf(closure) })
}

/** Begins the job of a deletion that nothing blocks: deletes the records that were asked for. */
export function* beginNow(
  context: SqlContext,
  plan: Removed,
  listed: WorkState,
  next: 'collect' | 'flip',
): Transaction<Outcome> {
  yield* addWork({ id: plan.deletion, task: 'deletion', state: listed })
  return yield* accept(context, plan, { ...(yield* flipAsked(context, plan.deletion, listed)), phase: next })
}

function* flipAsked(context: SqlContext, job: string, checked: WorkState): Transaction<WorkState> {
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

/**
 * Begins a checked deletion that nothing blocks.
 *
 * @returns the outcome for the caller; unless it is `accepted`, the caller waits until the deletion is done
 */
export function* beginDeletion(context: SqlContext, plan: Removed, { ids }: Announced): Transaction<Outcome> {
  const { kind, resource, deletion: job, now } = plan
  yield* lockAllRulesBelow(context, resource.name)
  if (yield* isHeldByChange(context, resource)) return { kind: 'conflict', issues: [issue('BEING_CHANGED')] }
  const checked = yield* checkedState(context, job)
  const { found, roots, total, seen = 0 } = checked
  let state: WorkState = { ...checked, phase: 'flip', at: 0, table: asked }
  if (found <= mostInspected) {
    // Rules may ask for records that are not on the list. Functions decided by the record alone, which is as it was.
    const queued = yield* nextQueued(job, { at: 0, size: mostInspected, last: roots })
    const records = setOf(context, new Map([[resource.name, new Set(queued.map(({ record }) => String(record)))]]))
    const issues = yield* blockingRules(context, plan, records, 'unless')
    if (issues.length > 0) return { kind: 'conflict', issues }
    state = yield* flipAsked(context, job, checked)
    // Another deletion has come to them.
    if (kind !== 'delete-matching' && state.taken < ids.length) {
      return { kind: 'conflict', issues: [issue('BEING_DELETED')] }
    }
  }
  if (Math.max(total, seen) > plan.above) return yield* accept(context, plan, state)
  yield* keepState(job, state)
  if (total <= mostInspected) yield* finishAtOnce(context, job, now, mostInspected)
  if (kind === 'delete') return { kind: 'deleted', id: plan.id, deletedAt: timestamp(now) }
  if (kind === 'bulk-delete') return { kind: 'bulk-deleted', ids: plan.ids, deletedAt: timestamp(now) }
  return { kind: 'deleted-matching', count: state.taken }
}
