/** Deleting a record, and with it what depends on it: all or nothing (DEL-4, DEL-5). */
import { timestamp } from '../../../model/instant.ts'
import { never } from '../../../model/predicate.ts'
import { admit, decidable } from '../../../plan/admit.ts'
import type { Delete, Outcome } from '../../../plan/plan.ts'
import type { SqlContext } from '../../sql/predicate.ts'
import type { Transaction } from '../../transaction.ts'
import { goingIssue, isGoing } from '../rows/pending-deletion.ts'
import { holdRulesBelow } from '../rows/rules-lock.ts'
import { currentRecord } from '../rows/select-record.ts'
import type { Large } from './large.ts'
import { objectionsOf } from './objections.ts'
import { beginDeletion, holdTogether, lookAt, removeClosure } from './remove.ts'

/** Runs a Delete. */
export function* deleteRecord(context: SqlContext, plan: Delete): Transaction<Outcome | Large> {
  const { resource, id } = plan
  yield* holdRulesBelow(context, resource)
  yield* holdTogether(context, resource, [id])
  const permitted = decidable(plan, plan.readable.get(resource.name) ?? never)
  const { found, record } = yield* currentRecord(context, { ...plan, permitted })
  const ended = admit(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  if (yield* isGoing(context, resource, record)) return { kind: 'conflict', issues: [goingIssue] }
  const looked = yield* lookAt(context, plan, [id], (closure) => objectionsOf(context, plan, closure))
  if ('kind' in looked) return looked
  const { closure, isJob, issues } = looked
  if (issues.length > 0) return { kind: 'conflict', issues }
  if (isJob || closure === undefined) return yield* beginDeletion(context, plan, 'deletion', [id], closure)
  yield* removeClosure(context, plan, closure)
  return { kind: 'deleted', id, deletedAt: timestamp(plan.now) }
}
