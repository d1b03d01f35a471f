/** Deleting a record, and with it what depends on it: all or nothing (DEL-4, DEL-5). */
import { timestamp } from '../../../model/instant.ts'
import { admit } from '../../../plan/admit.ts'
import type { Delete, Outcome } from '../../../plan/plan.ts'
import type { Compiler } from '../predicate.ts'
import type { Transaction } from '../transaction.ts'
import { currentRecord } from '../write-record.ts'
import { closureOf } from './closure.ts'
import { goingIssue, isGoing } from './going.ts'
import { canBeBlocked, objectionsOf } from './objections.ts'
import { beginDeletion, removeClosure, smallClosure } from './remove.ts'

/** Runs a Delete. */
export function* deleteRecord(compiler: Compiler, plan: Delete): Transaction<Outcome> {
  const { resource, id } = plan
  const { found, record } = yield* currentRecord(compiler, plan)
  const ended = admit(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  if (yield* isGoing(compiler, resource, record)) return { kind: 'conflict', issues: [goingIssue] }
  const small = yield* smallClosure(compiler, plan, [id])
  const looked = small !== undefined || canBeBlocked(compiler.catalog, resource)
  const closure = small ?? (looked ? yield* closureOf(compiler, resource, [id]) : undefined)
  const issues = closure === undefined ? [] : yield* objectionsOf(compiler, plan, closure)
  if (issues.length > 0) return { kind: 'conflict', issues }
  if (small === undefined) return yield* beginDeletion(compiler, plan, 'deletion', [id], closure)
  yield* removeClosure(compiler, plan, small)
  return { kind: 'deleted', id, deletedAt: timestamp(plan.now) }
}
