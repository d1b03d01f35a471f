/** Deleting many records at once: all of them, or none, with the reason of each that cannot go (DEL-9). */
import sql, { raw } from 'sql-template-tag'
import { timestamp } from '../../model/instant.ts'
import type { BulkDelete, Outcome } from '../../plan/plan.ts'
import type { Issue } from '../../spec/faults.ts'
import { closureOf, objectionsOf, removeClosure } from './delete-record.ts'
import { type Compiler, columnSql, tableSql } from './predicate.ts'
import { holdsSql } from './read-record.ts'
import { subject } from './represent.ts'
import type { Transaction } from './transaction.ts'

/** Runs a BulkDelete. */
export function* bulkDelete(compiler: Compiler, plan: BulkDelete): Transaction<Outcome> {
  const { resource, ids } = plan
  const among = compiler.expressions.isAmong(columnSql(subject, 'id'), ids)
  const rows =
    yield sql`select id, ${holdsSql(compiler, resource, plan.permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where ${raw(subject)}.deleted_at is null and ${among}`
  const permitted = new Map(rows.map((row) => [String(row['id']), row['_permitted'] === 1]))
  const issues: Issue[] = []
  for (const [index, id] of ids.entries()) {
    const pointer = `/ids/${index}`
    const here = permitted.get(id)
    if (here === undefined) issues.push({ code: 'NOT_FOUND', message: 'There is no such record.', pointer })
    else if (!here) issues.push({ code: 'FORBIDDEN', message: 'You may not delete this record.', pointer })
  }
  const going = ids.filter((id) => permitted.get(id) === true)
  const closure = yield* closureOf(compiler, resource, going)
  if ((yield* objectionsOf(compiler, plan, closure)).length > 0) {
    // Which of them meets an objection is found out one by one; the others go all the same, so they do not object.
    for (const [index, id] of ids.entries()) {
      if (permitted.get(id) !== true) continue
      const own = yield* closureOf(compiler, resource, [id])
      const objections = yield* objectionsOf(compiler, plan, own, closure)
      issues.push(...objections.map(({ code, message }) => ({ code, message, pointer: `/ids/${index}` })))
    }
  }
  if (issues.length > 0) return { kind: 'bulk-refused', issues }
  const deletedAt = timestamp(plan.now)
  yield* removeClosure(compiler, plan, closure, deletedAt)
  return { kind: 'bulk-deleted', ids, deletedAt }
}
