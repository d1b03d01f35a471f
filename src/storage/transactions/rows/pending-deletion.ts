/**
 * Records on their way out. A deletion job takes its targets at once and what hangs under them batch by batch, downwards:
 * until it is there, a live record that hangs on a deleted one is going too. Nobody may change it, or refer to it anew.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { RecordValues, Resource } from '../../../model/resource.ts'
import type { Issue } from '../../../spec/faults.ts'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { storedSql } from '../../sql/rows.ts'
import type { Row, Transaction } from '../../transaction.ts'
import { resourceOf } from './dependents.ts'

/** What is said to whoever would change a record that is going. */
export const goingIssue: Issue = {
  code: 'BEING_DELETED',
  message: 'The record is being deleted together with another one, by a job that still runs.',
}

/** Whether a live record hangs, at whatever height, on a deleted one. */
export function* isGoing(context: SqlContext, resource: Resource, record: RecordValues | Row): Transaction<boolean> {
  if (upwardOf(resource).length === 0 || !(yield* deletionsRun())) return false
  const seen = new Set<string>()
  const above = parentsOf(resource, record)
  for (let next = above.pop(); next !== undefined; next = above.pop()) {
    const { collection, id } = next
    if (seen.has(`${collection} ${id}`)) continue
    seen.add(`${collection} ${id}`)
    const parent = resourceOf(context.catalog, collection)
    const columns = ['id', ...upwardOf(parent)].map((name) => raw(`"${name}"`))
    const [row] =
      yield sql`select ${join(columns, ', ')} from ${tableSql(collection)} where id = ${id} and deleted_at is null`
    if (row === undefined) return true
    above.push(...parentsOf(parent, row))
  }
  return false
}

/** Whether a record may not be referred to because it is going, or was just taken by a deletion that still runs. */
export function* isBeingDeleted(context: SqlContext, collection: string, id: string): Transaction<boolean> {
  if (!(yield* deletionsRun())) return false
  const resource = resourceOf(context.catalog, collection)
  const [row] = yield sql`select ${storedSql(context, resource)} from ${tableSql(collection)} where id = ${id}`
  if (row === undefined) return false
  if (row['deleted_at'] === null) return yield* isGoing(context, resource, row)
  return yield* isRunning(String(row['_deletion']))
}

/** Whether a deletion is a job that still runs. */
export function* isRunning(deletion: string): Transaction<boolean> {
  const rows = yield sql`select job from resourced_work where job = ${deletion}`
  return rows.length > 0
}

/** Whether records of a resource can hang on others. */
export function canHang(resource: Resource): boolean {
  return upwardOf(resource).length > 0
}

/** Whether any deletion is a job that still runs: as a select. */
export const deletionsRunSql: Sql = sql`select job from resourced_work where task = 'deletion' limit 1`

/** Whether any deletion is a job that still runs. */
export function* deletionsRun(): Transaction<boolean> {
  const rows = yield deletionsRunSql
  return rows.length > 0
}

/** The fields by which records of a resource hang on others: deleted with them. */
function upwardOf({ fields }: Resource): string[] {
  return fields.filter(({ reference }) => reference?.onDelete === 'cascade').map(({ name }) => name)
}

function parentsOf(resource: Resource, record: RecordValues | Row): { collection: string; id: string }[] {
  return upwardOf(resource).flatMap((name) => {
    const id = record[name]
    return typeof id === 'string' ? [{ collection: String(resource.field.get(name)?.reference?.collection), id }] : []
  })
}

/** That no job has announced that it will take a record: a condition of one statement that refers to the record, or changes it. */
export const unannounced: Sql = sql`_deletion is null`
