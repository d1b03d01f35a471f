/** A record as it is answered after a change. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { always, type Predicate } from '../../model/predicate.ts'
import type { Found } from '../../plan/admit.ts'
import type { Represented, Write } from '../../plan/plan.ts'
import { revisionColumn } from '../sql/epoch.ts'
import { type SqlContext, tableSql } from '../sql/predicate.ts'
import { representationSql, subject } from '../sql/represent.ts'
import { type Row, single, type Transaction } from '../transaction.ts'
import { foundOf, holdsSql } from './read-record.ts'

/** A record as it is answered, and whether the caller may see it. */
export interface Answered extends Represented {
  readonly readable: boolean
}

/** Reads a record as it is answered. */
export function* represent(
  context: SqlContext,
  plan: Pick<Write, 'resource' | 'shown'>,
  id: string,
  mayRead: Predicate = always,
): Transaction<Answered> {
  const answer = answerSql(context, plan, mayRead)
  return answeredOf(
    yield* single(sql`select ${answer} from ${tableSql(plan.resource.name)} ${raw(subject)} where id = ${id}`),
  )
}

/** The columns of a record as it is answered. */
export function answerSql(
  context: SqlContext,
  { resource, shown }: Pick<Write, 'resource' | 'shown'>,
  mayRead: Predicate,
): Sql {
  return sql`${representationSql(context, shown ?? resource, undefined)} as json, ${revisionColumn(context, resource.name)}, updated_at, ${holdsSql(context, resource, mayRead)} as _permitted`
}

/** A row of those columns. */
export function answeredOf(row: Row | undefined): Answered {
  const { revision, updatedAt, permitted } = foundOf(row) as Found
  return { json: String(row?.['json']), revision, updatedAt, readable: permitted }
}
