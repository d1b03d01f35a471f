/**
 * The effects of other records on a change, and of a deletion on other records.
 *
 * The questions of a change (see `plan/decide.ts`): whether references exist, unique values are free, business rules
 * are satisfied, and a permission holds. A change asks in separate statements, or adds conditions to the statement
 * that writes the record.
 *
 * Pending deletions: records depend on others by `cascade`. A running deletion job has deleted the requested records
 * when it began, and deletes their children later, batch by batch, downwards. Until then a live record below a deleted
 * one is pending deletion: it cannot be changed or referred to.
 *
 * The lock between deletions and changes that depend on business rules (decision 040). A business rule can ask for
 * records that do not exist, which no row lock covers. So changes of the collections that rules are about are
 * serializable on an engine with many writers. A serializable transaction sees a snapshot: after it has waited for a
 * row, it must not rely on what it reads of transactions that are not serializable.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { collectionsOf, type Predicate } from '../../../model/predicate.ts'
import type { Catalog, RecordValues, Resource } from '../../../model/resource.ts'
import { type Answer, type Answers, judge, type Proposal, type Question, refusalOf } from '../../../plan/decide.ts'
import type { Create, Outcome, Parent, Update } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, columnsOf, comparisonColumn, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import { boundOf, storedSql } from '../../sql/records.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'

/** Decides a proposal by asking its questions. Returns the refusal; `undefined`: it can be written. */
export function* decide(
  context: SqlContext,
  plan: Create | Update,
  proposal: Proposal,
): Transaction<Outcome | undefined> {
  const { transition, draft, questions, permissions } = proposal
  const { resource, current } = transition
  for (const permission of permissions) {
    if (yield* holdsFor(context, resource, permission, draft.values)) continue
    const references = questions.filter((question) => question.kind === 'reference')
    return refusalOf(permission, draft, yield* ask(context, resource, references))
  }
  const refused = judge(plan, proposal, yield* ask(context, resource, questions))
  const mayBePending = current !== undefined && refused?.kind !== 'invalid'
  if (mayBePending && (yield* isPendingDeletion(context, resource, current))) {
    return { kind: 'conflict', issues: [beingDeletedIssue] }
  }
  return refused
}

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
    answers.push([question, (yield* isReferenceDeleted(context, question, exists)) ? 'being-deleted' : exists])
  }
  return answers
}

function* isReferenceDeleted(context: SqlContext, question: Question, exists: boolean): Transaction<boolean> {
  if (question.kind !== 'reference') return false
  const { collection, id } = question
  // A live record without parents cannot be pending deletion.
  if (exists && !hasCascadeParents(resourceOf(context.catalog, collection))) return false
  return yield* isBeingDeleted(context, collection, id)
}

/**
 * The live records that a question asks for, as what follows `from`.
 *
 * @param more a further condition on a record that is referred to
 */
function askedSql(context: SqlContext, resource: Resource, question: Question, more: Sql = empty): Sql {
  if (question.kind === 'reference') {
    const { share } = context.engine.lock
    return sql`${subjectSql(question.collection)} where id = ${question.id} and deleted_at is null${more}${share}`
  }
  if (question.kind === 'taken') {
    const same = question.fields.map((name, index) => {
      const key = question.keys[index]
      return sql`${columnSql(subject, comparisonColumn(resource, name))} = ${context.engine.bind(key ?? '')}`
    })
    const isOther = sql`deleted_at is null and id <> ${question.except}`
    return sql`${subjectSql(resource.name)} where ${join(same, ' and ')} and ${isOther}`
  }
  const target = context.catalog.resources.get(question.collection) as Resource
  return sql`${subjectSql(target.name)} where deleted_at is null and ${predicateSql(context, target, question.where)}`
}

/**
 * The same questions as conditions of the statement that writes the record: that references exist and values are free.
 * While a deletion job runs, records that it may delete take more than a condition to find: then nothing is written.
 *
 * @param mayBePending whether the record itself may be pending deletion
 */
