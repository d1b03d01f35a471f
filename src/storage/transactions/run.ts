/** Which transaction carries out which change. */
import type { Outcome, Read, Restore, Write } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Transaction } from '../transaction.ts'
import { bulkDelete, deleteMatching, deleteRecord } from './delete/delete.ts'
import { beginExport } from './exports.ts'
import { recognised } from './idempotency.ts'
import { deleteJob } from './jobs.ts'
import { createKey, revokeKey } from './keys.ts'
import { restoreRecord } from './restore-record.ts'
import type { Large } from './rows/dependents.ts'
import { currentRecord } from './rows/select-record.ts'
import { createRecord, updateRecord } from './write-record.ts'

/** Whether a plan changes anything. */
export function isWrite(plan: Read | Write): plan is Write {
  return plan.kind !== 'read-record' && plan.kind !== 'read-page'
}

/** The transaction of a change. Where its outcome is a refusal, it has changed nothing. */
export function writeTransaction(context: SqlContext, plan: Write): Transaction<Outcome | Large> {
  switch (plan.kind) {
    case 'create':
      return recognised(context, plan, createRecord(context, plan))
    case 'replace':
    case 'merge':
    case 'patch':
      return updateRecord(context, plan)
    case 'delete':
      return deleteRecord(context, plan)
    case 'bulk-delete':
      return recognised(context, plan, bulkDelete(context, plan))
    case 'delete-matching':
      return deleteMatching(context, plan)
    case 'restore':
      return restoreOnce(context, plan)
    case 'create-key':
      return recognised(context, plan, createKey(context, plan))
    case 'revoke-key':
      return revokeKey(context, plan)
    case 'delete-job':
      return deleteJob(context, plan)
    case 'export':
      return recognised(context, plan, beginExport(context, plan))
  }
}

/** A restoration that is repeated gets its first answer, without the record where the caller may not read that any more (AUT-9). */
function* restoreOnce(context: SqlContext, plan: Restore): Transaction<Outcome | Large> {
  const outcome = yield* recognised(context, plan, restoreRecord(context, plan))
  if (outcome.kind !== 'replayed' || outcome.answer.kind !== 'updated' || outcome.answer.json === undefined)
    return outcome
  const { record, isReadable } = yield* currentRecord(context, plan)
  if (record !== undefined && isReadable) return outcome
  return { ...outcome, answer: { ...outcome.answer, json: undefined } }
}

const refusals: ReadonlySet<string> = new Set<Outcome['kind']>([
  'missing', 'parent-missing', 'forbidden', 'precondition-required', 'stale', 'invalid', 'conflict', 'not-modified',
  'replayed', 'key-in-use', 'key-reused', 'bulk-refused',
]) // biome-ignore format: one row reads best

/** Whether an outcome is to stay; otherwise what was done to find it out is undone. */
export function isChange({ kind }: Outcome | Large): boolean {
  return kind !== 'large' && !refusals.has(kind)
}
