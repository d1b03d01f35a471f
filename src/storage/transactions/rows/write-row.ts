/** The statement that writes one row of a record, and what goes with it. */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Draft } from '../../../model/record.ts'
import type { RecordValues, Resource } from '../../../model/resource.ts'
import { type Column, columnsOf, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Bound } from '../../sql/engine.ts'
import { boundOf, searchWords } from '../../sql/records.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { tick } from './clock.ts'

/** What changes one row, and the search words of it that stand elsewhere. */
export interface RecordChange {
  readonly id: string
  readonly change: Sql
  readonly words: string | undefined
  /** Whether there were words before. */
  readonly replaces: boolean
}

/** The insertion of a record. */
export function insertion(context: SqlContext, resource: Resource, record: RecordValues): RecordChange {
  const words = isSearched(resource) ? searchWords(resource, record) : undefined
  const change = insertionSql(context, resource, sourceOf(resource, record))
  return { id: String(record['id']), change, words, replaces: false }
}

/** The values of a record. */
export function sourceOf(resource: Resource, record: RecordValues): RowSource {
  return {
    system: (name) => record[name] as string,
    column: (column) => boundOf(column, record),
    words: (hold) => hold(searchWords(resource, record)),
  }
}

/** Where the values of a row come from. */
export interface RowSource {
  readonly system: (name: 'id' | 'created_at' | 'updated_at') => Bound
  readonly column: (column: Column) => Bound
  readonly words: (hold: (words: string) => Sql) => Sql
}

/** The statement that inserts a row, where conditions hold. */
export function insertionSql(
  { engine }: SqlContext,
  resource: Resource,
  { system, column, words }: RowSource,
  conditions: readonly Sql[] = [],
): Sql {
  const columns = columnsOf(resource)
  const indexed = (isSearched(resource) ? engine.wordColumns('') : []).map(
    ([name], index) => [name, words((text) => engine.wordColumns(text)[index]?.[1] as Sql)] as const,
  )
  const names = [
    'id',
    ...columns.map((column) => column.name),
    ...['created_at', 'updated_at', '_revision'],
    ...indexed.map(([name]) => name),
  ]
  const values = [
    system('id'),
    ...columns.map(column),
    ...[system('created_at'), system('updated_at'), 1],
    ...indexed.map(([, value]) => value),
  ]
  const source =
    conditions.length === 0
      ? sql`values (${join(values, ', ')})`
      : sql`select ${join(values, ', ')} where ${join(conditions, ' and ')}`
  // Without RETURNING, for which SQLite would keep a copy of every page that it changes.
  return sql`insert into ${tableSql(resource.name)} (${raw(names.map((name) => `"${name}"`).join(', '))}) ${source}`
}

function isSearched({ fields }: Resource): boolean {
  return fields.some((field) => field.search)
}

/** The change of a record, where conditions hold. */
export function change(
  { engine }: SqlContext,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  conditions: readonly Sql[] = [],
): RecordChange {
  const isWord = resource.fields.some((field) => field.search && changed.includes(field.name))
  const words = isWord ? searchWords(resource, values) : undefined
  const columns = columnsOf(resource).filter((column) => changed.includes(column.field.name))
  const settings = columns.map((column) => sql`${raw(`"${column.name}"`)} = ${boundOf(column, values)}`)
  const indexed = words === undefined ? [] : engine.wordColumns(words)
  for (const [name, value] of indexed) settings.push(sql`${raw(`"${name}"`)} = ${value}`)
  const id = String(values['id'])
  const statement = sql`update ${tableSql(resource.name)} set ${join(settings, ', ')}, updated_at = ${values['updated_at']}, _revision = _revision + 1 where ${join([sql`id = ${id}`, ...conditions], ' and ')}`
  return { id, change: statement, words, replaces: true }
}

/** Writes a row, and the words of it that stand elsewhere. */
export function* carryOut({ engine }: SqlContext, resource: Resource, { id, change, words, replaces }: RecordChange) {
  yield ignoringRows(change)
  if (words !== undefined) yield* engine.indexWords(resource.name, id, words, replaces)
}

/** Writes a new record, and its words. The clock is the caller's. */
export function* insertRecord(context: SqlContext, resource: Resource, record: RecordValues): Transaction<void> {
  yield* carryOut(context, resource, insertion(context, resource, record))
}

/** Writes the fields of a record that have changed, and moves the clock on. */
export function* changeRecord(
  context: SqlContext,
  resource: Resource,
  draft: Pick<Draft, 'values' | 'changed'>,
): Transaction<void> {
  yield* carryOut(context, resource, change(context, resource, draft))
  yield ignoringRows(tick(context, resource.name, 0, 0))
}
