/** Changing one record by PUT or PATCH (CON-5). */

import { collectionsOf } from 'resourced-contract/model/predicate'
import type { Draft, RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Found } from '../../plan/check-record.ts'
import { type Proposal, proposeUpdate } from '../../plan/decide.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Update } from '../../plan/plan.ts'
import { columnSql, identifier, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { revisionSql } from '../sql/records.ts'
import { firstRow, Outdated, type Transaction } from '../transaction.ts'
import { inRank, lockReferred } from './rows/lock-operations.ts'
import { canBePending, conditionsOf, decide, permittedRecordSql, permittedSql } from './rows/other-records.ts'
import {
  type Answered,
  addressOf,
  answeredOf,
  answerSql,
  isWritable,
  lockRecord,
  peekRecord,
  represent,
  writeRecord,
} from './rows/record-row.ts'

/**
 * Runs an Update. The record is first read without locks, and written on the condition that it has not changed and that
 * everything holds which the decision depends on. If that writes nothing, the record is locked to find out why.
 */
export function* updateRecord(context: SqlContext, plan: Update): Transaction<Outcome> {
  const { catalog } = context
  const { resource, mayRead } = plan
  const addressed = addressOf(plan)
  const answer = answerSql(context, plan, mayRead)
  const seen = yield* peekRecord(context, addressed)
  const hoped = proposeUpdate(catalog, plan, seen)
  if (hoped.kind !== 'proposal') return hoped
  if (hoped.draft.changed.length > 0 && isWritable(plan, hoped)) {
    const { revision } = seen.found as Found
    const holders = holdersOf(context, resource, hoped.draft)
    const updated = yield* writeRecord(context, {
      // With others it would lock records that hold sums in no order.
      ...{ resource, ...hoped.draft, answer, isWhole: holders.length === 0 },
      conditions: inOrder(holders, conditionsOfUpdate(context, addressed, hoped)),
      unchanged: () => [sql`deleted_at is null`, sql`${revisionSql(context, resource.name)} = ${revision}`],
    })
    if (updated !== undefined) return outcomeOf(answeredOf(updated))
    if (holders.length > 0 && (yield* hasMoved(plan, [seen.record, hoped.draft.values]))) throw new Outdated()
  }
  // A transaction has locked the holders of its records.
  if (context.batch === undefined) yield* lockReferred(context, { ...plan, bodies: [plan.body] }, sql`id = ${plan.id}`)
  const proposal = proposeUpdate(catalog, plan, yield* lockRecord(context, addressed))
  if (proposal.kind !== 'proposal') return proposal
  const refused = yield* decide(context, plan, proposal)
  if (refused !== undefined) return refused
  if (proposal.draft.changed.length === 0) return outcomeOf(yield* represent(context, plan, plan.id, mayRead))
  return outcomeOf(answeredOf(yield* writeRecord(context, { resource, ...proposal.draft, answer })))
}

/**
 * What else must hold for the record as it was seen to become the proposed one.
 *
 * @param plan its `permitted` held for the record as it was seen
 */
function conditionsOfUpdate(
  context: SqlContext,
  { resource, id, permitted }: Update,
  { draft, questions, permissions, fieldPermissions }: Proposal,
): Sql[] {
  const required = [...permissions, ...fieldPermissions.map(({ permission }) => permission)]
  // If its revision is the same, this record has not changed. Other records that the permission depends on may have.
  const dependsOnOthers = collectionsOf(permitted).size > 0
  // Records that permissions depend on are locked first: parents before children, in the order of deletions.
  return [
    ...(dependsOnOthers ? [permittedRecordSql(context, { resource, id, permitted })] : []),
    ...required.map((each) => sql`exists (${permittedSql(context, resource, each, draft.values)})`),
    ...conditionsOf(context, resource, questions, canBePending(context, resource)),
  ]
}

/**
 * Locks the records that hold sums of the record, before it is locked itself: a deletion locks them in this order too.
 * The conditions are true.
 */
function holdersOf(
  { catalog, dialect }: SqlContext,
  { name, totals = [] }: Resource,
  { changed, values }: Draft,
): Sql[] {
  const { hasOtherWriters, orderById, update } = dialect.lock
  if (!hasOtherWriters) return []
  const moved = totals.filter(({ reference, amount }) => [reference, amount].some((each) => changed.includes(each)))
  const held = new Map(
    moved.map(({ collection, reference }) => [`${collection} ${reference}`, { collection, reference }]),
  )
  const ranked = inRank(
    catalog,
    [...held.values()].map((each) => [each.collection, each]),
  )
  return ranked.map(([collection, { reference }]) => {
    const ids = sql`${columnSql(identifier(name), reference)}, ${(values[reference] ?? null) as string | null}`
    const held = sql`select 1 as one from ${tableSql(collection)} where id in (${ids})${orderById}${update}`
    return sql`(select count(*) from (${held}) held) >= 0`
  })
}

/** Conditions of which the first ones are evaluated first: PostgreSQL begins with those that cost least. */
function inOrder(first: readonly Sql[], others: readonly Sql[]): readonly Sql[] {
  if (first.length === 0) return others
  const last = others.length === 0 ? sql`1 = 1` : join(others, ' and ')
  return [first.reduceRight((following, each) => sql`case when ${each} then ${following} end`, last)]
}

/**
 * Whether others have moved the record under a holder whose lock was not among those. It would be locked after them, in
 * another order than all others lock.
 */
function* hasMoved({ resource, id }: Update, locked: readonly (RecordValues | undefined)[]): Transaction<boolean> {
  const row = yield* firstRow(sql`select * from ${tableSql(resource.name)} where id = ${id}`)
  const references = (resource.totals ?? []).map(({ reference }) => reference)
  return references.some((name) => row?.[name] != null && !locked.some((values) => values?.[name] === row[name]))
}

function outcomeOf({ json, readable, ...validators }: Answered): Outcome {
  return { kind: 'updated', json: readable ? json : undefined, ...validators }
}
