/** The statement that writes one row of a record, and what goes with it. */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { RecordValues, Resource } from '../../model/resource.ts'
import type { Draft } from '../../plan/draft.ts'
import { tick } from './clock.ts'
import { columnsOf } from './columns.ts'
import { type Compiler, tableSql } from './predicate.ts'
import { boundOf, searchWords } from './rows.ts'
import { blind, type Transaction } from './transaction.ts'

/** What changes one row, and the search words of it that stand elsewhere. */
export interface RecordChange {
  readonly id: string
  readonly change: Sql
  readonly words: string | undefined
  /** Whether there were words before. */
  readonly replaces: boolean
}

/** The insertion of a record, where conditions hold. */
export function insertion(
  { expressions }: Compiler,
  resource: Resource,
  record: RecordValues,
  conditions: readonly Sql[] = [],
): RecordChange {
  const words = resource.fields.some((field) => field.search) ? searchWords(resource, record) : undefined
  const columns = columnsOf(resource)
  const indexed = words === undefined ? [] : expressions.wordColumns(words)
  const names = [
    'id',
    ...columns.map((column) => column.name),
    ...['created_at', 'updated_at', '_revision'],
    ...indexed.map(([name]) => name),
  ]
  const values = [
    record['id'],
    ...columns.map((column) => boundOf(column, record)),
    ...[record['created_at'], record['updated_at'], 1],
    ...indexed.map(([, value]) => value),
  ]
  const source =
    conditions.length === 0
      ? sql`values (${join(values, ', ')})`
      : sql`select ${join(values, ', ')} where ${join(conditions, ' and ')}`
  // Without RETURNING, for which SQLite would keep a copy of every page that it changes.
  const change = sql`insert into ${tableSql(resource.name)} (${raw(names.map((name) => `"${name}"`).join(', '))}) ${source}`
  return { id: String(record['id']), change, words, replaces: false }
}

/** The change of a record, where conditions hold. */
export function change(
  { expressions }: Compiler,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  conditions: readonly Sql[] = [],
): RecordChange {
  const isWord = resource.fields.some((field) => field.search && changed.includes(field.name))
  const words = isWord ? searchWords(resource, values) : undefined
  const columns = columnsOf(resource).filter((column) => changed.includes(column.field.name))
  const settings = columns.map((column) => sql`${raw(`"${column.name}"`)} = ${boundOf(column, values)}`)
  const indexed = words === undefined ? [] : expressions.wordColumns(words)
  for (const [name, value] of indexed) settings.push(sql`${raw(`"${name}"`)} = ${value}`)
  const id = String(values['id'])
  const statement = sql`update ${tableSql(resource.name)} set ${join(settings, ', ')}, updated_at = ${values['updated_at']}, _revision = _revision + 1 where ${join([sql`id = ${id}`, ...conditions], ' and ')}`
  return { id, change: statement, words, replaces: true }
}

/** Writes a row, and the words of it that stand elsewhere. */
export function* carryOut(
  { expressions }: Compiler,
  resource: Resource,
  { id, change, words, replaces }: RecordChange,
) {
  yield blind(change)
  if (words !== undefined) yield* expressions.indexWords(resource.name, id, words, replaces)
}

/** Writes a new record, and its words. The clock is the caller's. */
export function* insertRecord(compiler: Compiler, resource: Resource, record: RecordValues): Transaction<void> {
  yield* carryOut(compiler, resource, insertion(compiler, resource, record))
}

/** Writes the fields of a record that have changed, and moves the clock on. */
export function* changeRecord(
  compiler: Compiler,
  resource: Resource,
  draft: Pick<Draft, 'values' | 'changed'>,
): Transaction<void> {
  yield* carryOut(compiler, resource, change(compiler, resource, draft))
  yield blind(tick(compiler, resource.name, 0, 0))
}
