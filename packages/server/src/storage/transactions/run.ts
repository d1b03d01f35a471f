/** The transaction of each kind of change. */

import type { Outcome } from '../../plan/outcome.ts'
import type { Write } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Transaction } from '../transaction.ts'
import { createRecord } from './create.ts'
import { bulkDelete, deleteMatching, deleteRecord } from './delete/delete.ts'
import { type Announced, isWaitedFor } from './delete/work-list.ts'
import { beginExport } from './exports.ts'
import { type Erasing, eraseHistory } from './history.ts'
import { onceForKey } from './idempotency.ts'
import { deleteJob } from './jobs.ts'
import { createKey, revokeKey } from './keys.ts'
import { restoreRecord } from './restore.ts'
import { attributed, attributionOf } from './rows/record-row.ts'
import { createTenant, moveTenant, tenantsIn } from './tenants.ts'
import { transact } from './transact.ts'
import { updateRecord } from './update.ts'
import { updateMatching } from './update-matching.ts'
import { createDelivery, createWebhook, deleteWebhook, updateWebhook } from './webhooks.ts'
import { writeMany } from './write-many.ts'

/** The result of such a transaction: the outcome for the caller, or how it is carried out. */
export type Written = Outcome | Announced | Erasing

/** The transaction of a change. If its outcome is a refusal, it is rolled back. */
export function writeTransaction(context: SqlContext, plan: Write): Transaction<Written> {
  return attributed(context, attributionOf(plan), (own) => changeOf(own, plan))
}

function changeOf(context: SqlContext, plan: Write): Transaction<Written> {
  const { resource } = plan
  const isOfTenant = resource.made === 'for-clients' && resource === tenantsIn(context.catalog)
  switch (plan.kind) {
    case 'create':
      return onceForKey(context, plan, isOfTenant ? createTenant(context, plan) : createRecord(context, plan))
    case 'replace':
    case 'merge':
    case 'patch':
      return updateRecord(context, plan)
    case 'write-many':
      return onceForKey(context, plan, writeMany(context, plan))
    case 'delete':
      return isOfTenant ? moveTenant(plan, deleteRecord(context, plan)) : deleteRecord(context, plan)
    case 'bulk-delete':
      return onceForKey(context, plan, bulkDelete(context, plan), isWaitedFor)
    case 'delete-matching':
      return deleteMatching(context, plan)
    case 'update-matching':
      return updateMatching(context, plan)
    case 'restore':
      return isOfTenant ? moveTenant(plan, restoreRecord(context, plan)) : restoreRecord(context, plan)
    case 'erase-history':
      return eraseHistory(context, plan)
    case 'create-key':
      return onceForKey(context, plan, createKey(context, plan))
    case 'revoke-key':
      return revokeKey(context, plan)
    case 'create-webhook':
      return onceForKey(context, plan, createWebhook(context, plan))
    case 'update-webhook':
      return updateWebhook(context, plan)
    case 'delete-webhook':
      return deleteWebhook(context, plan)
    case 'create-delivery':
      return onceForKey(context, plan, createDelivery(context, plan))
    case 'delete-job':
      return deleteJob(context, plan)
    case 'transaction':
      return transact(context, plan, changeOf)
    case 'export':
      return onceForKey(context, plan, beginExport(context, plan))
  }
}

const refusals: ReadonlySet<string> = new Set<Outcome['kind']>([
  'missing', 'parent-missing', 'forbidden', 'precondition-required', 'stale', 'invalid', 'conflict', 'not-modified',
  'replayed', 'key-in-use', 'key-reused', 'bulk-refused',
  'operation-refused',
]) // biome-ignore format: one row reads best

/** Whether an outcome is a change; otherwise the transaction is rolled back. */
export function isChange({ kind }: Written): boolean {
  return !refusals.has(kind)
}

/** Whether an outcome is the whole answer: otherwise `finishLarge` carries out what the transaction has left to do. */
export function isFinal(written: Written): written is Outcome {
  return written.kind !== 'announced' && written.kind !== 'erasing'
}
