/** SQLite as a `Dialect`: its SQL for tables, conditions, search and JSON. */
import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { numberText } from 'resourced-contract/model/json/json-text'
import type { Scalar } from 'resourced-contract/model/predicate'
import { fold } from 'resourced-contract/model/text'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { type Column, identifier, quoted, subjectSql } from '../sql/columns.ts'
import type { Dialect } from '../sql/dialect.ts'
import { type ColumnSpec, defineColumn, type Held } from '../sql/tables.ts'
import { haveItems, haveWords, scoreOf } from '../sql/values.ts'
import { firstRow, type Statement } from '../transaction.ts'
import { takeNumbers } from '../transactions/rows/numbers.ts'
import { addEventFunctions, attribute, eventTriggers, keepState, snapshotSource } from './event-triggers.ts'
import { deleteWords, indexWords, searchSql } from './search-parts.ts'
import { addSummaryFunctions, summaryTriggers } from './summary-triggers.ts'
import { addSumFunctions, sums } from './sums.ts'
import { addTotalFunctions, type Excesses, totalTriggers } from './total-triggers.ts'

// SQLite has no types for booleans and JSON: it stores 0 and 1, and text.
const types = {
  text: 'text',
  integer: 'integer',
  real: 'real',
  boolean: 'integer',
  json: 'text',
  bytes: 'blob',
} as const

const foldFunction = 'resourced_fold'
const numberFunction = 'resourced_number'
const wordsFunction = 'resourced_has_words'
const itemsFunction = 'resourced_has_items'
const scoreFunction = 'resourced_score'
const tagOffsetFunction = 'resourced_tag_offset'

/** Registers the SQL functions that statements call. They belong to a connection, which looks at the excesses. */
export function addFunctions(database: DatabaseSync): Excesses {
  addEventFunctions(database)
  addSumFunctions(database)
  addSummaryFunctions(database)
  const excesses = addTotalFunctions(database)
  database.function(foldFunction, { deterministic: true }, (text) => (typeof text === 'string' ? fold(text) : null))
  // A number with the fewest digits that keep its value.
  database.function(numberFunction, { deterministic: true }, (value) =>
    typeof value === 'number' ? numberText(value) : null,
  )
  database.function(wordsFunction, { deterministic: true, varargs: true }, (sought, ...texts) =>
    Number(haveWords(texts as (string | null)[], JSON.parse(String(sought)))),
  )
  database.function(scoreFunction, { deterministic: true }, (text, sought) =>
    typeof text === 'string' ? scoreOf(text, JSON.parse(String(sought))) : 0,
  )
  database.function(tagOffsetFunction, { deterministic: true }, (id, seed) =>
    Number(BigInt(`0x${hash('sha256', `${id} ${seed}`).slice(0, 13)}`) >> 1n),
  )
  database.function(itemsFunction, { deterministic: true }, (json, values, all) => {
    const have = haveItems(json, JSON.parse(String(values)), all === 1)
    return have === null ? null : Number(have)
  })
  return excesses
}

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

