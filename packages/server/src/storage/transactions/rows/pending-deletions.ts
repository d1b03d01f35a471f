/**
 * Records that a running deletion job will delete. Nobody may change them or refer to them anew, and no mark says so:
 * it follows from what the job has to do, because marks on every record would be a second write of everything.
 *
 * - Records depend on others by `cascade`. A live record below a deleted one is pending deletion, because jobs go
 *   downwards.
 * - A deletion by filter of many records keeps its filter. A live record that matches it, and that the job has not come
 *   to, is pending deletion.
 * - A deletion that is still being checked has announced its records. They are pending deletion until the check ends.
 * - A restoration of many records, or the undoing of a deletion, makes records live again in batches. They count as
 *   pending deletion until all of them are live, because until then it may delete them again.
 */

import { fieldsOf, type Predicate } from 'resourced-contract/model/predicate'
import type { Catalog, RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql, type PredicateContext } from '../../sql/predicate.ts'
import { storedSql } from '../../sql/records.ts'
import { ignoringRows, type Row, type Transaction } from '../../transaction.ts'

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

/** The records that a deletion by filter has still to delete: those that match, in the order of their rows. */
export interface Selection {
  readonly filter: Predicate
  /** The job has come to all rows up to this one. */
  readonly at: number
  /** The last row when the deletion was accepted. */
  readonly last: number
  /** No record was created later when the deletion was accepted. */
  readonly newest: string
}

/** A deletion whose job runs, or that is still being checked. */
interface RunningDeletion {
  readonly job: string
  readonly collection: string
  /** Whether it is still being checked: then nothing is deleted yet. */
  readonly isAnnounced: boolean
  /** The records that were asked for by their ids. */
  readonly ids: readonly string[]
  readonly selection: Selection | undefined
  /** The mark of the records that are made live again, while they are. */
  readonly reviving: string | undefined
  /** The deletion whose records are restored. */
  readonly restores: string | undefined
}

const revivingPhases: ReadonlySet<unknown> = new Set(['revive', 'last', 'retract'])

/** A row for each running deletion. */
const runningDeletionsSql: Sql = sql`select job, state from resourced_work where task = 'deletion'`

/** A condition that no deletion runs. */
export const noDeletionRuns: Sql = sql`not exists (select job from resourced_work where task = 'deletion' limit 1)`

/** The deletions that run. */
function* runningDeletions(): Transaction<RunningDeletion[]> {
  return (yield runningDeletionsSql).map((row) => {
    const { collection, phase, ids, selection, restoration } = JSON.parse(String(row['state']))
    const job = String(row['job'])
    const reviving = revivingPhases.has(phase) ? (restoration?.mark ?? job) : undefined
    const restores = restoration?.deletion
    return { job, collection, isAnnounced: phase === 'check', ids, selection, reviving, restores }
  })
}

/** The deletions whose records are being restored: nothing may remove those. */
export function* restoredDeletions(): Transaction<string[]> {
  return (yield* runningDeletions()).flatMap(({ job, restores }) => (restores === undefined ? [] : [job, restores]))
}

/** Whether any deletion job runs. */
export function* isDeletionRunning(): Transaction<boolean> {
  return (yield runningDeletionsSql).length > 0
}

/** Whether a deletion is not finished, or a restoration of its records. */
export function* isJobRunning(job: string): Transaction<boolean> {
  return (yield* runningDeletions()).some((running) => running.job === job || running.restores === job)
}

/** The key of a job in the queue under which records are listed that its filter no longer decides about. */
export function listKey(job: string, list: 'selected' | 'kept'): string {
  return `${job} ${list}`
}

/** The records in one of these lists, among others. */
export function listedSql({ dialect }: SqlContext, key: string, ids: readonly string[]): Sql {
  return sql`select record from resourced_queue where job = ${key} and ${dialect.isAnyOf(raw('record'), ids)}`
}

/** A condition on rows of the subject: the filter of a selection decides about them. */
export function selectionRange({ dialect }: SqlContext, { at, last, newest }: Selection): Sql {
  const [row, created] = [columnSql(subject, '_row'), columnSql(subject, 'created_at')]
  // SQLite gives the number of the last row anew once that row is removed.
  const isOld = dialect.lock.hasOtherWriters ? empty : sql` and ${created} <= ${newest}`
  return sql`${row} > ${at} and ${row} <= ${last}${isOld}`
}

/** A condition on live rows of the subject: a deletion by filter has still to delete them. */
export function selectedSql(context: PredicateContext, resource: Resource, job: string, selection: Selection): Sql {
  const id = columnSql(subject, 'id')
  const isListed = (list: 'selected' | 'kept') =>
    sql`exists (select 1 from resourced_queue where job = ${listKey(job, list)} and record = ${id})`
  const matches = sql`${selectionRange(context, selection)} and ${liveSql(context, resource, selection.filter)}`
  return sql`((${matches} and not ${isListed('kept')}) or ${isListed('selected')})`
}

