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
 *
 * Records on the work list of a deletion, a restoration or a change by filter (`delete/work-list.ts`): live records
 * with its mark, in `_deletion`. Nobody else may change them, or refer to those that are deleted, until the deletion
 * has come to them, or the mark is removed. The mark is in the row itself: a statement that waited for the row sees it.
 */

import { collectionsOf, type Predicate } from 'resourced-contract/model/predicate'
import type { Catalog, RecordValues, Resource } from 'resourced-contract/model/resource'
import { type Issue, issue, type Place } from 'resourced-contract/spec/faults'
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
import { columnSql, columnsOf, comparisonColumn, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import { boundOf } from '../../sql/records.ts'
import { shareLock } from '../../sql/totals.ts'
import { firstRow, ignoringRows, type Transaction } from '../../transaction.ts'

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
    const exists = row?.[`a${index}`] === 1 || (yield* isAmong(context, question))
    answers.push([question, (yield* isReferenceDeleted(context, question, exists)) ? 'being-deleted' : exists])
  }
  return answers
}

/** Whether a record that does not count as it is stored is what a business rule asks for. */
function* isAmong(context: SqlContext, question: Question): Transaction<boolean> {
  if (question.kind !== 'rule') return false
  for (const record of question.instead ?? []) {
    if (yield* holdsFor(context, resourceOf(context.catalog, question.collection), question.where, record)) return true
  }
  return false
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
  const ids = (question.instead ?? []).map((record) => String(record['id']))
  const others = ids.length === 0 ? empty : sql` and not ${context.dialect.isAnyOf(sql`id`, ids)}`
  const where = predicateSql(context, target, question.where)
  return sql`${subjectSql(target.name)} where deleted_at is null${others} and ${where}`
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

/** Whether records can be on a work list while others may change them. */
export function canBePending({ catalog }: SqlContext, { name, fields, deletion, updates }: Resource): boolean {
  const hasParents = fields.some(({ reference }) => reference?.onDelete === 'cascade')
  return hasParents || deletion.byFilter || updates.byFilter || cascadesOf(catalog, name).length > 0
}

/** A condition on a live row: it is on no work list. */
export const unmarked: Sql = sql`_deletion is null`

/** What the mark of a change by filter begins with. */
const changeMark = 'change '

/** The mark of the records of a change by filter. */
export function markOfChange(job: string): string {
  return `${changeMark}${job}`
}

/** Whether a mark is that of a change by filter. */
export function isMarkOfChange(mark: string): boolean {
  return mark.startsWith(changeMark)
}

/** A condition on a live row: it is on the work list of a change by filter. */
export const changing: Sql = sql`_deletion like ${`${changeMark}%`}`

/** A condition on a live row: it is on no work list but that of a change by filter, after which it is live too. */
export const referable: Sql = sql`(_deletion is null or ${changing})`

/** The issue of a record with the mark of others' work. */
export function pendingIssue(mark: string, place: Place = {}): Issue {
  return issue(isMarkOfChange(mark) ? 'BEING_CHANGED' : 'BEING_DELETED', place)
}

/**
 * Whether a change by filter that runs changes references to records which a deletion of a resource's record reaches.
 */
export function* isHeldByChange({ catalog }: SqlContext, resource: Resource): Transaction<boolean> {
  const reached = new Set(cascadeReach(catalog, resource).map(({ name }) => name))
  const isReferring = ({ fields }: Resource) => fields.some(({ reference }) => reached.has(reference?.collection ?? ''))
  if (![...catalog.resources.values()].some((each) => each.updates.byFilter && isReferring(each))) return false
  const rows = yield sql`select state from resourced_work where task = 'deletion'`
  return rows.some(({ state }) => {
    const { change } = JSON.parse(String(state)) as { readonly change?: { readonly holds: readonly string[] } }
    return change?.holds.some((name) => reached.has(name)) === true
  })
}

/** The mark of a live record that is on a work list; `undefined`: it is on none. */
export function* pendingMark(
  context: SqlContext,
  resource: Resource,
  { id }: Readonly<Record<string, unknown>>,
): Transaction<string | undefined> {
  if (!canBePending(context, resource)) return undefined
  const row = sql`select _deletion from ${tableSql(resource.name)} where id = ${String(id)} and deleted_at is null`
  const mark = (yield* firstRow(row))?.['_deletion']
  return typeof mark === 'string' ? mark : undefined
}

/** Whether a record may not be referred to: a deletion has it on its list, or still runs and has deleted it. */
export function* isBeingDeleted(_: SqlContext, collection: string, id: string): Transaction<boolean> {
  const row = yield* firstRow(sql`select deleted_at, _deletion from ${tableSql(collection)} where id = ${id}`)
  const mark = row?.['_deletion']
  if (typeof mark !== 'string' || isMarkOfChange(mark)) return false
  return row?.['deleted_at'] === null || (yield* isWorkRunning(mark))
}

/** The same as a condition on a row with an alias. */
export function isBeingDeletedSql(alias: Sql): Sql {
  const runs = sql`${alias}._deletion in (select job from resourced_work where task = 'deletion')`
  const isListed = sql`${alias}.deleted_at is null and ${alias}._deletion not like ${`${changeMark}%`}`
  return sql`${alias}._deletion is not null and ((${isListed}) or ${runs})`
}

/** Whether a deletion is not finished, or a restoration of its records. */
export function* isWorkRunning(job: string): Transaction<boolean> {
  return (yield* marksInWork()).includes(job)
}

/** The marks of the records that unfinished deletions and restorations are about: no purge removes those. */
export function* marksInWork(): Transaction<string[]> {
  const rows = yield sql`select job, state from resourced_work where task = 'deletion'`
  return rows.flatMap(({ job, state }) => {
    const { restoration } = JSON.parse(String(state))
    return restoration === undefined ? [String(job)] : [String(job), restoration.deletion]
  })
}
