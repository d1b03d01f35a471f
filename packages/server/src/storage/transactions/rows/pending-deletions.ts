/**
 * Records that are on the work list of a deletion or a restoration (`delete/work-list.ts`): live records with the mark
 * of one, in `_deletion`. Nobody else may change them, or refer to them anew, until the deletion has come to them, or
 * the mark is removed. The mark is in the row itself, so a statement that waited for the row sees it.
 */

import type { Catalog, Resource } from 'resourced-contract/model/resource'
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
export function canBePending({ catalog }: SqlContext, { name, fields, deletion }: Resource): boolean {
  const hasParents = fields.some(({ reference }) => reference?.onDelete === 'cascade')
  return hasParents || deletion.byFilter || cascadesOf(catalog, name).length > 0
}

/** A condition on a live row: it is on no work list. */
export const unmarked: Sql = sql`_deletion is null`

/** Whether a live record is on a work list. */
export function* isPendingDeletion(
  context: SqlContext,
  resource: Resource,
  { id }: Readonly<Record<string, unknown>>,
): Transaction<boolean> {
  if (!canBePending(context, resource)) return false
  const pending = sql`id = ${String(id)} and deleted_at is null and not (${unmarked})`
  return (yield sql`select 1 as one from ${tableSql(resource.name)} where ${pending}`).length > 0
}

/** Whether a record may not be referred to: it is on a work list, or a deletion that still runs has deleted it. */
export function* isBeingDeleted(_: SqlContext, collection: string, id: string): Transaction<boolean> {
  const row = yield* firstRow(sql`select deleted_at, _deletion from ${tableSql(collection)} where id = ${id}`)
  const mark = row?.['_deletion']
  if (typeof mark !== 'string') return false
  return row?.['deleted_at'] === null || (yield* isWorkRunning(mark))
}

/** The same as a condition on a row with an alias. */
export function isBeingDeletedSql(alias: Sql): Sql {
  const runs = sql`${alias}._deletion in (select job from resourced_work where task = 'deletion')`
  return sql`${alias}._deletion is not null and (${alias}.deleted_at is null or ${runs})`
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
