/** Whether a caller may make of a record what a draft would make of it. */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { collectionsOf, type Predicate } from '../../model/predicate.ts'
import type { RecordValues, Resource } from '../../model/resource.ts'
import { questionsOfDraft, refusalOf } from '../../plan/decide.ts'
import type { Draft } from '../../plan/draft.ts'
import type { Outcome } from '../../plan/plan.ts'
import { columnsOf } from '../sql/columns.ts'
import { predicateSql, type SqlContext } from '../sql/predicate.ts'
import { subject } from '../sql/represent.ts'
import { boundOf } from '../sql/rows.ts'
import { single, type Transaction } from '../transaction.ts'
import { ask } from './ask.ts'

/** The refusal of a draft that a permission does not hold for. */
export function* admitDraft(
  context: SqlContext,
  resource: Resource,
  permission: Predicate,
  draft: Draft,
): Transaction<Outcome | undefined> {
  if (yield* holdsFor(context, resource, permission, draft.values)) return undefined
  const references = questionsOfDraft(resource, draft).filter((question) => question.kind === 'reference')
  return refusalOf(permission, draft, yield* ask(context, resource, references))
}

/** Whether a predicate holds for a record that is not in its table (yet): it is made up as a row of its own. */
export function* holdsFor(
  context: SqlContext,
  resource: Resource,
  predicate: Predicate,
  record: RecordValues,
): Transaction<boolean> {
  if (predicate.kind === 'always' || predicate.kind === 'never') return predicate.kind === 'always'
  const row = yield* single(permittedSql(context, resource, predicate, record))
  return row !== undefined
}

/**
 * A select that gives a row where a predicate holds for a record as it will be. The records that permit it are locked. Where
 * `through` comes back to the record itself, it finds it as it will be too.
 */
export function permittedSql(context: SqlContext, resource: Resource, predicate: Predicate, record: RecordValues): Sql {
  const row = rowSql(context, resource, record)
  const isOwnParent = collectionsOf(predicate).has(resource.name)
  const changed = { collection: resource.name, id: String(record['id']), row }
  const inner = { ...context, holding: true, ...(isOwnParent && { changed }) }
  return sql`select 1 as one from (${row}) ${raw(subject)} where ${predicateSql(inner, resource, subject, predicate)}`
}

/** A record as a row that is in no table. */
function rowSql({ engine }: SqlContext, resource: Resource, record: RecordValues): Sql {
  const { typed } = engine
  const columns = columnsOf(resource).map(
    (column) => sql`${typed(boundOf(column, record), column.type)} as ${raw(`"${column.name}"`)}`,
  )
  for (const name of ['id', 'created_at', 'updated_at', 'deleted_at']) {
    columns.push(sql`${typed(record[name] as string | null, 'text')} as ${raw(name)}`)
  }
  return sql`select ${join(columns, ', ')}`
}
