/** SQLite's words for reads and writes of records. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Scalar } from '../../model/predicate.ts'
import type { Column } from '../sql/columns.ts'
import type { Expressions } from '../sql/expressions.ts'
import { searchTable } from '../sql/tables.ts'
import { single } from '../transaction.ts'
import { partName, partNames, partOf } from './search-parts.ts'

/** The name of the function, registered on each connection, that folds case. */
export const foldFunction = 'resourced_fold'

/** The name of the function, registered on each connection, that writes a number in the fewest digits that keep it. */
export const numberFunction = 'resourced_number'

/** The name of the function, registered on each connection, that looks for words in texts. */
export const wordsFunction = 'resourced_has_words'

/**
 * A number as JSON, as `numberText` writes it. Whole ones stand without a point. SQLite writes what 15 digits cannot keep
 * in 17, where 16 may do, and exponents in its own way: what is that long, that small or that large goes the slower way.
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

export const expressions: Expressions = {
  bind,
  isDistinct: (column, value) => sql`${column} is not ${value}`,
  isAmong: (column, values) => sql`${column} in (select value from json_each(${JSON.stringify(values.map(bind))}))`,
  isSelected: (column, select) => sql`${column} in (${select})`,
  alone: empty,
  fold: (column) => sql`${raw(foldFunction)}(${column})`,
  unindexed: (expression) => sql`+(${expression})`,
  holds: (text, part) => sql`instr(${text}, ${part}) > 0`,
  begins: (text, part) => sql`substr(${text}, 1, ${[...part].length}) = ${part}`,
  searches(collection, alias, words) {
    // Words hold letters and digits only, so quoting them is enough to keep operators out.
    const match = words.map((word, index) => `"${word}"${index === words.length - 1 ? '*' : ''}`).join(' ')
    const parts = partNames(searchTable(collection)).map((name) => raw(`"${name}"`))
    const found = parts.map((part) => sql`select rowid from ${part} where ${part} match ${match}`)
    return sql`${raw(alias)}._row in (${join(found, ' union all ')})`
  },
  haveWords: (texts, words) => sql`${raw(wordsFunction)}(${JSON.stringify(words)}, ${join(texts, ', ')})`,
  *indexWords(collection, id, words, replaces) {
    const found = yield* single(sql`select _row from ${raw(`"${collection}"`)} where id = ${id}`)
    const row = Number(found?.['_row'])
    const part = partSql(collection, partOf(row))
    if (replaces) yield sql`delete from ${part} where rowid = ${row}`
    yield sql`insert into ${part} (rowid, words) values (${row}, ${words})`
  },
  *forgetWords(collection, ids) {
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
  jsonPlain: (column) => column,
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
  join: (text) => sql`group_concat(${text}, ',' || char(10))`,
  typed: (value) => sql`${value}`,
  lock: { isNeeded: false, order: empty, update: empty, share: empty, free: empty, rules: undefined },
  clockMark: raw('0'),
  clockPart: empty,
  tryLock: undefined,
  waitForLock: undefined,
  together: undefined,
}
