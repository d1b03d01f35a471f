/** SQLite as an `Engine`: the words of its tables, of reads and writes of records, of JSON and of search. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Scalar } from '../../model/predicate.ts'
import type { Column } from '../sql/columns.ts'
import type { Engine } from '../sql/engine.ts'
import type { ColumnSpec, Constraint, Held, IndexSpec } from '../sql/table-spec.ts'
import { searchTable } from '../sql/tables.ts'
import { firstRow } from '../transaction.ts'
import { partName, partNames, partOf } from './search-parts.ts'

// SQLite has neither booleans nor JSON of its own: they are 0 and 1, and text.
const types = {
  text: 'text',
  integer: 'integer',
  real: 'real',
  boolean: 'integer',
  json: 'text',
  bytes: 'blob',
} as const

const constraints: Readonly<Record<Constraint, string>> = {
  row: ' primary key',
  'primary key': ' primary key',
  'unique not null': ' not null unique',
  'not null': ' not null',
  none: '',
}

const conditions: Readonly<Record<IndexSpec['where'], string>> = {
  everything: '',
  live: ' where deleted_at is null',
  deletion: ' where _deletion is not null',
}

// Words come from `words()` already, so the tokenizer only has to take them apart at the spaces: it keeps every kind of
// character that a word can have, and leaves marks alone. Without content the texts are not kept a second time.
const tokenizer = `content='', contentless_delete=1, tokenize="unicode61 categories 'L* M* N* Co' remove_diacritics 0"`

// Tidying goes along with changes, so many pages for so many changes: smaller pages make it smaller steps. It begins
// where half of the rows are gone: at a tenth, the default, a purge of everything would write the index nine times
// over.
const settings = { pgsz: 500, deletemerge: 50 } as const

/** The name of the function, registered on each connection, that folds case. */
export const foldFunction = 'resourced_fold'

/** The name of the function, registered on each connection, that writes a number in the fewest digits that keep it. */
export const numberFunction = 'resourced_number'

/** The name of the function, registered on each connection, that looks for words in texts. */
export const wordsFunction = 'resourced_has_words'

/**
 * A number as JSON, as `numberText` writes it. Whole ones stand without a point. SQLite writes what 15 digits cannot
 * keep in 17, where 16 may do, and exponents in its own way: what is that long, that small or that large goes the
 * slower way.
 */
function realSql(column: Sql): Sql {
  const whole = sql`${column} = cast(${column} as integer) and abs(${column}) < 9007199254740992`
  const unlike = sql`length(${column}) > 16 or abs(${column}) not between 1e-4 and 9007199254740991`
  return sql`case when ${whole} then cast(${column} as integer) when ${unlike} then json(${raw(numberFunction)}(${column})) else ${column} end`
}

function jsonValue(column: Sql, type: Column['type']): Sql {
  if (type === 'boolean') return sql`json(case ${column} when 1 then 'true' when 0 then 'false' end)`
  if (type === 'json') return sql`json(${column})`
  if (type === 'real') return realSql(column)
  return column
}

function bind(value: Scalar): string | number {
  return typeof value === 'boolean' ? Number(value) : value
}

function partSql(collection: string, part: number): Sql {
  return raw(`"${partName(searchTable(collection), part)}"`)
}

