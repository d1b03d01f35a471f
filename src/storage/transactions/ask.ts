/** What must be known of other records before a change may be made (see `plan/decide.ts`), asked in one statement. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Resource } from '../../model/resource.ts'
import {
  type Answer,
  type Answers,
  type Question,
  questionsOfDraft,
  questionsOfRules,
  type Transition,
} from '../../plan/decide.ts'
import type { Draft } from '../../plan/draft.ts'
import type { Create, Update } from '../../plan/plan.ts'
import { comparisonColumn } from '../sql/columns.ts'
import { columnSql, predicateSql, type SqlContext, tableSql } from '../sql/predicate.ts'
import { subject } from '../sql/represent.ts'
import { single, type Transaction } from '../transaction.ts'
import { resourceOf } from './delete/closure.ts'
import { canHang, isBeingDeleted } from './delete/going.ts'

/** Asks all questions in one statement. */
export function* ask(context: SqlContext, resource: Resource, questions: readonly Question[]): Transaction<Answers> {
  if (questions.length === 0) return []
  const columns = questions.map((question, index) => {
    const exists = sql`select exists (select 1 from ${askedSql(context, resource, question)})`
    return sql`(${exists}) as ${raw(`a${index}`)}`
  })
  const row = yield* single(sql`select ${join(columns, ', ')}`)
  const answers: [Question, Answer][] = []
  for (const [index, question] of questions.entries()) {
    const exists = row?.[`a${index}`] === 1
    answers.push([question, (yield* isReferenceGoing(context, question, exists)) ? 'going' : exists])
  }
  return answers
}

function* isReferenceGoing(context: SqlContext, question: Question, exists: boolean): Transaction<boolean> {
  if (question.kind !== 'reference') return false
  const { collection, id } = question
  // What hangs on nothing is there, or is not.
  if (exists && !canHang(resourceOf(context.catalog, collection))) return false
  return yield* isBeingDeleted(context, collection, id)
}

/**
 * The live records that a question asks for, as what follows `from`.
 *
 * @param more what else must hold of a record that is referred to
 */
export function askedSql(context: SqlContext, resource: Resource, question: Question, more: Sql = empty): Sql {
  if (question.kind === 'reference') {
    return sql`${tableSql(question.collection)} ${raw(subject)} where id = ${question.id} and deleted_at is null${more}${context.engine.lock.share}`
  }
  if (question.kind === 'taken') {
    const same = question.fields.map((name, index) => {
      const key = question.keys[index]
      return sql`${columnSql(subject, comparisonColumn(resource, name))} = ${context.engine.bind(key ?? '')}`
    })
    return sql`${tableSql(resource.name)} ${raw(subject)} where ${join(same, ' and ')} and deleted_at is null and id <> ${question.except}`
  }
  const target = context.catalog.resources.get(question.collection) as Resource
  return sql`${tableSql(target.name)} ${raw(subject)} where deleted_at is null and ${predicateSql(context, target, subject, question.where)}`
}

/** Everything that must be known of other records before a draft can be judged. */
export function questionsOf(
  context: SqlContext,
  plan: Create | Update,
  transition: Transition,
  draft: Draft,
): Question[] {
  return [...questionsOfDraft(plan.resource, draft), ...questionsOfRules(context.catalog, plan, transition)]
}
