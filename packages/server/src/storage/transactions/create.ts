/** Creating records: one for a request, or many that are imported (CON-5). */

import { always, type Predicate } from 'resourced-contract/model/predicate'
import { issue } from 'resourced-contract/spec/faults'
import sql, { type Sql } from 'sql-template-tag'
import { type Proposal, proposeCreate } from '../../plan/decide.ts'
import { isLarge, recordWithoutBody } from '../../plan/early-permission.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Create } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Refusal, Whole } from '../storage.ts'
import type { Row, Transaction } from '../transaction.ts'
import { checkParent } from './read-page.ts'
import { attributionOf, tellAttribution } from './rows/attribution.ts'
import { type Moves, noteMove, tickAll } from './rows/clock.ts'
import { lockCounters, numbered } from './rows/numbers.ts'
import {
  conditionsOf,
  decide,
  holdsFor,
  lockRules,
  permittedRecordSql,
  permittedSql,
  ruledAmong,
} from './rows/other-records.ts'
import { isBeingDeleted } from './rows/pending-deletions.ts'
import { answeredOf, answerSql, insertRecord, isWritable, writeRecord } from './rows/record-row.ts'

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
    ...(parent === undefined ? [] : [permittedRecordSql(context, parent, context.dialect.lock.share)]),
    ...conditionsOf(context, resource, questions),
  ]
}

/**
 * Runs many Creates of any resources, in order (see `Storage.load`). Their representations are not built.
 *
 * @param isOver asked after each record: whether the others are not tried
 */
export function* createRecords(
  context: SqlContext,
  plans: readonly Create[],
  whenRefused: 'stop' | 'skip',
  isOver = () => false,
): Transaction<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = []
  const created: Moves = new Map()
  const collections = plans.map(({ resource }) => resource.name)
  if (ruledAmong(context, collections) === 'some') yield* lockRules(context)
  yield* lockCounters(context, plans)
  for (const [index, plan] of plans.entries()) {
    const { resource } = plan
    // An import has one caller.
    if (index === 0) yield* tellAttribution(context, attributionOf(plan))
    const decided = yield* decideCreate(context, plan)
    if (decided.kind === 'proposal') {
      yield* insertRecord(context, resource, yield* numbered(resource, decided.draft.values))
      noteMove(created, resource.name, { live: 1, deleted: 0, ids: [] })
      outcomes.push(undefined)
    } else {
      outcomes.push(decided)
      if (whenRefused === 'stop') break
    }
    if (isOver()) break
  }
  yield* tickAll(context, created)
  return outcomes
}

/**
 * Runs many Creates in order, to keep all of them or none (see `Storage.loadAll`). The plans are not held in memory.
 *
 * @returns the refusals; with any, the caller must roll back
 */
export function* createAll(
  context: SqlContext,
  { resources, plans, mostRefusals }: Whole,
): Transaction<readonly Refusal[]> {
  const refusals: Refusal[] = []
  const created: Moves = new Map()
  const collections = resources.map(({ name }) => name)
  if (ruledAmong(context, collections) === 'some') yield* lockRules(context)
  yield* lockCounters(
    context,
    resources.map((resource) => ({ resource, parent: undefined, body: {} })),
  )
  let index = 0
  for (const plan of plans) {
    if (index === 0) yield* tellAttribution(context, attributionOf(plan))
    const decided = yield* decideCreate(context, plan)
    if (decided.kind === 'proposal') {
      yield* insertRecord(context, plan.resource, yield* numbered(plan.resource, decided.draft.values))
      noteMove(created, plan.resource.name, { live: 1, deleted: 0, ids: [] })
    } else if (refusals.push({ index, outcome: decided }) === mostRefusals) break
    index++
  }
  yield* tickAll(context, created)
  return refusals
}

/**
 * Decides a Create step by step: the new record, or the refusal.
 *
 * @param known what is proposed, if that is known
 */
function* decideCreate(context: SqlContext, plan: Create, known?: Proposal | Outcome): Transaction<Proposal | Outcome> {
  const { parent } = plan
  if (parent !== undefined) {
    const refused = yield* checkParent({ ...context, locksReferenced: true }, parent)
    if (refused?.kind === 'parent-missing' && (yield* isBeingDeleted(context, parent.resource.name, parent.id))) {
      return { kind: 'conflict', issues: [issue('BEING_DELETED')] }
    }
    if (refused !== undefined) return refused
  }
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
