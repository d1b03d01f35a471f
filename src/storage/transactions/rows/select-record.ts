/** Selects one record: for a change, with what the caller may do with it, and as the answer of a change. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { always, type Predicate } from '../../../model/predicate.ts'
import type { Resource } from '../../../model/resource.ts'
import type { CurrentRecord, Found } from '../../../plan/check-record.ts'
import type { Delete, Represented, Update, Write } from '../../../plan/plan.ts'
import { subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import { recordOf, representationSql, revisionColumn, storedSql } from '../../sql/records.ts'
import { firstRow, type Row, type Statement, standalone, type Transaction } from '../../transaction.ts'

interface Addressed extends Pick<Update | Delete, 'resource' | 'id' | 'permitted'> {
  /** The records that the caller may read; left out: all. */
  readonly mayRead?: Predicate
}

/** The record at a plan's address. The record is locked, and so are the records by which the permission holds. */
export function lockRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  return readCurrent(plan, sql`${currentSql({ ...context, locksReferenced: true }, plan)}${context.engine.lock.update}`)
}

/** The same without locks, before the transaction begins. */
export function peekRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  return readCurrent(plan, standalone(currentSql(context, plan), 'reading'))
}

function currentSql(context: PredicateContext, { resource, id, permitted, mayRead = always }: Addressed): Sql {
  const readable = mayRead.kind === 'always' ? empty : sql`, ${holdsSql(context, resource, mayRead)} as _readable`
  const isPermitted = holdsSql(context, resource, permitted)
  const columns = sql`${storedSql(context, resource)}, ${isPermitted} as _permitted${readable}`
  return sql`select ${columns} from ${subjectSql(resource.name)} where id = ${id} and deleted_at is null`
}

function* readCurrent({ resource, mayRead = always }: Addressed, statement: Statement): Transaction<CurrentRecord> {
  const row = yield* firstRow(statement)
  const isReadable = mayRead.kind === 'always' || row?.['_readable'] === 1
  return { found: foundOf(row), record: row === undefined ? undefined : recordOf(resource, row), isReadable }
}

/** A record as it answers a change, and whether the caller may see it. */
export interface Answered extends Represented {
  readonly readable: boolean
}

/** Selects a record as it answers a change. */
export function* represent(
  context: SqlContext,
  plan: Pick<Write, 'resource' | 'versionResource'>,
  id: string,
  mayRead: Predicate = always,
): Transaction<Answered> {
  const answer = answerSql(context, plan, mayRead)
  return answeredOf(yield* firstRow(sql`select ${answer} from ${subjectSql(plan.resource.name)} where id = ${id}`))
}

/** The columns of such a select. */
export function answerSql(
  context: SqlContext,
  { resource, versionResource }: Pick<Write, 'resource' | 'versionResource'>,
  mayRead: Predicate,
): Sql {
  const json = representationSql(context, versionResource ?? resource, undefined)
  const revision = revisionColumn(context, resource.name)
  return sql`${json} as json, ${revision}, updated_at, ${holdsSql(context, resource, mayRead)} as _permitted`
}

/** The record in a row of such a select. */
export function answeredOf(row: Row | undefined): Answered {
  const { revision, updatedAt, permitted } = foundOf(row) as Found
  return { json: String(row?.['json']), revision, updatedAt, readable: permitted }
}

/** A column that says whether a predicate holds for the row. */
export function holdsSql(context: PredicateContext, resource: Resource, predicate: Predicate): Sql {
  if (predicate.kind === 'always') return sql`1`
  return sql`case when ${predicateSql(context, resource, predicate)} then 1 else 0 end`
}

/** The state of a record in a row that has its validators. */
export function foundOf(row: Row | undefined): Found | undefined {
  if (row === undefined) return undefined
  return {
    revision: Number(row['_revision']),
    updatedAt: String(row['updated_at']),
    permitted: row['_permitted'] === 1,
  }
}
