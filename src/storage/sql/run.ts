/** Which transaction carries out which change. */
import type { Outcome, Read, Write } from '../../plan/plan.ts'
import { bulkDelete } from './deletion/bulk-delete.ts'
import { deleteMatching } from './deletion/delete-matching.ts'
import { deleteRecord } from './deletion/delete-record.ts'
import { restoreRecord } from './deletion/restore-record.ts'
import { beginExport } from './jobs/export-job.ts'
import type { Compiler } from './predicate.ts'
import type { Transaction } from './transaction.ts'
import { createRecord, updateRecord } from './write-record.ts'

/** Whether a plan changes anything. */
export function isWrite(plan: Read | Write): plan is Write {
  return plan.kind !== 'read-record' && plan.kind !== 'read-page'
}

/** The transaction of a change. Where its outcome is a refusal, it has changed nothing. */
export function writeTransaction(compiler: Compiler, plan: Write): Transaction<Outcome> {
  if (plan.kind === 'create') return createRecord(compiler, plan)
  if (plan.kind === 'bulk-delete') return bulkDelete(compiler, plan)
  if (plan.kind === 'delete-matching') return deleteMatching(compiler, plan)
  if (plan.kind === 'export') return beginExport(compiler, plan)
  if (plan.kind === 'restore') return restoreRecord(compiler, plan)
  return plan.kind === 'delete' ? deleteRecord(compiler, plan) : updateRecord(compiler, plan)
}
