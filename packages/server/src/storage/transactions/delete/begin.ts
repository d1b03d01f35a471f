/**
 * The beginning of a deletion or restoration of many records, after its records are on the work list: the check, on a
 * snapshot, and the transaction that deletes what was asked for and answers the request.
 */

import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql from 'sql-template-tag'
import type { Outcome } from '../../../plan/outcome.ts'
import type { Restore } from '../../../plan/plan.ts'
import { subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { keepState } from '../rows/job-rows.ts'
import { isHeldByChange, lockAllRulesBelow } from '../rows/other-records.ts'
import { blockersOf, blockingRules } from './blockers.ts'
import { closureOf, markedSet, mostInspected, setOf } from './cascade.ts'
import { accept, conflict, deletedOutcome, flipAsked } from './delete.ts'
import { readingOnly } from './snapshot-context.ts'
import { asked } from './windows.ts'
import { finishAtOnce } from './work.ts'
import {
  type Announced,
  checkedState,
  nextQueued,
  type Removed,
  reachedBy,
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
  const collections = reachedBy(context, yield* checkedState(context, job)).map(({ name }) => name)
  const issues = yield* blockersOf(context, plan, ids, markedSet(job, collections))
  const undecided: Undecided[] = []
  if (plan.kind !== 'bulk-delete') {
    for (const collection of deciders) {
      const rows = yield sql`select id from ${subjectSql(collection)} where _deletion = ${job} order by id`
      undecided.push({ collection, ids: rows.map(({ id }) => String(id)), pointer: undefined })
    }
  } else if (deciders.length > 0) {
    for (const [index, id] of plan.ids.entries()) {
      const own = yield* closureOf(context, plan.resource, [id])
      for (const collection of deciders) {
        undecided.push({ collection, ids: [...(own.get(collection) ?? [])], pointer: `/ids/${index}` })
      }
    }
  }
  return { issues, undecided }
}

/**
 * Begins a checked deletion that nothing blocks.
 *
 * @returns the outcome for the caller; unless it is `accepted`, the caller waits until the deletion is done
 */
export function* beginDeletion(context: SqlContext, plan: Removed, { ids }: Announced): Transaction<Outcome> {
  const { kind, resource, deletion: job, now } = plan
  yield* lockAllRulesBelow(context, resource.name)
  if (yield* isHeldByChange(context, resource)) return conflict(issue('BEING_CHANGED'))
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
    if (kind !== 'delete-matching' && state.taken < ids.length) return conflict(issue('BEING_DELETED'))
  }
  if (Math.max(total, seen) > plan.above) return yield* accept(context, plan, state)
  yield* keepState(job, state)
  if (total <= mostInspected) yield* finishAtOnce(context, job, now, mostInspected)
  return deletedOutcome(plan, state.taken)
}
