/**
 * The three deletions that a caller can ask for: one record, a list of ids, and everything that matches a filter. Each
 * deletes all that it should, children included, or nothing (DEL-4, DEL-5, DEL-9, DEL-10). A deletion of many records
 * becomes a job (DEL-8).
 */

import { comparisons } from 'resourced-contract/model/operators'
import { allOf, namesIds, never, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql, { type Sql } from 'sql-template-tag'
import { checkFilterConditions, checkRecord, decidableRecords } from '../../../plan/check-record.ts'
import type { Outcome } from '../../../plan/outcome.ts'
import type { BulkDelete, Delete, DeleteMatching, Removal } from '../../../plan/plan.ts'
import { columnSql, subject, subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql, type PredicateContext } from '../../sql/predicate.ts'
import { storedSql } from '../../sql/records.ts'
import { firstRow, type Row, type Transaction } from '../../transaction.ts'
import { clockOf, clockSql, touchedTick } from '../rows/clock.ts'
import { lockRules, ruledBelow } from '../rows/other-records.ts'
import { isPendingDeletion } from '../rows/pending-deletions.ts'
import { holdsSql, lockRecord, lockState } from '../rows/record-row.ts'
import { type Announced, announce, announceListed, selectMatching } from './announcement.ts'
import { acceptMatching, beginDeletion, beginFilteredDeletion } from './begin-deletion.ts'
import {
  type Closure,
  closureWithin,
  deleteClosure,
  liveRows,
  lockRows,
  markOne,
  mostInspected,
  sizeOf,
} from './cascade.ts'
import { blockersById, canBeBlocked, findBlockers, isAlone } from './deletion-blockers.ts'

/** Runs a Delete. */
export function* deleteRecord(context: SqlContext, plan: Delete): Transaction<Outcome | Announced> {
  const { resource, id } = plan
  const permitted = decidableRecords(plan, plan.readable.get(resource.name) ?? never)
  if (plan.above > 0 && isAlone(context, resource)) return yield* deleteAlone(context, { ...plan, permitted })
  yield* lockRulesBelow(context, resource)
  yield* lockRows(context, resource, [id])
  const { found, record } = yield* lockRecord(context, { ...plan, permitted })
  const ended = checkRecord(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  if (yield* isPendingDeletion(context, resource, record)) return { kind: 'conflict', issues: [issue('BEING_DELETED')] }
  const inspected = yield* inspect(context, plan, [id], (closure) => findBlockers(context, plan, closure))
  if (inspected === undefined) return yield* announce(plan, { ids: [id] })
  const { closure, isJob, issues } = inspected
  if (issues.length > 0) return { kind: 'conflict', issues }
  if (isJob || closure === undefined) return yield* beginDeletion(context, plan, [id], closure)
  yield* deleteClosure(context, plan, closure)
  return { kind: 'deleted', id, deletedAt: timestamp(plan.now) }
}

/** The same where no other record matters. */
function* deleteAlone(context: SqlContext, plan: Delete): Transaction<Outcome> {
  const { resource, id } = plan
  const ended = checkRecord(plan, yield* lockState(context, plan))
  if (ended !== undefined) return ended
  const deletedAt = timestamp(plan.now)
  yield markOne(context, resource, { id, at: deletedAt })
  yield touchedTick(context, resource.name, { live: -1, deleted: 1, ids: [id] })
  return { kind: 'deleted', id, deletedAt }
}

/** Runs a BulkDelete: all of the records, or none and the reason for each that cannot be deleted. */
export function* bulkDelete(context: SqlContext, plan: BulkDelete): Transaction<Outcome | Announced> {
  if (plan.issues.length > 0) return { kind: 'invalid', issues: plan.issues }
  const { resource, ids } = plan
  yield* lockRulesBelow(context, resource)
  yield* lockRows(context, resource, ids)
  const { allowed, refused } = yield* findRequested(context, plan)
  const inspected = yield* inspect(context, plan, allowed, (all) => blockersById(context, plan, allowed, all))
  if (inspected === undefined) return yield* announce(plan, { ids: allowed, refused })
  const { closure, isJob } = inspected
  const issues = [...refused, ...inspected.issues]
  if (issues.length > 0) return { kind: 'bulk-refused', issues }
  if (isJob || closure === undefined) return yield* beginDeletion(context, plan, ids, closure)
  yield* deleteClosure(context, plan, closure)
  return { kind: 'bulk-deleted', ids, deletedAt: timestamp(plan.now) }
}

/** Finds and locks the records that are asked for: the ids that the caller may delete, and why others cannot go. */
export function* findRequested(
  context: SqlContext,
  plan: Pick<BulkDelete, 'resource' | 'ids' | 'permitted'>,
): Transaction<{ readonly allowed: readonly string[]; readonly refused: readonly Issue[] }> {
  const { resource, ids } = plan
  const { isAnyOf, lock } = context.dialect
  const among = isAnyOf(columnSql(subject, 'id'), ids)
  const permitted = holdsSql({ ...context, locksReferenced: true }, resource, plan.permitted)
  const columns = sql`${storedSql(context, resource)}, ${permitted} as _permitted`
  const rows = yield sql`select ${columns} from ${liveRows(resource.name)} and ${among}${lock.orderById}${lock.update}`
  const found = new Map(rows.map((row) => [String(row['id']), row]))
  const refused = yield* refusalsOf(context, plan, found)
  return { allowed: ids.filter((id) => found.get(id)?.['_permitted'] === 1), refused }
}

/** The ids without a live record, those that the caller may not delete, and those that are being deleted already. */
function* refusalsOf(
  context: SqlContext,
  { resource, ids }: Pick<BulkDelete, 'resource' | 'ids'>,
  found: ReadonlyMap<string, Row>,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [index, id] of ids.entries()) {
    const pointer = `/ids/${index}`
    const row = found.get(id)
    if (row === undefined) issues.push(issue('noRecord', { pointer }))
    else if (row['_permitted'] !== 1) issues.push(issue('undeletable', { pointer }))
    else if (yield* isPendingDeletion(context, resource, row)) issues.push(issue('BEING_DELETED', { pointer }))
  }
  return issues
}

/** Runs a DeleteMatching: the records that match a filter and that the caller may delete. */
export function* deleteMatching(context: SqlContext, plan: DeleteMatching): Transaction<Outcome | Announced> {
  const { resource, above, most } = plan
  const stale = checkFilterConditions(plan)
  if (stale !== undefined) return stale
  yield* lockRulesBelow(context, resource)
  const matching = yield* estimate(context, plan)
  if (matching !== 'few') {
    const selection = yield* selectMatching(plan)
    const isJob = matching === 'many' ? above <= mostInspected : above === 0
    const isChecked = most !== undefined || !isJob || canBeBlocked(context.catalog, resource)
    return yield* isChecked ? announce(plan, { selection }) : acceptMatching(context, plan, selection)
  }
  const { orderById, update } = context.dialect.lock
  const locked = sql`${matchingSql({ ...context, locksReferenced: true }, plan)}${orderById}${update}`
  const rows = yield sql`select ${storedSql(context, resource)} ${locked}`
  if (rows.length === 0) return { kind: 'deleted-matching', count: 0 }
  if (most !== undefined && rows.length > most)
    return { kind: 'conflict', issues: [issue('affected', { header: 'Prefer', count: rows.length, most })] }
  const ids: string[] = []
  for (const found of rows) if (!(yield* isPendingDeletion(context, resource, found))) ids.push(String(found['id']))
  const inspected = yield* inspect(context, plan, ids, (closure) => findBlockers(context, plan, closure))
  if (inspected === undefined) return yield* announceListed(context, plan, ids)
  const { closure, isJob, issues } = inspected
  if (issues.length > 0) return { kind: 'conflict', issues }
  if (isJob || closure === undefined) return yield* beginFilteredDeletion(context, plan, ids, closure)
  yield* deleteClosure(context, plan, closure)
  return { kind: 'deleted-matching', count: ids.length }
}

/** A collection of at most so many records is searched where requests are answered, whether or not an index helps. */
const mostSearched = 10_000

/** Whether few records match or many, if that takes a short time to find out. */
function* estimate(context: SqlContext, plan: DeleteMatching): Transaction<'few' | 'many' | 'unknown'> {
  const { resource, filter, permitted } = plan
  if (!namesIds(filter) && !isIndexRange(allOf([filter, permitted]))) {
    const clock = yield* firstRow(clockSql(context, resource.name))
    if (clockOf(clock).live > mostSearched) return 'unknown'
  }
  const some = sql`select 1 as one ${matchingSql(context, plan)} ${context.dialect.limit(mostInspected + 1)}`
  const row = yield* firstRow(sql`select count(*) as count from (${some}) matching`)
  return Number(row?.['count']) <= mostInspected ? 'few' : 'many'
}

/** Whether a predicate is one comparison that an index answers. Every field that filters use has an index (QRY-7). */
function isIndexRange(predicate: Predicate): boolean {
  if (predicate.kind !== 'compare') return predicate.kind === 'in'
  return comparisons[predicate.operator].index !== undefined
}

function matchingSql(context: PredicateContext, { resource, filter, permitted }: DeleteMatching): Sql {
  const from = sql`from ${subjectSql(resource.name)}`
  return sql`${from} where ${liveSql(context, resource, allOf([filter, permitted]))}`
}

/** The scope of a deletion, before it is made. */
interface Inspected {
  /** Everything that is deleted; `undefined`: more than was searched for, because nothing can block it. */
  readonly closure: Closure | undefined
  readonly isJob: boolean
  readonly issues: readonly Issue[]
}

/**
 * Finds the records that are deleted together with others, and the blockers. `undefined`: so many records that the
 * deletion has to be announced.
 */
function* inspect(
  context: SqlContext,
  { resource, above }: Removal,
  ids: readonly string[],
  blockersOf: (closure: Closure) => Transaction<Issue[]>,
): Transaction<Inspected | undefined> {
  const few = yield* closureWithin(context, resource, ids, mostInspected)
  if (few !== undefined) return { closure: few, isJob: sizeOf(few) > above, issues: yield* blockersOf(few) }
  const isBlockable = canBeBlocked(context.catalog, resource)
  if (!isBlockable && above <= mostInspected) return { closure: undefined, isJob: true, issues: [] }
  return undefined
}

/** Keeps serializable changes away from a deletion that is not serializable, if rules cover some of its collections. */
function* lockRulesBelow(context: SqlContext, resource: Resource): Transaction<void> {
  if (ruledBelow(context, resource) === 'some') yield* lockRules(context)
}
