/**
 * The effects of other records on a change, and of a deletion on other records.
 *
 * The questions of a change (see `plan/decide.ts`): whether references exist, unique values are free, business rules
 * are satisfied, and a permission holds. A change asks in separate statements, or adds conditions to the statement
 * that writes the record.
 *
 * The lock between deletions and changes that depend on business rules. A business rule can ask for
 * records that do not exist, which no row lock covers. So changes of the collections that rules are about are
 * serializable on an engine with many writers. A serializable transaction sees a snapshot: after it has waited for a
 * row, it must not rely on what it reads of transactions that are not serializable.
 */

import { collectionsOf, type Predicate } from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import {
  type Answer,
  type Answers,
  judge,
  mayNotWrite,
  type Proposal,
  type Question,
  refusalOf,
} from '../../../plan/decide.ts'
import type { Outcome } from '../../../plan/outcome.ts'
import type { Create, Parent, Update } from '../../../plan/plan.ts'
import { columnSql, columnsOf, comparisonColumn, subject, subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import { boundOf } from '../../sql/records.ts'
import { shareLock } from '../../sql/share-lock.ts'
import { firstRow, ignoringRows, type Transaction } from '../../transaction.ts'
import {
  canBePending,
  cascadeReach,
  isBeingDeleted,
  pendingIssue,
  pendingMark,
  referable,
  resourceOf,
  unmarked,
} from './pending-deletions.ts'

/**
 * Decides a proposal by asking its questions, and whether its record is on a work list. Returns the refusal;
 * `undefined`: it can be written.
 */
export function* decide(
  context: SqlContext,
  plan: Create | Update,
  proposal: Proposal,
): Transaction<Outcome | undefined> {
  const { resource, current } = proposal.transition
  const refused = yield* decideUnmarked(context, plan, proposal)
  // Whoever may not change the record, or sends mistakes, does not learn what others do with it.
  if (current === undefined || (refused !== undefined && refused.kind !== 'conflict')) return refused
  const mark = yield* pendingMark(context, resource, current)
  return mark === undefined ? refused : { kind: 'conflict', issues: [pendingIssue(mark)] }
}

/** The same for a record that is on no work list of others. */
export function* decideUnmarked(
  context: SqlContext,
  plan: Create | Update,
  proposal: Proposal,
): Transaction<Outcome | undefined> {
  const { transition, draft, questions, permissions, fieldPermissions } = proposal
  const { resource } = transition
  const refusal = function* (permission: Predicate): Transaction<Outcome> {
    const references = questions.filter((question) => question.kind === 'reference')
    return refusalOf(permission, draft, yield* ask(context, resource, references))
  }
  for (const permission of permissions) {
    if (!(yield* holdsFor(context, resource, permission, draft.values))) return yield* refusal(permission)
  }
  const denied: string[] = []
  for (const { field, permission } of fieldPermissions) {
    if (yield* holdsFor(context, resource, permission, draft.values)) continue
    const refused = yield* refusal(permission)
    if (refused.kind !== 'forbidden') return refused
    denied.push(field)
  }
  if (denied.length > 0) return { kind: 'forbidden', issues: denied.map(mayNotWrite) }
  return judge(plan, proposal, yield* ask(context, resource, questions))
}

/** Asks all questions in one statement. */
export function* ask(context: SqlContext, resource: Resource, questions: readonly Question[]): Transaction<Answers> {
  if (questions.length === 0) return []
  const row = yield* firstRow(questionsSql(context, resource, questions))
  const answers: [Question, Answer][] = []
  for (const [index, question] of questions.entries()) {
    const exists = row?.[`a${index}`] === 1
    answers.push([question, (yield* isReferenceDeleted(context, question, exists)) ? 'being-deleted' : exists])
  }
  return answers
}

function questionsSql(context: SqlContext, resource: Resource, questions: readonly Question[]): Sql {
  const columns = questions.map((question, index) => {
    const exists = sql`select exists (select 1 from ${askedSql(context, resource, question)})`
    return sql`(${exists}) as ${raw(`a${index}`)}`
  })
  return sql`select ${join(columns, ', ')}`
}

function* isReferenceDeleted(context: SqlContext, question: Question, exists: boolean): Transaction<boolean> {
  if (question.kind !== 'reference') return false
  const { collection, id, readable } = question
  const target = resourceOf(context.catalog, collection)
  if (exists && !canBePending(context, target)) return false
  if (!exists && readable !== undefined) {
    // Of a record that the caller may not read, they do not learn that it is being deleted (AUT-9).
    const shown = predicateSql({ ...context, countsDeleted: true }, target, readable)
    const found = yield* firstRow(sql`select 1 as one from ${subjectSql(collection)} where id = ${id} and ${shown}`)
    if (found === undefined) return false
  }
  return yield* isBeingDeleted(context, collection, id)
}

/**
 * The live records that a question asks for, as what follows `from`.
 *
 * @param more a further condition on a record that is referred to
 */
export function askedSql(context: SqlContext, resource: Resource, question: Question, more: Sql = empty): Sql {
  if (question.kind === 'reference') {
    const { collection, id, readable } = question
    const share = shareLock(context.dialect, resourceOf(context.catalog, collection))
    // The records by which the caller may read the target are locked with it.
    const locking: PredicateContext = { ...context, locksReferenced: true }
    const shown =
      readable === undefined
        ? empty
        : sql` and ${predicateSql(locking, resourceOf(context.catalog, collection), readable)}`
    return sql`${subjectSql(collection)} where id = ${id} and deleted_at is null${shown}${more}${share}`
  }
  if (question.kind === 'taken') {
    const same = question.fields.map((name, index) => {
      const key = question.keys[index]
      return sql`${columnSql(subject, comparisonColumn(resource, name))} = ${context.dialect.bind(key ?? '')}`
    })
    const isOther = sql`deleted_at is null and id <> ${question.except}`
    return sql`${subjectSql(resource.name)} where ${join(same, ' and ')} and ${isOther}`
  }
  const target = context.catalog.resources.get(question.collection) as Resource
  return sql`${subjectSql(target.name)} where deleted_at is null and ${predicateSql(context, target, question.where)}`
}

/**
 * The same questions as conditions of the statement that writes the record: that references exist and values are free,
 * and that neither the record nor what it refers to is on a work list.
 *
 * @param mayBePending whether the record itself may be pending deletion
 */
export function conditionsOf(
  context: SqlContext,
  resource: Resource,
  questions: readonly Question[],
  mayBePending = false,
): Sql[] {
  const conditions = questions.map((question) => {
    const target = question.kind === 'reference' ? resourceOf(context.catalog, question.collection) : undefined
    const targetMayBePending = target !== undefined && canBePending(context, target)
    const asked = askedSql(context, resource, question, targetMayBePending ? sql` and ${referable}` : empty)
    const exists = sql`exists (select 1 from ${asked})`
    return question.kind === 'reference' ? exists : sql`not ${exists}`
  })
  if (mayBePending) conditions.push(unmarked)
  return conditions
}

/**
 * The condition that a record is live and permitted. The records by which the permission holds are locked.
 *
 * @param lock locks the record too
 */
export function permittedRecordSql(
  context: SqlContext,
  { resource, id, permitted }: Pick<Parent, 'resource' | 'id' | 'permitted'>,
  lock: Sql = empty,
): Sql {
  const locking: PredicateContext = { ...context, locksReferenced: true }
  const isPermitted = sql`deleted_at is null and ${predicateSql(locking, resource, permitted)}${lock}`
  return sql`exists (select 1 from ${subjectSql(resource.name)} where id = ${id} and ${isPermitted})`
}

/** Whether a predicate holds for a record as it would be. */
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
 * A select that returns a row if a predicate holds for a record as it would be. The records by which the predicate
 * holds are locked. If the predicate leads back to the record itself, it sees the record as it would be.
 */
export function permittedSql(context: SqlContext, resource: Resource, predicate: Predicate, record: RecordValues): Sql {
  const row = rowSql(context, resource, record)
  const isOwnParent = collectionsOf(predicate).has(resource.name)
  const pendingRow = { collection: resource.name, id: String(record['id']), row }
  const inner: PredicateContext = { ...context, locksReferenced: true, ...(isOwnParent && { pendingRow }) }
  return sql`select 1 as one from (${row}) ${raw(subject)} where ${predicateSql(inner, resource, predicate)}`
}

/** A record as a row that is in no table. */
function rowSql({ dialect }: SqlContext, resource: Resource, record: RecordValues): Sql {
  const { cast } = dialect
  const columns = columnsOf(resource).map(
    (column) => sql`${cast(boundOf(column, record), column.type)} as ${raw(`"${column.name}"`)}`,
  )
  for (const name of ['id', 'created_at', 'updated_at', 'deleted_at']) {
    columns.push(sql`${cast(record[name] as string | null, 'text')} as ${raw(name)}`)
  }
  return sql`select ${join(columns, ', ')}`
}

/** How many of some collections business rules are about. */
export type Ruled = 'none' | 'some' | 'all'

/** How many of these collections have a business rule that asks for records, or are asked for by one. */
export function ruledAmong({ ruled }: SqlContext, collections: Iterable<string>): Ruled {
  const found = new Set([...collections].map((name) => ruled.has(name)))
  if (!found.has(true)) return 'none'
  return found.has(false) ? 'some' : 'all'
}

/**
 * How many of the collections that a deletion changes, or in which it searches for blockers, business rules are about.
 */
export function ruledBelow(context: SqlContext, resource: Resource): Ruled {
  const reached = cascadeReach(context.catalog, resource)
  const dependents = reached.flatMap((each) => each.dependents.map(({ collection }) => collection))
  return ruledAmong(context, [...reached.map(({ name }) => name), ...dependents])
}

/**
 * Keeps serializable changes away until this transaction ends, which is not serializable itself. It is the first
 * statement of its transaction, or follows the one that says what the transaction is about.
 */
export function* lockRules({ dialect: { lock } }: SqlContext): Transaction<void> {
  if (lock.excludeSerializable !== undefined) yield ignoringRows(lock.excludeSerializable)
}

/** The same for a transaction that is never serializable, if rules are about any of its collections. */
export function* lockAllRulesBelow(context: SqlContext, collection: string): Transaction<void> {
  if (!context.catalog.resources.has(collection)) return
  if (ruledBelow(context, resourceOf(context.catalog, collection)) !== 'none') yield* lockRules(context)
}