/** Whether the declaration still has what a selection asks for. */
function isDecidable(resource: Resource, { filter }: Selection): boolean {
  const system = ['id', 'created_at', 'updated_at', 'deleted_at']
  return fieldsOf(filter).every((name) => resource.field.has(name) || system.includes(name))
}

/** Whether a record can be pending deletion at all. */
export function canBePending({ catalog }: SqlContext, resource: Resource): boolean {
  if (resource.deletion.byFilter || cascadeFields(resource).length > 0) return true
  // A deletion of many records is announced before it is checked.
  return cascadesOf(catalog, resource.name).length > 0
}

/** Whether a live record is pending deletion. */
export function* isPendingDeletion(
  context: SqlContext,
  resource: Resource,
  record: RecordValues | Row,
): Transaction<boolean> {
  if (!canBePending(context, resource)) return false
  const running = yield* runningDeletions()
  if (running.length === 0) return false
  const seen = new Set<string>()
  const above = [{ resource, row: record }]
  for (let next = above.pop(); next !== undefined; next = above.pop()) {
    if (yield* isRequested(context, next.resource, String(next.row['id']), running)) return true
    for (const { collection, id } of parentsOf(next.resource, next.row)) {
      if (seen.has(`${collection} ${id}`)) continue
      seen.add(`${collection} ${id}`)
      const parent = resourceOf(context.catalog, collection)
      const columns = ['id', ...cascadeFields(parent)].map((name) => raw(`"${name}"`))
      const [row] =
        yield sql`select ${join(columns, ', ')} from ${tableSql(collection)} where id = ${id} and deleted_at is null`
      if (row === undefined) return true
      above.push({ resource: parent, row })
    }
  }
  return false
}

/** Whether running deletions ask for a live record itself. */
function* isRequested(
  context: SqlContext,
  resource: Resource,
  id: string,
  running: readonly RunningDeletion[],
): Transaction<boolean> {
  for (const { job, collection, isAnnounced, ids, selection, reviving } of running) {
    if (reviving !== undefined) {
      const isRevived = sql`id = ${id} and _deletion = ${reviving} and deleted_at is null`
      if ((yield sql`select 1 as one from ${tableSql(resource.name)} where ${isRevived}`).length > 0) return true
    }
    if (collection !== resource.name) continue
    if (isAnnounced && ids.includes(id)) return true
    if (selection === undefined || !isDecidable(resource, selection)) continue
    const isSelected = selectedSql(context, resource, job, selection)
    const from = sql`${subjectSql(collection)} where ${columnSql(subject, 'id')} = ${id}`
    if ((yield sql`select 1 as one from ${from} and ${isSelected}`).length > 0) return true
  }
  return false
}

/**
 * Settles which of some live records a deletion by filter deletes, before a change of them that may make them match its
 * filter, or match no longer: those that match now, whatever they become. A change by a caller concerns only records
 * that do not match; a reference that is cleared may be one of a record that matches.
 */
export function* settleSelections(context: SqlContext, collection: string, ids: readonly string[]): Transaction<void> {
  const resource = resourceOf(context.catalog, collection)
  if (!resource.deletion.byFilter || ids.length === 0) return
  for (const { job, selection, ...running } of yield* runningDeletions()) {
    if (running.collection !== collection || selection === undefined || !isDecidable(resource, selection)) continue
    const isSelected = selectedSql(context, resource, job, selection)
    const range = selectionRange(context, selection)
    for (const [list, which] of [
      ['selected', isSelected],
      ['kept', sql`${range} and ${isSelected} is not true`],
    ] as const) {
      const key = listKey(job, list)
      const listed = sql`select 1 from resourced_queue where job = ${key} and record = ${columnSql(subject, 'id')}`
      const among = context.dialect.isAnyOf(columnSql(subject, 'id'), ids)
      const from = sql`${subjectSql(collection)} where ${among} and ${which} and not exists (${listed})`
      yield ignoringRows(
        sql`insert into resourced_queue (job, collection, record) select ${key}, ${collection}, id from ${from}`,
      )
    }
  }
}

/** Whether a record may not be referred to: it is pending deletion, or a deletion that still runs has deleted it. */
export function* isBeingDeleted(context: SqlContext, collection: string, id: string): Transaction<boolean> {
  if (!(yield* isDeletionRunning())) return false
  const resource = resourceOf(context.catalog, collection)
  const [row] = yield sql`select ${storedSql(context, resource)} from ${tableSql(collection)} where id = ${id}`
  if (row === undefined) return false
  if (row['deleted_at'] === null) return yield* isPendingDeletion(context, resource, row)
  const deletion = row['_deletion']
  return typeof deletion === 'string' && (yield* isJobRunning(deletion))
}

/**
 * A condition on a record that a statement refers to or changes: no deletion job has claimed it (`claimRows`). A
 * statement that waited for the transaction which began the job has an older snapshot and does not see the job. It does
 * see the new version of the row that it waited for.
 */
export const unclaimed: Sql = sql`_deletion is null`

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
