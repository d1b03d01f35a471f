/** Deleting many records at once: all of them, or none, with the reason of each that cannot go (DEL-9). */
import sql, { raw } from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import type { BulkDelete, Outcome } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, type SqlContext, tableSql } from '../../sql/predicate.ts'
import { subject } from '../../sql/represent.ts'
import { recordOf, storedSql } from '../../sql/rows.ts'
import type { Row, Transaction } from '../../transaction.ts'
import { canHang, goingIssue, isGoing } from '../rows/pending-deletion.ts'
import { holdRulesBelow } from '../rows/rules-lock.ts'
import { holdsSql } from '../rows/select-record.ts'
import { type Closure, closureOf } from './closure.ts'
import type { Large } from './large.ts'
import { objectionsOf } from './objections.ts'
import { beginDeletion, holdTogether, lookAt, removeClosure } from './remove.ts'

/** Runs a BulkDelete. */
export function* bulkDelete(context: SqlContext, plan: BulkDelete): Transaction<Outcome | Large> {
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const { resource, ids } = plan
  yield* holdRulesBelow(context, resource)
  yield* holdTogether(context, resource, ids)
  const among = context.engine.isAmong(columnSql(subject, 'id'), ids)
  const rows =
    yield sql`select ${storedSql(context, resource)}, ${holdsSql({ ...context, holding: true }, resource, plan.permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where ${raw(subject)}.deleted_at is null and ${among}${context.engine.lock.order}${context.engine.lock.update}`
  const here = new Map(rows.map((row) => [String(row['id']), row]))
  const refused = yield* refusalsOf(context, plan, here)
  const going = ids.filter((id) => here.get(id)?.['_permitted'] === 1)
  const looked = yield* lookAt(context, plan, going, (all) => objectionsById(context, plan, going, all))
  if ('kind' in looked) return looked
  const { closure, isJob } = looked
  const issues = [...refused, ...looked.issues]
  if (issues.length > 0) return { kind: 'bulk-refused', issues }
  if (isJob || closure === undefined) return yield* beginDeletion(context, plan, 'bulk-deletion', ids, closure)
  yield* removeClosure(context, plan, closure)
  return { kind: 'bulk-deleted', ids, deletedAt: timestamp(plan.now) }
}

/** Ids that lead to nothing, to what the caller may not delete, or to what goes already. */
function* refusalsOf(
  context: SqlContext,
  { resource, ids }: BulkDelete,
  here: ReadonlyMap<string, Row>,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [index, id] of ids.entries()) {
    const pointer = `/ids/${index}`
    const row = here.get(id)
    if (row === undefined) issues.push({ code: 'NOT_FOUND', message: 'There is no such record.', pointer })
    else if (row['_permitted'] !== 1) {
      issues.push({ code: 'FORBIDDEN', message: 'You may not delete this record.', pointer })
    } else if (canHang(resource) && (yield* isGoing(context, resource, recordOf(resource, row)))) {
      issues.push({ ...goingIssue, pointer })
    }
  }
  return issues
}

/** Which of them meets an objection is found out one by one; the others go all the same, so they do not object. */
function* objectionsById(
  context: SqlContext,
  plan: BulkDelete,
  going: readonly string[],
  closure: Closure,
): Transaction<Issue[]> {
  if ((yield* objectionsOf(context, plan, closure)).length === 0) return []
  const issues: Issue[] = []
  for (const id of going) {
    const own = yield* closureOf(context, plan.resource, [id])
    const pointer = `/ids/${plan.ids.indexOf(id)}`
    // A pointer of a business rule leads into a record that the body does not show.
    issues.push(...(yield* objectionsOf(context, plan, own, closure)).map((each) => ({ ...each, pointer })))
  }
  return issues
}
