/**
 * Changing all records that match a filter (BLK-3): few in one transaction, more by a job. For a job they are put on a
 * work list (`delete/work-list.ts`) and checked before the request is answered.
 */

import sql from 'sql-template-tag'
import { checkFilterConditions } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { UpdateMatching } from '../../plan/plan.ts'
import { columnSql, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Transaction } from '../transaction.ts'
import { storedChange } from './delete/change.ts'
import { accept, conflict } from './delete/delete.ts'
import { lockMatches, matchedSql, matchesFew, selectMatching, takeTurn, tooManyAffected } from './delete/matching.ts'
import { withoutLocks } from './delete/snapshot-context.ts'
import { type Announced, announce, checkedState, newState, nextQueued } from './delete/work-list.ts'
import { type Checked, changeRecords, checkEach } from './rows/change-records.ts'
import { keepState } from './rows/job-rows.ts'
import { lockReferred } from './rows/lock-operations.ts'
import { lockAllRulesBelow, pendingIssue } from './rows/other-records.ts'

/** Runs an UpdateMatching: all records that match, or none. */
export function* updateMatching(context: SqlContext, plan: UpdateMatching): Transaction<Outcome | Announced> {
  const { most, above, update } = plan
  const stale = checkFilterConditions(plan)
  if (stale !== undefined) return stale
  yield* takeTurn(context, plan.resource)
  if (!(yield* matchesFew(context, plan))) return yield* announceChange(plan)
  const holders = yield* lockReferred(context, { ...update, bodies: [update.body] }, matchedSql(context, plan))
  const rows = yield* lockMatches(context, plan, sql`id, _deletion`, holders)
  if (most !== undefined && rows.length > most) return conflict(tooManyAffected(plan, rows.length))
  const taken = rows.find((row) => row['_deletion'] !== null)
  if (taken !== undefined) return conflict(pendingIssue(String(taken['_deletion'])))
  if (rows.length > above) return yield* announceChange(plan)
  return yield* changeRecords(
    context,
    plan,
    rows.map(({ id }) => String(id)),
  )
}

function* announceChange(plan: UpdateMatching): Transaction<Announced> {
  const selection = yield* selectMatching(plan)
  return yield* announce(plan, newState(plan, { selection, change: storedChange(plan, []) }))
}

/** The next records of the list, whether each of them can be changed, and where the check goes on. */
export function* checkNext(
  context: SqlContext,
  plan: UpdateMatching,
  from: { readonly at: number; readonly size: number; readonly last: number },
): Transaction<Checked & { readonly at: number }> {
  const rows = yield* nextQueued(plan.change, from)
  const ids = rows.map(({ record }) => String(record))
  const checked = yield* checkEach(withoutLocks(context), plan.update, ids)
  return { ...checked, at: Number(rows.at(-1)?.['_row'] ?? from.last) }
}

/**
 * Begins a checked change that nothing refuses: as a job, or of few records in this transaction.
 *
 * @param moved the reference fields that a job changes
 */
export function* beginChange(
  context: SqlContext,
  plan: UpdateMatching,
  moved: readonly string[],
): Transaction<Outcome> {
  const { resource, change: job, above } = plan
  yield* lockAllRulesBelow(context, resource.name)
  const checked = yield* checkedState(context, job)
  if (checked.found > above) {
    return yield* accept(context, plan, { ...checked, phase: 'flip', at: 0, change: storedChange(plan, moved) })
  }
  const rows = yield* nextQueued(job, { at: 0, size: checked.found, last: checked.roots })
  const ids = rows.map(({ record }) => String(record))
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), ids)
  yield* lockReferred(context, { ...plan.update, bodies: [plan.update.body] }, among)
  const outcome = yield* changeRecords(context, plan, ids.sort())
  if (outcome.kind === 'updated-matching') yield* keepState(job, { ...checked, phase: 'free', at: 0 })
  return outcome
}
