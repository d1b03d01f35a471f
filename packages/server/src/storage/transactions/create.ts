/** Creating a record (CON-5). */

import { always, type Predicate } from 'resourced-contract/model/predicate'
import { issue } from 'resourced-contract/spec/faults'
import sql, { type Sql } from 'sql-template-tag'
import { type Proposal, proposeCreate } from '../../plan/decide.ts'
import { isLarge, recordWithoutBody } from '../../plan/early-permission.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Create } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { shareLock } from '../sql/totals.ts'
import type { Row, Transaction } from '../transaction.ts'
import { checkParent } from './read-page.ts'
import {
  conditionsOf,
  decide,
  holdsFor,
  isBeingDeleted,
  permittedRecordSql,
  permittedSql,
} from './rows/other-records.ts'
import { answeredOf, answerSql, isWritable, writeRecord } from './rows/record-row.ts'

/**
 * Runs a Create. The record is written on the condition that everything holds which the decision depends on. If that
 * writes nothing, the conditions are checked one by one, with locks, to find out why.
 */
export function* createRecord(context: SqlContext, plan: Create): Transaction<Outcome> {
  const { resource, id, permitted, parent } = plan
  const answer = answerSql(context, plan, always)
  // What the conditions of a large body are is known only after its validation, which may take long.
  const isRestricted = permitted.kind !== 'always' || parent !== undefined
  const proposal = isRestricted && isLarge(plan.body) ? undefined : proposeCreate(context.catalog, plan)
  if (proposal?.kind === 'proposal' && isWritable(plan, proposal)) {
    const { values } = proposal.draft
    const conditions = conditionsOfCreate(context, plan, proposal)
    // The first answer to an idempotency key is kept in the same transaction.
    const isWhole = plan.idempotency === undefined
    const created = yield* writeRecord(context, { resource, values, conditions, answer, isWhole })
    if (created !== undefined) return createdOf(id, created)
  }
  const decided = yield* decideCreate(context, plan, proposal)
  if (decided.kind !== 'proposal') return decided
  return createdOf(id, yield* writeRecord(context, { resource, values: decided.draft.values, answer }))
}

function createdOf(id: string, row: Row | undefined): Outcome {
  const { readable: _, ...represented } = answeredOf(row)
  return { kind: 'created', id, ...represented }
}

/** What must hold for a proposed record to be created. */
function conditionsOfCreate(
  context: SqlContext,
  { resource, parent, permitted }: Create,
  { draft: { values }, questions, fieldPermissions }: Proposal,
): Sql[] {
  const exists = (permission: Predicate) => sql`exists (${permittedSql(context, resource, permission, values)})`
  // The records by which the permission holds are locked first: parents before children, as deletions do.
  return [
    ...(permitted.kind === 'always' ? [] : [exists(permitted)]),
    ...fieldPermissions.map(({ permission }) => exists(permission)),
    ...(parent === undefined ? [] : [permittedRecordSql(context, parent, shareLock(context.dialect, parent.resource))]),
    ...conditionsOf(context, resource, questions),
  ]
}

/**
 * Decides a Create step by step: the new record, or the refusal.
 *
 * @param known what is proposed, if that is known
 */
function* decideCreate(context: SqlContext, plan: Create, known?: Proposal | Outcome): Transaction<Proposal | Outcome> {
  return (yield* refusalOfParent(context, plan)) ?? (yield* decideCreation(context, plan, known))
}

/** Checks the record of a nested address, and locks it. */
export function* refusalOfParent(
  context: SqlContext,
  { parent }: Pick<Create, 'parent'>,
): Transaction<Outcome | undefined> {
  if (parent === undefined) return undefined
  const refused = yield* checkParent({ ...context, locksReferenced: true }, parent)
  if (refused?.kind === 'parent-missing' && (yield* isBeingDeleted(context, parent.resource.name, parent.id))) {
    return { kind: 'conflict', issues: [issue('BEING_DELETED')] }
  }
  return refused
}

/** The same for a record whose parent is checked. */
export function* decideCreation(
  context: SqlContext,
  plan: Create,
  known?: Proposal | Outcome,
): Transaction<Proposal | Outcome> {
  const { resource, permitted } = plan
  const record = recordWithoutBody(plan)
  if (record !== undefined && !(yield* holdsFor(context, resource, permitted, record))) return { kind: 'forbidden' }
  const proposal = known ?? proposeCreate(context.catalog, plan)
  if (proposal.kind !== 'proposal') return proposal
  const { permissions } = proposal
  const undecided = { ...withoutPromised(plan, proposal), permissions: record === undefined ? permissions : [] }
  return (yield* decide(context, plan, undecided)) ?? proposal
}

/** The proposal without questions about records that the same transaction creates. */
function withoutPromised({ promised }: Create, proposal: Proposal): Proposal {
  if (promised === undefined) return proposal
  const questions = proposal.questions.filter((each) => each.kind !== 'reference' || !promised.has(each.id))
  return { ...proposal, questions }
}