/** SQLite 3.53, as the pinned version of Node.js contains it. */
export const sqlite: Dialect = {
  layout: { clockSlots: 1, indexesRowNumber: false, storesExports: false },
  schema: raw('main.'),
  types,
  columnDefinition,
  createTable: ({ name, columns }) =>
    `create table ${identifier(name)} (${columns.map(columnDefinition).join(', ')}) strict`,
  store,
  bind,
  isDistinct: (column, value) => sql`${column} is not ${value}`,
  isAnyOf: (column, values) => sql`${column} in (select value from json_each(${JSON.stringify(values.map(bind))}))`,
  isInSubquery: (column, select) => sql`${column} in (${select})`,
  elements: (list, alias) => sql`json_each(${list}) ${raw(alias)}`,
  tagOffset: (id, seed) => sql`${raw(tagOffsetFunction)}(${id}, ${seed})`,
  fence: empty,
  fold: (column) => sql`${raw(foldFunction)}(${column})`,
  unindexed: (expression) => sql`+(${expression})`,
  compareText: ({ sqlite }, text, part) => sqlite(text, part),
  matchesSearch: (collection, alias, search) => searchSql(collection, alias, search),
  hasItems: (column, values, all) => sql`${raw(itemsFunction)}(${column}, ${JSON.stringify(values)}, ${Number(all)})`,
  haveWords: (texts, words) => sql`${raw(wordsFunction)}(${JSON.stringify(words)}, ${join(texts, ', ')})`,
  relevance: (texts, words) =>
    sql`(${join(
      texts.map(({ text, weight }) => {
        const score = sql`${raw(scoreFunction)}(${text}, ${JSON.stringify(words)})`
        return sql`${raw(String(weight))} * ${score}`
      }),
      ' + ',
    )})`,
  indexWords,
  deleteWords,
  wordColumns: () => [],
  jsonObject: (members) =>
    sql`json_object(${join(
      members.map(([name, value]) => sql`${raw(`'${name}'`)}, ${value}`),
      ', ',
    )})`,
  jsonValue,
  jsonUnescaped: (column) => column,
  // SQLite compiles a statement anew for each value of a bare parameter here. For an expression it does not.
  limit: (count) => sql`limit +${count}`,
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
  // A number that is bound has a point.
  cast: (value, type) => (type === 'integer' ? sql`cast(${value} as integer)` : sql`${value}`),
  ...sums,
  summaryTriggers,
  totalTriggers,
  tenantTriggers: [],
  takeSlots: undefined,
  textRows: (rows, width) =>
    sql`select ${raw(Array.from({ length: width }, (_, index) => `value ->> ${index} as text${index}`).join(', '))}
      from json_each(${JSON.stringify(rows)})`,
  orFail: raw(' or fail'),
  eventTriggers,
  keepState,
  snapshotSource,
  attribute,
  horizon: undefined,
  lock: {
    hasOtherWriters: false,
    orderById: empty,
    update: empty,
    share: empty,
    skipLocked: empty,
    excludeSerializable: undefined,
    earlier: undefined,
    matching: undefined,
    asReader: undefined,
  },
  clockSlot: empty,
  tryAdvisoryLock: undefined,
  advisoryLock: undefined,
  *writeRow({ collection, id, isNew, conditions, numbers, change, words, touch, answer }) {
    if (conditions.length > 0) {
      const row = isNew ? empty : sql` from ${quoted(collection)}`
      const where = join(isNew ? conditions : [sql`id = ${id}`, ...conditions], ' and ')
      if ((yield sql`select 1 as one${row} where ${where}`).length === 0) return undefined
    }
    // Nobody else writes until the transaction ends.
    yield change([], numbers.length === 0 ? new Map() : yield* takeNumbers(numbers))
    if (words !== undefined) yield* indexWords(collection, [{ id, words: words() }], !isNew)
    yield* touch()
    if (answer === undefined) return undefined
    return yield* firstRow(selectSql(collection, id, answer))
  },
}

const selects = new WeakMap<Sql, string>()

/** The statement that selects columns of a row. The text of such columns may be long, so it is built once. */
function selectSql(collection: string, id: string, columns: Sql): Statement {
  const known = selects.get(columns)
  const text = known ?? sql`select ${columns} from ${subjectSql(collection)} where id = ${id}`.sql
  if (known === undefined) selects.set(columns, text)
  return { sql: text, text, values: [...columns.values, id] }
}

function columnDefinition(column: ColumnSpec): string {
  return defineColumn(column, types, ' primary key')
}

function store(value: unknown, holds: Held): unknown {
  if (value === null || value === undefined) return null
  if (holds === 'boolean') return value === true ? 1 : 0
  return holds === 'array' || holds === 'object' || holds === 'json' ? JSON.stringify(value) : value
}
