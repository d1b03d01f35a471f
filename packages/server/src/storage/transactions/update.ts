/** Changing one record by PUT or PATCH (CON-5). */

import { collectionsOf } from 'resourced-contract/model/predicate'
import type { Draft, Resource } from 'resourced-contract/model/resource'
import sql, { type Sql } from 'sql-template-tag'
import { decidableRecords, type Found } from '../../plan/check-record.ts'
import { type Proposal, proposeUpdate } from '../../plan/decide.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Update } from '../../plan/plan.ts'
import { unreadFields } from '../../plan/unread-fields.ts'
import { columnSql, identifier, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { revisionSql } from '../sql/records.ts'
import type { Transaction } from '../transaction.ts'
import { conditionsOf, decide, permittedRecordSql, permittedSql } from './rows/other-records.ts'
import { canBePending } from './rows/pending-deletions.ts'
import {
  type Answered,
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
  const addressed = { ...plan, permitted: decidableRecords(plan, mayRead), unread: unreadFields(plan) }
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
      conditions: [...holders, ...conditionsOfUpdate(context, addressed, hoped)],
      unchanged: () => [sql`deleted_at is null`, sql`${revisionSql(context, resource.name)} = ${revision}`],
    })
    if (updated !== undefined) return outcomeOf(answeredOf(updated))
  }
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
function holdersOf({ dialect }: SqlContext, { name, totals = [] }: Resource, { changed, values }: Draft): Sql[] {
  const { hasOtherWriters, orderById, update } = dialect.lock
  if (!hasOtherWriters) return []
  const moved = totals.filter(({ reference, amount }) => [reference, amount].some((each) => changed.includes(each)))
  return moved.map(({ collection, reference }) => {
    const ids = sql`${columnSql(identifier(name), reference)}, ${(values[reference] ?? null) as string | null}`
    const held = sql`select 1 as one from ${tableSql(collection)} where id in (${ids})${orderById}${update}`
    return sql`(select count(*) from (${held}) held) >= 0`
  })
}

function outcomeOf({ json, readable, ...validators }: Answered): Outcome {
  return { kind: 'updated', json: readable ? json : undefined, ...validators }
}