export function conditionsOf(
  context: SqlContext,
  resource: Resource,
  questions: readonly Question[],
  mayBePending = false,
): Sql[] {
  let dependsOnDeletions = mayBePending
  const conditions = questions.map((question) => {
    const isChild = question.kind === 'reference' && hasCascadeParents(resourceOf(context.catalog, question.collection))
    if (isChild) dependsOnDeletions = true
    const asked = askedSql(context, resource, question, isChild ? sql` and ${unclaimed}` : empty)
    const exists = sql`exists (select 1 from ${asked})`
    return question.kind === 'reference' ? exists : sql`not ${exists}`
  })
  if (mayBePending) conditions.push(unclaimed)
  if (dependsOnDeletions) conditions.push(sql`not exists (${runningDeletionsSql})`)
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

/** The references with `cascade` to a collection; none if the declaration no longer has the collection. */
export function cascadesOf({ resources }: Catalog, collection: string): Resource['dependents'] {
  const dependents = resources.get(collection)?.dependents ?? []
  return dependents.filter(({ onDelete }) => onDelete === 'cascade')
}

/** The resources whose records a deletion of one resource's records can delete, that resource first. */
export function cascadeReach(catalog: Catalog, resource: Resource): readonly Resource[] {
  const found = new Set([resource.name])
  // Iterating a set also visits what is added meanwhile.
  for (const name of found) for (const { collection } of cascadesOf(catalog, name)) found.add(collection)
  return [...found].map((name) => resourceOf(catalog, name))
}

/** A resource that the catalog certainly has. */
export function resourceOf({ resources }: Catalog, collection: string): Resource {
  return resources.get(collection) as Resource
}

/** The conflict of a change of a record that is pending deletion. */
export const beingDeletedIssue: Issue = {
  code: 'BEING_DELETED',
  message: 'The record is being deleted together with another one, by a job that still runs.',
}

/** Whether a live record has a deleted ancestor by `cascade`. */
export function* isPendingDeletion(
  context: SqlContext,
  resource: Resource,
  record: RecordValues | Row,
): Transaction<boolean> {
  if (!hasCascadeParents(resource) || !(yield* isDeletionRunning())) return false
  const seen = new Set<string>()
  const above = parentsOf(resource, record)
  for (let next = above.pop(); next !== undefined; next = above.pop()) {
    const { collection, id } = next
    if (seen.has(`${collection} ${id}`)) continue
    seen.add(`${collection} ${id}`)
    const parent = resourceOf(context.catalog, collection)
    const columns = ['id', ...cascadeFields(parent)].map((name) => raw(`"${name}"`))
    const [row] =
      yield sql`select ${join(columns, ', ')} from ${tableSql(collection)} where id = ${id} and deleted_at is null`
    if (row === undefined) return true
    above.push(...parentsOf(parent, row))
  }
  return false
}

/** Whether a record may not be referred to: it is pending deletion, or a deletion that still runs has deleted it. */
export function* isBeingDeleted(context: SqlContext, collection: string, id: string): Transaction<boolean> {
  if (!(yield* isDeletionRunning())) return false
  const resource = resourceOf(context.catalog, collection)
  const [row] = yield sql`select ${storedSql(context, resource)} from ${tableSql(collection)} where id = ${id}`
  if (row === undefined) return false
  if (row['deleted_at'] === null) return yield* isPendingDeletion(context, resource, row)
  return yield* isJobRunning(String(row['_deletion']))
}

/** Whether a job is not finished. */
export function* isJobRunning(job: string): Transaction<boolean> {
  return (yield sql`select job from resourced_work where job = ${job}`).length > 0
}

/** A row if any deletion job runs. */
const runningDeletionsSql: Sql = sql`select job from resourced_work where task = 'deletion' limit 1`

/** Whether any deletion job runs. */
export function* isDeletionRunning(): Transaction<boolean> {
  return (yield runningDeletionsSql).length > 0
}

/**
 * A condition on a record that a statement refers to or changes: no deletion job has claimed it (`claimRows`). A
 * statement that waited for the transaction which began the job has an older snapshot and does not see the job. It does
 * see the new version of the row that it waited for.
 */
const unclaimed: Sql = sql`_deletion is null`

/** Whether records of a resource are deleted together with a record that they refer to. */
export function hasCascadeParents(resource: Resource): boolean {
  return cascadeFields(resource).length > 0
}

/** The reference fields with `cascade`. */
function cascadeFields({ fields }: Resource): string[] {
  return fields.filter(({ reference }) => reference?.onDelete === 'cascade').map(({ name }) => name)
}

function parentsOf(resource: Resource, record: RecordValues | Row): { collection: string; id: string }[] {
  return cascadeFields(resource).flatMap((name) => {
    const id = record[name]
    return typeof id === 'string' ? [{ collection: String(resource.field.get(name)?.reference?.collection), id }] : []
  })
}

/** How many of some collections business rules are about. */
type Ruled = 'none' | 'some' | 'all'

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
export function* lockRules({ engine: { lock } }: SqlContext): Transaction<void> {
  if (lock.excludeSerializable !== undefined) yield ignoringRows(lock.excludeSerializable)
}

/** The same for a transaction that is never serializable, if rules are about any of its collections. */
export function* lockAllRulesBelow(context: SqlContext, collection: string): Transaction<void> {
  if (!context.catalog.resources.has(collection)) return
  if (ruledBelow(context, resourceOf(context.catalog, collection)) !== 'none') yield* lockRules(context)
}
