/**
 * Records that are on the work list of a deletion, a restoration or a change by filter (`delete/work-list.ts`): live
 * records with the mark of one, in `_deletion`. Nobody else may change them, or refer to those that are deleted, until
 * the deletion has come to them, or the mark is removed. The mark is in the row itself, so a statement that waited for
 * the row sees it.
 */

import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { type Issue, issue, type Place } from 'resourced-contract/spec/faults'
import sql, { type Sql } from 'sql-template-tag'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { firstRow, type Transaction } from '../../transaction.ts'

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
