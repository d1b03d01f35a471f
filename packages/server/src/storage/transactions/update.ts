/** Changing one record by PUT or PATCH (CON-5). */

import { collectionsOf } from 'resourced-contract/model/predicate'
import sql, { type Sql } from 'sql-template-tag'
import { decidableRecords, type Found } from '../../plan/check-record.ts'
import { type Proposal, proposeUpdate } from '../../plan/decide.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Update } from '../../plan/plan.ts'
import { unreadFields } from '../../plan/unread-fields.ts'
import type { SqlContext } from '../sql/context.ts'
import { revisionSql } from '../sql/records.ts'
import type { Row, Transaction } from '../transaction.ts'
import { tick } from './rows/clock.ts'
import { conditionsOf, decide, permittedRecordSql, permittedSql } from './rows/other-records.ts'
import { canBePending } from './rows/pending-deletions.ts'
import {
  type Answered,
  answeredOf,
  answerSql,
  lockRecord,
  peekRecord,
  represent,
  sourceOf,
  updateSql,
  writeAndRepresent,
  writeInOneStatement,
} from './rows/record-row.ts'

/**
 * Runs an Update. If the engine can write and return a record in one statement, the record is first read without locks
 * and written on the condition that it has not changed. If that writes nothing, or on other engines, the record is
 * locked, checked and written in separate statements.
 */
export function* updateRecord(context: SqlContext, plan: Update): Transaction<Outcome> {
  const { catalog, dialect } = context
  const addressed = { ...plan, permitted: decidableRecords(plan, plan.mayRead), unread: unreadFields(plan) }
  if (dialect.writeReturning !== undefined) {
    const current = yield* peekRecord(context, addressed)
    const proposal = proposeUpdate(catalog, plan, current)
    if (proposal.kind !== 'proposal') return proposal
    const updated = yield* updateOnCondition(context, addressed, current.found as Found, proposal)
    if (updated !== undefined) return outcomeOf(answeredOf(updated))
  }
  const current = yield* lockRecord(context, addressed)
  const proposal = proposeUpdate(catalog, plan, current)
  if (proposal.kind !== 'proposal') return proposal
  const refused = yield* decide(context, plan, proposal)
  if (refused !== undefined) return refused
  const { draft } = proposal
  if (draft.changed.length === 0) return outcomeOf(yield* represent(context, plan, plan.id, plan.mayRead))
  const { revision } = current.found as Found
  return outcomeOf(yield* writeAndRepresent(context, plan, draft, revision))
}

/** @param plan its `permitted` has to hold for the record as it was found */
function* updateOnCondition(
  context: SqlContext,
  plan: Update,
  { revision }: Found,
  proposal: Proposal,
): Transaction<Row | undefined> {
  const { resource, id, permitted, mayRead } = plan
  const { draft, questions, permissions, fieldPermissions } = proposal
  const required = [...permissions, ...fieldPermissions.map(({ permission }) => permission)]
  const { writeReturning } = context.dialect
  if (writeReturning === undefined || draft.changed.length === 0) return undefined
  return yield* writeInOneStatement(plan, proposal, () => {
    // The revision proves that this record has not changed. Other records that the permission depends on may have.
    const dependsOnOthers = collectionsOf(permitted).size > 0
    // Records that permissions depend on are locked first: parents before children, in the order of deletions.
    const conditions: Sql[] = [
      ...(dependsOnOthers ? [permittedRecordSql(context, { resource, id, permitted })] : []),
      ...required.map((each) => sql`exists (${permittedSql(context, resource, each, draft.values)})`),
      sql`deleted_at is null`,
      sql`${revisionSql(context, resource.name)} = ${revision}`,
      ...conditionsOf(context, resource, questions, canBePending(context, resource)),
    ]
    const source = sourceOf(resource, draft.values)
    const statement = updateSql(context, resource, { changed: draft.changed, source, conditions })
    return writeReturning(statement, tick(context, resource.name, 0, 0), answerSql(context, plan, mayRead))
  })
}

function outcomeOf({ json, readable, ...validators }: Answered): Outcome {
  return { kind: 'updated', json: readable ? json : undefined, ...validators }
}
