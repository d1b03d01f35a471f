/** SQLite as an `Engine`: its SQL for tables, conditions, search and JSON. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Scalar } from '../../model/predicate.ts'
import type { Column } from '../sql/columns.ts'
import { type Engine, indexConditions } from '../sql/engine.ts'
import { type ColumnSpec, type Constraint, type Held, searchTable } from '../sql/tables.ts'
import { firstRow } from '../transaction.ts'
import { partName, partNames, partOf } from './search-parts.ts'

// SQLite has no types for booleans and JSON: it stores 0 and 1, and text.
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

// The words come from `words()` in model/text.ts, so the tokenizer only splits them at spaces: it accepts every
// character that a word can contain, and keeps diacritics. A contentless index does not store the texts a second time.
const tokenizer = `content='', contentless_delete=1, tokenize="unicode61 categories 'L* M* N* Co' remove_diacritics 0"`

// FTS5 merges segments during changes, in proportion to them: smaller pages make smaller steps. It merges where half of
// the rows are deleted: at a tenth, the default, a purge of all rows would write the index nine times.
const settings = { pgsz: 500, deletemerge: 50 } as const

/** The SQL function that folds case; each connection registers it. */
export const foldFunction = 'resourced_fold'

/** The SQL function that writes a number with the fewest digits that keep its value. */
export const numberFunction = 'resourced_number'

/** The SQL function that searches texts for words. */
export const wordsFunction = 'resourced_has_words'

/**
 * A number as JSON, as `numberText` writes it. Integers have no point. SQLite writes numbers that need more than 15
 * digits with 17, where 16 may suffice, and exponents in another form: such numbers take the slower function.
 */
function realSql(column: Sql): Sql {
  const whole = sql`${column} = cast(${column} as integer) and abs(${column}) < 9007199254740992`
  const unlike = sql`length(${column}) > 16 or abs(${column}) not between 1e-4 and 9007199254740991`
  const written = sql`json(${raw(numberFunction)}(${column}))`
  return sql`case when ${whole} then cast(${column} as integer) when ${unlike} then ${written} else ${column} end`
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

/** SQLite 3.53, as the pinned version of Node.js contains it. */
export const sqlite: Engine = {
  layout: { clockSlots: 1, indexesRowNumber: false, storesExports: false },
  types,
  identifier,
  columnDefinition,
  createTable: ({ name, columns }) =>
    `create table ${identifier(name)} (${columns.map(columnDefinition).join(', ')}) strict`,
  createIndex: ({ name, table, columns, unique, where }) =>
    `create ${unique ? 'unique ' : ''}index ${identifier(name)} on ${identifier(table)} ` +
    `(${columns.map(identifier).join(', ')})${indexConditions[where]}`,
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
    // Words contain letters and digits only, so quotes are enough to keep operators out.
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
    const named = sql`select value from json_each(${JSON.stringify(ids)})`
    const found = yield sql`select _row from ${raw(`"${collection}"`)} where id in (${named})`
    const rows = found.map((row) => Number(row['_row']))
    for (const [part, inPart] of Map.groupBy(rows, partOf)) {
      const among = sql`select value from json_each(${JSON.stringify(inPart)})`
      yield sql`delete from ${partSql(collection, part)} where rowid in (${among})`
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
  // SQLite casts a number to the same text that it has in JSON.
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
