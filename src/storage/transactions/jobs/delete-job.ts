/** Deleting a job that has ended, and the file of an export with it (LIM-8). */
import sql from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import { admit } from '../../../plan/admit.ts'
import type { DeleteJob, Outcome } from '../../../plan/plan.ts'
import type { SqlContext } from '../../sql/predicate.ts'
import type { Transaction } from '../../transaction.ts'
import { tick } from '../clock.ts'
import { currentRecord } from '../current-record.ts'
import { dropPieces } from './pieces.ts'

/** Runs a DeleteJob. A file beside the database is the caller's to remove, once this is committed. */
export function* deleteJob(context: SqlContext, plan: DeleteJob): Transaction<Outcome> {
  const { found, record } = yield* currentRecord(context, plan)
  const isElsewhere = plan.mustExport && found?.permitted === true && record?.['kind'] !== 'export'
  const refusal = admit(plan, isElsewhere ? undefined : found)
  if (refusal !== undefined || record === undefined) return refusal ?? { kind: 'missing' }
  if (record['status'] !== 'succeeded' && record['status'] !== 'failed') {
    const message = `The job is ${record['status']}. Delete it once its status is succeeded or failed.`
    return { kind: 'conflict', issues: [{ code: 'JOB_NOT_FINISHED', message }] }
  }
  yield sql`delete from jobs where id = ${plan.id}`
  if (context.keepsPieces) yield* dropPieces(plan.id)
  yield tick(context, 'jobs', -1, 0)
  return { kind: 'deleted', id: plan.id, deletedAt: timestamp(plan.now) }
}
