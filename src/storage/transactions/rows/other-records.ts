/** What must be known of other records before a change may be made (see `plan/decide.ts`), asked in one statement. */

import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { collectionsOf, type Predicate } from '../../../model/predicate.ts'
import type { Draft } from '../../../model/record.ts'
import type { RecordValues, Resource } from '../../../model/resource.ts'
import {
  type Answer,
  type Answers,
  type Question,
  questionsOfDraft,
  questionsOfRules,
  refusalOf,
  type Transition,
} from '../../../plan/decide.ts'
import type { Create, Outcome, Parent, Update } from '../../../plan/plan.ts'
import { columnSql, columnsOf, comparisonColumn, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import { boundOf } from '../../sql/records.ts'
import { firstRow, type Transaction } from '../../transaction.ts'
import { resourceOf } from './dependents.ts'
import { hasCascadeParents, isBeingDeleted, runningDeletionsSql, unclaimed } from './pending-deletion.ts'

/** Asks all questions in one statement. */
export function* ask(context: SqlContext, resource: Resource, questions: readonly Question[]): Transaction<Answers> {
  if (questions.length === 0) return []
  const columns = questions.map((question, index) => {
    const exists = sql`select exists (select 1 from ${askedSql(context, resource, question)})`
    return sql`(${exists}) as ${raw(`a${index}`)}`
  })
  const row = yield* firstRow(sql`select ${join(columns, ', ')}`)
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
  if (exists && !hasCascadeParents(resourceOf(context.catalog, collection))) return false
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
  return sql`${tableSql(target.name)} ${raw(subject)} where deleted_at is null and ${predicateSql(context, target, question.where)}`
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

/** That references are there and values are free. A deletion that runs may be about to take what is changed, or referred to: that takes a longer look. */
export function conditionsOf(
  context: SqlContext,
  resource: Resource,
  questions: readonly Question[],
  mayBeGoing = false,
): Sql[] {
  let isAskedOfDeletions = mayBeGoing
  const conditions = questions.map((question) => {
    const hangs = question.kind === 'reference' && hasCascadeParents(resourceOf(context.catalog, question.collection))
    if (hangs) isAskedOfDeletions = true
    const exists = sql`exists (select 1 from ${askedSql(context, resource, question, hangs ? sql` and ${unclaimed}` : empty)})`
    return question.kind === 'reference' ? exists : sql`not ${exists}`
  })
  if (mayBeGoing) conditions.push(unclaimed)
  if (isAskedOfDeletions) conditions.push(sql`not exists (${runningDeletionsSql})`)
  return conditions
}

/** That a record is there, and one of those that are permitted. Records that permit it are locked. */
export function permittedRecordSql(
  context: SqlContext,
  { resource, id, permitted }: Pick<Parent, 'resource' | 'id' | 'permitted'>,
): Sql {
  const locking: PredicateContext = { ...context, locksReferenced: true }
  return sql`exists (select 1 from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null and ${predicateSql(locking, resource, permitted)})`
}

/** That the parent of a nested collection is there, and the caller may read it. It is locked. */
export function parentSql(context: SqlContext, { resource, id, permitted }: Parent): Sql {
  const locking: PredicateContext = { ...context, locksReferenced: true }
  return sql`exists (select 1 from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null and ${predicateSql(locking, resource, permitted)}${context.engine.lock.share})`
}

/** The refusal of a draft that a permission does not hold for. */
export function* admitDraft(
  context: SqlContext,
  resource: Resource,
  permission: Predicate,
  draft: Draft,
): Transaction<Outcome | undefined> {
  if (yield* holdsFor(context, resource, permission, draft.values)) return undefined
  const references = questionsOfDraft(resource, draft).filter((question) => question.kind === 'reference')
  return refusalOf(permission, draft, yield* ask(context, resource, references))
}

/** Whether a predicate holds for a record that is not in its table (yet): it is made up as a row of its own. */
export function* holdsFor(
  context: SqlContext,
  resource: Resource,
  predicate: Predicate,
  record: RecordValues,
): Transaction<boolean> {
  if (predicate.kind === 'always' || predicate.kind === 'never') return predicate.kind === 'always'
  const row = yield* firstRow(permittedSql(context, resource, predicate, record))
  return row !== undefined
}

/**
 * A select that gives a row where a predicate holds for a record as it will be. The records that permit it are locked. Where
 * `through` comes back to the record itself, it finds it as it will be too.
 */
export function permittedSql(context: SqlContext, resource: Resource, predicate: Predicate, record: RecordValues): Sql {
  const row = rowSql(context, resource, record)
  const isOwnParent = collectionsOf(predicate).has(resource.name)
  const pendingRow = { collection: resource.name, id: String(record['id']), row }
  const inner: PredicateContext = { ...context, locksReferenced: true, ...(isOwnParent && { pendingRow }) }
  return sql`select 1 as one from (${row}) ${raw(subject)} where ${predicateSql(inner, resource, predicate)}`
}

/** A record as a row that is in no table. */
function rowSql({ engine }: SqlContext, resource: Resource, record: RecordValues): Sql {
  const { cast } = engine
  const columns = columnsOf(resource).map(
    (column) => sql`${cast(boundOf(column, record), column.type)} as ${raw(`"${column.name}"`)}`,
  )
  for (const name of ['id', 'created_at', 'updated_at', 'deleted_at']) {
    columns.push(sql`${cast(record[name] as string | null, 'text')} as ${raw(name)}`)
  }
  return sql`select ${join(columns, ', ')}`
}
