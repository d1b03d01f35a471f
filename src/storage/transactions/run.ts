/** Which transaction carries out which change. */
import type { Outcome, Read, Restore, Write } from '../../plan/plan.ts'
import type { Compiler } from '../sql/predicate.ts'
import type { Transaction } from '../transaction.ts'
import { currentRecord } from './current-record.ts'
import { bulkDelete } from './delete/bulk-delete.ts'
import { deleteMatching } from './delete/delete-matching.ts'
import { deleteRecord } from './delete/delete-record.ts'
import type { Large } from './delete/large.ts'
import { recognised } from './idempotency.ts'
import { deleteJob } from './jobs/delete-job.ts'
import { beginExport } from './jobs/export-job.ts'
import { createKey, revokeKey } from './keys.ts'
import { restoreRecord } from './restore-record.ts'
import { createRecord, updateRecord } from './write-record.ts'

/** Whether a plan changes anything. */
export function isWrite(plan: Read | Write): plan is Write {
  return plan.kind !== 'read-record' && plan.kind !== 'read-page'
}

/** The transaction of a change. Where its outcome is a refusal, it has changed nothing. */
export function writeTransaction(compiler: Compiler, plan: Write): Transaction<Outcome | Large> {
  switch (plan.kind) {
    case 'create':
      return recognised(compiler, plan, createRecord(compiler, plan))
    case 'replace':
    case 'merge':
    case 'patch':
      return updateRecord(compiler, plan)
    case 'delete':
      return deleteRecord(compiler, plan)
    case 'bulk-delete':
      return recognised(compiler, plan, bulkDelete(compiler, plan))
    case 'delete-matching':
      return deleteMatching(compiler, plan)
    case 'restore':
      return restoreOnce(compiler, plan)
    case 'create-key':
      return recognised(compiler, plan, createKey(compiler, plan))
    case 'revoke-key':
      return revokeKey(compiler, plan)
    case 'delete-job':
      return deleteJob(compiler, plan)
    case 'export':
      return recognised(compiler, plan, beginExport(compiler, plan))
  }
}

/** A restoration that is repeated gets its first answer, without the record where the caller may not read that any more (AUT-9). */
function* restoreOnce(compiler: Compiler, plan: Restore): Transaction<Outcome | Large> {
  const outcome = yield* recognised(compiler, plan, restoreRecord(compiler, plan))
  if (outcome.kind !== 'replayed' || outcome.answer.kind !== 'updated' || outcome.answer.json === undefined)
    return outcome
  const { record, isReadable } = yield* currentRecord(compiler, plan)
  if (record !== undefined && isReadable) return outcome
  return { ...outcome, answer: { ...outcome.answer, json: undefined } }
}
