/** Deleting a record, and with it what depends on it: all or nothing (DEL-4, DEL-5). */

import sql, { raw, type Sql } from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import { allOf, never } from '../../../model/predicate.ts'
import { admit, admitMatching, decidable } from '../../../plan/admit.ts'
import type { BulkDelete, Delete, DeleteMatching, Outcome } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql, type PredicateContext } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/rows.ts'
import { firstRow, type Row, type Transaction } from '../../transaction.ts'
import type { Large } from '../rows/dependents.ts'
import { canHang, goingIssue, isGoing } from '../rows/pending-deletion.ts'
import { holdRulesBelow } from '../rows/rules-lock.ts'
import { currentRecord, holdsSql } from '../rows/select-record.ts'
import { objectionsOf } from './blockers.ts'
import { type Closure, closureOf, sizeOf } from './cascade.ts'
import { addDeletion, beginDeletion, holdTogether, isTooMany, lookAt, removeClosure } from './delete-rows.ts'

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

/** Runs a BulkDelete. */
export function* bulkDelete(context: SqlContext, plan: BulkDelete): Transaction<Outcome | Large> {
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const { resource, ids } = plan
  yield* holdRulesBelow(context, resource)
  yield* holdTogether(context, resource, ids)
  const among = context.engine.isAnyOf(columnSql(subject, 'id'), ids)
  const rows =
    yield sql`select ${storedSql(context, resource)}, ${holdsSql({ ...context, locksReferenced: true }, resource, plan.permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where ${raw(subject)}.deleted_at is null and ${among}${context.engine.lock.orderById}${context.engine.lock.update}`
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

/** Runs a DeleteMatching. */
export function* deleteMatching(context: SqlContext, plan: DeleteMatching): Transaction<Outcome | Large> {
  const { resource, most } = plan
  const stale = admitMatching(plan)
  if (stale !== undefined) return stale
  yield* holdRulesBelow(context, resource)
  const matching = matchingSql(context, plan)
  const row = yield* firstRow(sql`select count(*) as count ${matching}`)
  const count = Number(row?.['count'])
  if (most !== undefined && count > most) return tooMany(count, most)
  if (count === 0) return { kind: 'deleted-matching', count }
  const large = isTooMany(context, plan, count)
  if (large !== undefined) return large
  const rows =
    yield sql`select ${storedSql(context, resource)} ${matchingSql({ ...context, locksReferenced: true }, plan)}${context.engine.lock.orderById}${context.engine.lock.update}`
  // More may match by now.
  if (most !== undefined && rows.length > most) return tooMany(rows.length, most)
  const ids: string[] = []
  for (const found of rows) {
    // What goes by another deletion already is as good as gone.
    if (canHang(resource) && (yield* isGoing(context, resource, found))) continue
    ids.push(String(found['id']))
  }
  const looked = yield* lookAt(context, plan, ids, (closure) => objectionsOf(context, plan, closure))
  if ('kind' in looked) return looked
  const { closure, isJob, issues } = looked
  if (issues.length > 0) return { kind: 'conflict', issues }
  if (isJob || closure === undefined) return yield* beginMatching(context, plan, ids, closure)
  yield* removeClosure(context, plan, closure)
  return { kind: 'deleted-matching', count: ids.length }
}

function tooMany(count: number, most: number): Outcome {
  const message = `${count} records match, which is more than max-affected allows (${most}); none was deleted.`
  return { kind: 'conflict', issues: [{ code: 'TOO_MANY_AFFECTED', message, count, header: 'Prefer' }] }
}

/** Begins the job: which records it deletes is settled now, and they are deleted before anyone is answered. */
function* beginMatching(
  context: SqlContext,
  plan: DeleteMatching,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  const among = context.engine.isAnyOf(raw('id'), ids)
  yield sql`insert into resourced_queue (job, collection, record) select ${deletion}, ${resource.name}, id from ${tableSql(resource.name)} where ${among}`
  const total = closure === undefined ? null : sizeOf(closure)
  const state = { collection: resource.name, deletedAt: timestamp(now), ids: [], phase: 'take', at: 0 } as const
  yield* addDeletion(context, plan, 'filtered-deletion', {
    ...state,
    taken: 0,
    left: 0,
    done: 0,
    total,
    asked: ids.length,
  })
  return { kind: 'accepted', job: deletion, statusUrl: plan.statusUrl }
}

/** The rows that match and that the caller may delete. */
function matchingSql(context: PredicateContext, { resource, filter, permitted }: DeleteMatching): Sql {
  const from = sql`from ${tableSql(resource.name)} ${raw(subject)}`
  return sql`${from} where ${liveSql(context, resource, allOf([filter, permitted]))}`
}
