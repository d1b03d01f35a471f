/**
 * Writing one record in one statement, with everything that might stand in its way asked in it: where the database is a network
 * away, each statement less is a journey less. Where anything does stand in the way nothing is written, and the long way says what.
 */
import sql from 'sql-template-tag'
import { collectionsOf, type Predicate } from '../../model/predicate.ts'
import { admit } from '../../plan/admit.ts'
import { type Answers, judge, type Question, type Transition } from '../../plan/decide.ts'
import { draftCreate, draftUpdate } from '../../plan/older-version.ts'
import type { Create, Outcome, Update } from '../../plan/plan.ts'
import { withCheck } from '../../plan/with-check.ts'
import type { SqlContext } from '../sql/context.ts'
import { revisionSql } from '../sql/epoch.ts'
import { firstRow, standalone, type Transaction } from '../transaction.ts'
import { creationStatement } from './creation-statement.ts'
import { tick } from './rows/clock.ts'
import { conditionsOf, permittedRecordSql, permittedSql, questionsOf } from './rows/other-records.ts'
import { hasCascadeParents } from './rows/pending-deletion.ts'
import { answeredOf, answerSql, glimpsedRecord } from './rows/select-record.ts'
import { change } from './rows/write-row.ts'

/** Runs a Create in one statement; `undefined` where it takes more, and nothing was written. */
export function* createAtOnce(context: SqlContext, plan: Create): Transaction<Outcome | undefined> {
  const { writeReturning } = context.engine
  const { id, resource } = plan
  if (writeReturning === undefined || plan.idempotency !== undefined) return undefined
  const draft = draftCreate(plan)
  const transition: Transition = { resource, trigger: 'create', current: undefined, next: draft.values }
  const questions = questionsOf(context, plan, transition, draft)
  const hoped = hopedFor(questions)
  if (hoped === undefined || judge(plan, transition, draft, hoped) !== undefined) return undefined
  const statement = creationStatement(context, plan, writeReturning, { record: draft.values, questions })
  const row = yield* firstRow(standalone(statement, 'changing'))
  if (row === undefined) return undefined
  const { json, revision, updatedAt } = answeredOf(row)
  return { kind: 'created', id, json, revision, updatedAt }
}

/**
 * Runs an Update in two statements that hold nothing between them: the second changes the record only where it still is as the first
 * has seen it. `undefined` where it takes more, and nothing was written.
 *
 * @param permitted what must hold for the record as it is
 */
export function* updateAtOnce(
  context: SqlContext,
  plan: Update,
  permitted: Predicate,
): Transaction<Outcome | undefined> {
  const { writeReturning } = context.engine
  const { id, resource, mayRead } = plan
  if (writeReturning === undefined) return undefined
  const { found, record, isReadable } = yield* glimpsedRecord(context, { ...plan, permitted })
  const ended = admit(plan, found)
  if (ended !== undefined || found === undefined || record === undefined) return ended
  const drafted = draftUpdate(plan, record, isReadable)
  if (drafted.kind !== 'draft') return drafted
  const { draft } = drafted
  if (draft.changed.length === 0) return undefined
  const transition: Transition = { resource, trigger: 'update', current: record, next: draft.values }
  const questions = questionsOf(context, plan, transition, draft)
  const hoped = hopedFor(questions)
  if (hoped === undefined || judge(plan, transition, draft, hoped) !== undefined) return undefined
  // What permits it in the record itself is as it was seen; other records may have changed since.
  const isThrough = collectionsOf(permitted).size > 0
  // What permits it is locked first: parents before their children, as deletions lock them.
  const conditions = [
    ...(isThrough ? [permittedRecordSql(context, { resource, id, permitted })] : []),
    ...withCheck(plan, draft).map((check) => sql`exists (${permittedSql(context, resource, check, draft.values)})`),
    sql`deleted_at is null`,
    sql`${revisionSql(context, resource.name)} = ${found.revision}`,
    ...conditionsOf(context, resource, questions, hasCascadeParents(resource)),
  ]
  const ticked = tick(context, resource.name, 0, 0)
  const changed = change(context, resource, draft, conditions).change
  const row = yield* firstRow(
    standalone(writeReturning(changed, ticked, answerSql(context, plan, mayRead)), 'changing'),
  )
  if (row === undefined) return undefined
  const { json, revision, updatedAt, readable } = answeredOf(row)
  return { kind: 'updated', json: readable ? json : undefined, revision, updatedAt }
}

/** The answers with which nothing stands in the way; `undefined` where a rule decides what is asked. */
function hopedFor(questions: readonly Question[]): Answers | undefined {
  if (questions.some(({ kind }) => kind === 'rule')) return undefined
  return questions.map((question) => [question, question.kind === 'reference'])
}
