/** What must be so for a record to be written, as conditions of the statement that writes it. */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { Resource } from '../../model/resource.ts'
import type { Question } from '../../plan/decide.ts'
import type { Parent } from '../../plan/plan.ts'
import { predicateSql, type SqlContext, tableSql } from '../sql/predicate.ts'
import { subject } from '../sql/represent.ts'
import { askedSql } from './ask.ts'
import { unannounced } from './delete/announced.ts'
import { resourceOf } from './delete/closure.ts'
import { canHang, deletionsRunSql } from './delete/going.ts'

/** That references are there and values are free. A deletion that runs may be about to take what is changed, or referred to: that takes a longer look. */
export function conditionsOf(
  context: SqlContext,
  resource: Resource,
  questions: readonly Question[],
  mayBeGoing = false,
): Sql[] {
  let isAskedOfDeletions = mayBeGoing
  const conditions = questions.map((question) => {
    const hangs = question.kind === 'reference' && canHang(resourceOf(context.catalog, question.collection))
    if (hangs) isAskedOfDeletions = true
    const exists = sql`exists (select 1 from ${askedSql(context, resource, question, hangs ? sql` and ${unannounced}` : empty)})`
    return question.kind === 'reference' ? exists : sql`not ${exists}`
  })
  if (mayBeGoing) conditions.push(unannounced)
  if (isAskedOfDeletions) conditions.push(sql`not exists (${deletionsRunSql})`)
  return conditions
}

/** That a record is there, and one of those that are permitted. Records that permit it are locked. */
export function permittedRecordSql(
  context: SqlContext,
  { resource, id, permitted }: Pick<Parent, 'resource' | 'id' | 'permitted'>,
): Sql {
  const holding: SqlContext = { ...context, holding: true }
  return sql`exists (select 1 from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null and ${predicateSql(holding, resource, subject, permitted)})`
}

/** That the parent of a nested collection is there, and the caller may read it. It is locked. */
export function parentSql(context: SqlContext, { resource, id, permitted }: Parent): Sql {
  const holding: SqlContext = { ...context, holding: true }
  return sql`exists (select 1 from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null and ${predicateSql(holding, resource, subject, permitted)}${context.engine.lock.share})`
}
