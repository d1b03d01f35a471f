/** Changing all records that match a filter (BLK-3). */

import sql from 'sql-template-tag'
import { checkFilterConditions } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { UpdateMatching } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Transaction } from '../transaction.ts'
import { mostInspected } from './delete/cascade.ts'
import { lockMatches, tooManyAffected } from './delete/matching.ts'
import { changeRecords } from './rows/change-records.ts'
import { pendingIssue } from './rows/pending-deletions.ts'

/** Runs an UpdateMatching: all records that match, or none. */
export function* updateMatching(context: SqlContext, plan: UpdateMatching): Transaction<Outcome> {
  const most = Math.min(plan.most ?? mostInspected, mostInspected)
  const stale = checkFilterConditions(plan)
  if (stale !== undefined) return stale
  const rows = yield* lockMatches(context, plan, sql`id, _deletion`)
  if (rows.length > most) return { kind: 'conflict', issues: [tooManyAffected({ ...plan, most }, rows.length)] }
  const marked = rows.find((row) => row['_deletion'] !== null)
  if (marked !== undefined) return { kind: 'conflict', issues: [pendingIssue(String(marked['_deletion']))] }
  return yield* changeRecords(
    context,
    plan,
    rows.map(({ id }) => String(id)),
  )
}
