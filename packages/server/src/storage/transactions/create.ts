/** Creating records: one for a request, or many that are imported (CON-5). */

import { always } from 'resourced-contract/model/predicate'
import type { Field, RecordValues } from 'resourced-contract/model/resource'
import { issue } from 'resourced-contract/spec/faults'
import sql, { raw, type Sql } from 'sql-template-tag'
import { type Proposal, proposeCreate } from '../../plan/decide.ts'
import { isLarge, recordWithoutBody } from '../../plan/early-permission.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Create } from '../../plan/plan.ts'
import { filled, type SqlContext, slot } from '../sql/context.ts'
import type { Bound, Dialect } from '../sql/dialect.ts'
import { newStride } from '../sql/marks.ts'
import { firstRevision, representationText, versionedName } from '../sql/records.ts'
import type { Refusal, Whole } from '../storage.ts'
import { prebuilt, type Row, type Statement, type Transaction } from '../transaction.ts'
import { checkParent } from './read-page.ts'
import { type Moves, noteMove, tick, tickAll, touchedTick } from './rows/clock.ts'
import {
  counterOf,
  countersOf,
  lockCounters,
  numbered,
  numberedInsertion,
  sequencesOf,
  withNumbers,
} from './rows/numbers.ts'
import {
  conditionsOf,
  decide,
  holdsFor,
  isConditional,
  lockRules,
  namesOf,
  permittedRecordSql,
  permittedSql,
  ruledAmong,
  slotsOfQuestions,
} from './rows/other-records.ts'
import { isBeingDeleted } from './rows/pending-deletions.ts'
import {
  type Answered,
  answeredOf,
  answerSql,
  insertionSql,
  insertRecord,
  type RowSource,
  represent,
  slotsOf,
  sourceOf,
  writeInOneStatement,
} from './rows/record-row.ts'

/** Runs a Create: in one statement if the engine can and everything holds, otherwise step by step. */
export function* createRecord(context: SqlContext, plan: Create): Transaction<Outcome> {
  // The first answer to an idempotency key is kept in the same transaction.
  const isLast = plan.idempotency === undefined
  const { writeReturning } = context.dialect
  // What the statement asks the database is known only after the body is validated.
  const isRestricted = plan.permitted.kind !== 'always' || plan.parent !== undefined
  if (writeReturning !== undefined && isLast && !(isRestricted && isLarge(plan.body))) {
    const proposal = proposeCreate(context.catalog, plan)
    if (proposal.kind === 'proposal') {
      const { values } = proposal.draft
      const statement = () => creationStatement(context, plan, writeReturning, proposal)
      const created = yield* writeInOneStatement(plan, proposal, statement, countersOf(plan.resource, values))
      if (created !== undefined) return outcomeOf(context, plan, values, created)
    }
  }
  const decided = yield* decideCreate(context, plan)
  if (decided.kind !== 'proposal') return decided
  const { resource } = plan
  // Clocks are locked before counters.
  yield* lockCounters(context, [plan])
  const record = yield* numbered(resource, decided.draft.values)
  yield* insertRecord(context, resource, record)
  yield touchedTick(context, resource.name, { live: 1, deleted: 0, ids: [] })
  if (plan.readableFields === undefined) return outcomeOf(context, plan, record)
  return createdOf(plan, yield* represent(context, plan, plan.id))
}

/**
 * The new record. The database is not asked for what was just sent to it, unless access rules of fields decide what the
 * caller sees of it.
 *
 * @param row what the statement that created it has returned
 */
function outcomeOf(context: SqlContext, plan: Create, record: RecordValues, row?: Row): Outcome {
  const { id, resource, versionResource } = plan
  if (plan.readableFields !== undefined) return createdOf(plan, answeredOf(row))
  const values = row === undefined ? record : withNumbers(resource, record, row)
  const json = representationText(versionResource ?? resource, values)
  const revision = firstRevision(context, resource.name)
  return { kind: 'created', id, json, revision, updatedAt: String(values['updated_at']) }
}

function createdOf({ id }: Create, { readable: _, ...represented }: Answered): Outcome {
  return { kind: 'created', id, ...represented }
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
  for (const plan of plans) {
    const { resource } = plan
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

/** Decides a Create step by step: the new record, or the refusal. */
function* decideCreate(context: SqlContext, plan: Create): Transaction<Proposal | Outcome> {
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
  const proposal = proposeCreate(context.catalog, record === undefined ? plan : { ...plan, permitted: always })
  if (proposal.kind !== 'proposal') return proposal
  return (yield* decide(context, plan, withoutPromised(plan, proposal))) ?? proposal
}

/** The proposal without questions about records that the same transaction creates. */
function withoutPromised({ promised }: Create, proposal: Proposal): Proposal {
  if (promised === undefined) return proposal
  const questions = proposal.questions.filter((each) => each.kind !== 'reference' || !promised.has(each.id))
  return { ...proposal, questions }
}

/** The statement that creates a record if everything holds. Its text is built once for each shape where it can be. */
function creationStatement(
  context: SqlContext,
  plan: Create,
  writeReturning: NonNullable<Dialect['writeReturning']>,
  { draft: { values: record }, questions, fieldPermissions }: Proposal,
): Statement {
  const { resource, versionResource, parent, permitted, readableFields } = plan
  const answer = readableFields === undefined ? undefined : answerSql(context, plan, always)
  const statement = (
    source: RowSource,
    conditions: readonly Sql[],
    counter: (field: Field) => Bound,
    stride?: Bound,
  ) => {
    const ticked = tick(context, resource.name, 1, 0, stride)
    if (sequencesOf(resource).length === 0) {
      const columns = answer ?? raw('1 as created')
      return writeReturning(insertionSql(context, resource, source, conditions), ticked, columns)
    }
    return numberedInsertion({
      ...{ resource, conditions, tick: ticked, counter, answer },
      insertion: (numbers, condition) => insertionSql(context, resource, source, [condition], numbers),
    })
  }
  const isRestricted = fieldPermissions.length > 0 || readableFields !== undefined || questions.some(isConditional)
  if (parent !== undefined || permitted.kind !== 'always' || isRestricted) {
    const permission = permittedSql(context, resource, permitted, record)
    // The records by which the permission holds are locked first: parents before children, as deletions do.
    const conditions = [
      ...(permitted.kind === 'always' ? [] : [sql`exists (${permission})`]),
      ...fieldPermissions.map((each) => sql`exists (${permittedSql(context, resource, each.permission, record)})`),
      ...(parent === undefined ? [] : [permittedRecordSql(context, parent, context.dialect.lock.share)]),
      ...conditionsOf(context, resource, questions),
    ]
    return statement(sourceOf(resource, record), conditions, (field) => counterOf(resource, field, record))
  }
  const key = `create ${versionedName(versionResource ?? resource)} ${namesOf(questions)}`
  const slots = context.statements.of(key, () => {
    const conditions = conditionsOf(context, resource, slotsOfQuestions(context, questions))
    const counter = (field: Field) =>
      slot((about: { readonly record: RecordValues }) => counterOf(resource, field, about.record))
    return prebuilt(statement(slotsOf(resource), conditions, counter, slot(newStride)))
  })
  return filled(slots, { record, questions })
}
