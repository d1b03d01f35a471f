/** Creating records: one for a request, or many that are imported (CON-5). */
import sql, { raw, type Sql } from 'sql-template-tag'
import { type Proposal, proposeCreate } from '../../plan/decide.ts'
import type { Create, Outcome } from '../../plan/plan.ts'
import { filled, type SqlContext } from '../sql/context.ts'
import type { Engine } from '../sql/engine.ts'
import { firstRevision, representationText, versionedName } from '../sql/records.ts'
import { prebuilt, type Statement, type Transaction } from '../transaction.ts'
import { checkParent } from './read-page.ts'
import { type Moves, noteMove, tick, tickAll, touchedTick } from './rows/clock.ts'
import {
  conditionsOf,
  decide,
  lockRules,
  namesOf,
  permittedRecordSql,
  permittedSql,
  ruledAmong,
  slotsOfQuestions,
} from './rows/other-records.ts'
import { beingDeletedIssue, isBeingDeleted } from './rows/pending-deletions.ts'
import {
  insertionSql,
  insertRecord,
  type RowSource,
  slotsOf,
  sourceOf,
  writeInOneStatement,
} from './rows/record-row.ts'

/** Runs a Create: in one statement if the engine can and everything holds, otherwise step by step. */
export function* createRecord(context: SqlContext, plan: Create): Transaction<Outcome> {
  // The first answer to an idempotency key is kept in the same transaction.
  const isLast = plan.idempotency === undefined
  const { writeReturning } = context.engine
  if (writeReturning !== undefined && isLast) {
    const proposal = proposeCreate(context.catalog, plan)
    const statement = () => creationStatement(context, plan, writeReturning, proposal)
    const created = yield* writeInOneStatement(plan, proposal, statement)
    if (created !== undefined) return outcomeOf(context, plan, proposal)
  }
  const decided = yield* decideCreate(context, plan)
  if (decided.kind !== 'proposal') return decided
  yield* insertRecord(context, plan.resource, decided.draft.values)
  yield touchedTick(context, plan.resource.name, { live: 1, deleted: 0, ids: [] })
  return outcomeOf(context, plan, decided)
}

/** The new record. The database is not asked for what was just sent to it. */
function outcomeOf(
  context: SqlContext,
  { id, resource, versionResource }: Create,
  { draft: { values } }: Proposal,
): Outcome {
  const json = representationText(versionResource ?? resource, values)
  const revision = firstRevision(context, resource.name)
  return { kind: 'created', id, json, revision, updatedAt: String(values['updated_at']) }
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
  for (const plan of plans) {
    const { resource } = plan
    const decided = yield* decideCreate(context, plan)
    if (decided.kind === 'proposal') {
      yield* insertRecord(context, resource, decided.draft.values)
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

/** Decides a Create step by step: the new record, or the refusal. */
function* decideCreate(context: SqlContext, plan: Create): Transaction<Proposal | Outcome> {
  const { parent } = plan
  if (parent !== undefined) {
    const refused = yield* checkParent({ ...context, locksReferenced: true }, parent)
    if (refused?.kind === 'parent-missing' && (yield* isBeingDeleted(context, parent.resource.name, parent.id))) {
      return { kind: 'conflict', issues: [beingDeletedIssue] }
    }
    if (refused !== undefined) return refused
  }
  const proposal = proposeCreate(context.catalog, plan)
  return (yield* decide(context, plan, proposal)) ?? proposal
}

/** The statement that creates a record if everything holds. Its text is built once for each shape where it can be. */
function creationStatement(
  context: SqlContext,
  plan: Create,
  writeReturning: NonNullable<Engine['writeReturning']>,
  { draft: { values: record }, questions }: Proposal,
): Statement {
  const { resource, versionResource, parent, permitted } = plan
  const statement = (source: RowSource, conditions: readonly Sql[]) =>
    writeReturning(
      insertionSql(context, resource, source, conditions),
      tick(context, resource.name, 1, 0),
      raw('1 as created'),
    )
  if (parent !== undefined || permitted.kind !== 'always') {
    const permission = permittedSql(context, resource, permitted, record)
    // The records by which the permission holds are locked first: parents before children, as deletions do.
    const conditions = [
      ...(permitted.kind === 'always' ? [] : [sql`exists (${permission})`]),
      ...(parent === undefined ? [] : [permittedRecordSql(context, parent, context.engine.lock.share)]),
      ...conditionsOf(context, resource, questions),
    ]
    return statement(sourceOf(resource, record), conditions)
  }
  const key = `create ${versionedName(versionResource ?? resource)} ${namesOf(questions)}`
  const slots = context.statements.of(key, () =>
    prebuilt(statement(slotsOf(resource), conditionsOf(context, resource, slotsOfQuestions(context, questions)))),
  )
  return filled(slots, { record, questions })
}