/** SQLite 3.53, as it comes with the pinned Node. */
export const sqlite: Engine = {
  layout: { clockSlots: 1, indexesRowNumber: false, storesExports: false },
  types,
  identifier,
  columnDefinition,
  createTable: ({ name, columns }) =>
    `create table ${identifier(name)} (${columns.map(columnDefinition).join(', ')}) strict`,
  createIndex: ({ name, table, columns, unique, where }) =>
    `create ${unique ? 'unique ' : ''}index ${identifier(name)} on ${identifier(table)} ` +
    `(${columns.map(identifier).join(', ')})${conditions[where]}`,
  createSearch: ({ name }) => partNames(name).map(createPart).join('; '),
  store,
  bind,
  isDistinct: (column, value) => sql`${column} is not ${value}`,
  isAnyOf: (column, values) => sql`${column} in (select value from json_each(${JSON.stringify(values.map(bind))}))`,
  isInSubquery: (column, select) => sql`${column} in (${select})`,
  fence: empty,
  fold: (column) => sql`${raw(foldFunction)}(${column})`,
  unindexed: (expression) => sql`+(${expression})`,
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  startsWith: (text, part) => sql`substr(${text}, 1, ${[...part].length}) = ${part}`,
  matchesSearch(collection, alias, words) {
    // Words hold letters and digits only, so quoting them is enough to keep operators out.
    const match = words.map((word, index) => `"${word}"${index === words.length - 1 ? '*' : ''}`).join(' ')
    const parts = partNames(searchTable(collection)).map((name) => raw(`"${name}"`))
    const found = parts.map((part) => sql`select rowid from ${part} where ${part} match ${match}`)
    return sql`${raw(alias)}._row in (${join(found, ' union all ')})`
  },
  haveWords: (texts, words) => sql`${raw(wordsFunction)}(${JSON.stringify(words)}, ${join(texts, ', ')})`,
  *indexWords(collection, id, words, replaces) {
    const found = yield* firstRow(sql`select _row from ${raw(`"${collection}"`)} where id = ${id}`)
    const row = Number(found?.['_row'])
    const part = partSql(collection, partOf(row))
    if (replaces) yield sql`delete from ${part} where rowid = ${row}`
    yield sql`insert into ${part} (rowid, words) values (${row}, ${words})`
  },
  *deleteWords(collection, ids) {
    const found =
      yield sql`select _row from ${raw(`"${collection}"`)} where id in (select value from json_each(${JSON.stringify(ids)}))`
    const rows = found.map((row) => Number(row['_row']))
    for (const [part, among] of Map.groupBy(rows, partOf)) {
      yield sql`delete from ${partSql(collection, part)} where rowid in (select value from json_each(${JSON.stringify(among)}))`
    }
  },
  wordColumns: () => [],
  jsonObject: (members) =>
    sql`json_object(${join(
      members.map(([name, value]) => sql`${raw(`'${name}'`)}, ${value}`),
      ', ',
    )})`,
  jsonValue,
  jsonUnescaped: (column) => column,
  limit: (count) => sql`limit ${count}`,
  jsonInteger: (column, member) => sql`json_extract(${column}, ${raw(`'$.${member}'`)})`,
  // SQLite writes a number in a text as it does in JSON.
  jsonText: (column, type) => sql`cast(${jsonValue(column, type)} as text)`,
  jsonLiteral: (value) => sql`json(${JSON.stringify(value)})`,
  storedBytes: (column) => sql`octet_length(${column})`,
  jsonKeys: (columns) =>
    sql`json_array(${join(
      columns.map(([column]) => column),
      ', ',
    )})`,
  joinRows: (text) => sql`group_concat(${text}, ',' || char(10))`,
  cast: (value) => sql`${value}`,
  lock: {
    hasOtherWriters: false,
    orderById: empty,
    update: empty,
    share: empty,
    skipLocked: empty,
    excludeSerializable: undefined,
  },
  clockChecksum: raw('0'),
  clockSlot: empty,
  tryAdvisoryLock: undefined,
  advisoryLock: undefined,
  writeReturning: undefined,
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function createPart(name: string): string {
  const part = identifier(name)
  const set = Object.entries(settings).map(
    ([word, value]) => `insert into ${part} (${part}, rank) values ('${word}', ${value})`,
  )
  return [`create virtual table ${part} using fts5 (words, ${tokenizer})`, ...set].join('; ')
}

function columnDefinition({ name, type, constraint }: ColumnSpec): string {
  return `${identifier(name)} ${types[type]}${constraints[constraint]}`
}

function store(value: unknown, holds: Held): unknown {
  if (value === null || value === undefined) return null
  if (holds === 'boolean') return value === true ? 1 : 0
  return holds === 'array' || holds === 'object' || holds === 'json' ? JSON.stringify(value) : value
}
