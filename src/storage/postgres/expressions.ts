/** PostgreSQL's words for reads and writes of records. JSON is put together as text, so that it is the same as SQLite's. */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Scalar } from '../../model/predicate.ts'
import type { Column } from '../sql/columns.ts'
import type { Bound, Expressions } from '../sql/expressions.ts'
import { subject } from '../sql/represent.ts'
import { postgres, wordsColumn } from './dialect.ts'
import { foldSql } from './fold.ts'
import { lexemeOf, lexemePrefixOf, lexemesOf } from './lexemes.ts'
import { haveWordsSql } from './words.ts'

/**
 * The text of a number as JavaScript writes it (`numberText`). PostgreSQL finds the same digits for most, and writes an
 * exponent where JavaScript has none, and a zero before its last digit.
 */
function realText(column: Sql): Sql {
  const whole = sql`when ${column} = trunc(${column}) and abs(${column}) < 9007199254740992 then cast(${column} as bigint)::text`
  const usual = sql`when abs(${column}) between 1e-4 and 1e15 then ${column}::text`
  const written = sql`when abs(${column}) between 1e-6 and 9007199254740991 then cast(${column}::text as numeric)::text`
  const large = sql`when abs(${column}) between 9007199254740992 and 1e41 then ${largeText(column)}`
  return sql`case ${whole} ${usual} ${written} ${large} else replace(${column}::text, 'e-0', 'e-') end`
}

/**
 * The same for large numbers. JavaScript takes a shorter text too that is halfway between two numbers (1e23); PostgreSQL
 * does not. There is one if the number rounded to one digit less is read back as it was.
 */
function largeText(column: Sql): Sql {
  const text = sql`${column}::text`
  // Its digits and a point: one for what stands before the point, one for the point, and one that is left out.
  const decimals = sql`length(split_part(abs(${column})::text, 'e', 1)) - 3`
  const shorter = sql`ltrim(to_char(${column}, '9.' || repeat('9', ${decimals}) || 'EEEE'))`
  const trimmed = sql`regexp_replace(${shorter}, '[.]?0*e', 'e')`
  return sql`case when cast(${shorter} as double precision) = ${column} then ${trimmed} else ${text} end`
}

/** The text of a value's JSON, null where there is no value. */
function jsonText(column: Sql, type: Column['type']): Sql {
  if (type === 'text') return sql`to_json(${column})::text`
  return type === 'real' ? realText(column) : sql`${column}::text`
}

function jsonValue(column: Sql, type: Column['type']): Sql {
  return sql`coalesce(${jsonText(column, type)}, 'null')`
}

function jsonObject(members: readonly (readonly [string, Sql])[]): Sql {
  const parts = members.map(([name, value], index) => sql`${raw(`'${index === 0 ? '{' : ','}"${name}":'`)} || ${value}`)
  return sql`(${chain(parts)} || '}')`
}

/** Texts one after the other, put together in halves: how deep an expression is nested has a bound. */
function chain(parts: readonly Sql[]): Sql {
  if (parts.length === 1) return parts[0] as Sql
  const half = parts.length >> 1
  return sql`(${chain(parts.slice(0, half))} || ${chain(parts.slice(half))})`
}

function bind(value: Scalar): Bound {
  return typeof value === 'boolean' ? Number(value) : value
}

const casts: Readonly<Record<Column['type'], Sql>> = {
  text: raw('::text collate "C"'),
  integer: raw('::bigint'),
  real: raw('::double precision'),
  boolean: raw('::boolean'),
  json: raw('::json'),
}

/** PostgreSQL 15 and newer. */
export const expressions: Expressions = {
  bind,
  isDistinct: (column, value) => sql`${column} is distinct from ${value}`,
  isAmong: (column, values) => sql`${column} = any(${values.map(bind)})`,
  // No index serves a subselect in a branch of an OR; for an array it does.
  isSelected: (column, select) => sql`${column} = any(array(${select}))`,
  // Else the planner may put all that any row could find into a table of its own, however few rows are looked at.
  alone: raw(' offset 0'),
  fold: foldSql,
  // What an array is made of is no column to the planner.
  unindexed: (expression) => sql`(array[${expression}])[1]`,
  holds: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  begins: (text, part) => sql`starts_with(${text}, ${part})`,
  searches(_, alias, words) {
    // Lexemes hold no quotes: quoting them is enough to keep operators out.
    const terms = words.slice(0, -1).map((word) => `'${lexemeOf(word)}'`)
    const query = [...terms, `'${lexemePrefixOf(words.at(-1) ?? '')}':*`].join(' & ')
    return sql`${raw(`${alias}.${wordsColumn}`)} @@ cast(${query} as tsquery)`
  },
  haveWords: haveWordsSql,
  wordColumns: (words) => [[wordsColumn, sql`array_to_tsvector(cast(${lexemesOf(words)} as text[]))`]],
  *indexWords() {},
  *forgetWords() {},
  jsonObject,
  jsonValue,
  jsonPlain: (column) => sql`coalesce('"' || ${column} || '"', 'null')`,
  // A plan for any limit is one for a tenth of the table.
  limit: (count) => raw(`limit ${Math.trunc(count)}`),
  jsonInteger: (column, member) => sql`cast(${column} ->> ${raw(`'${member}'`)} as bigint)`,
  jsonText,
  jsonLiteral: (value) => raw(`'${JSON.stringify(value).replaceAll("'", "''")}'`),
  storedBytes: (column, type) => (type === 'json' ? sql`octet_length(${column}::text)` : sql`octet_length(${column})`),
  jsonKeys(columns) {
    const keys = columns.map(([column, type]) => (type === 'boolean' ? sql`cast(${column} as integer)` : column))
    return sql`json_build_array(${join(keys, ', ')})::text`
  },
  join: (text) => sql`string_agg(${text}, ',' || chr(10))`,
  typed: (value, type) => sql`${value}${casts[type]}`,
  lock: {
    isNeeded: true,
    order: raw(' order by id'),
    update: raw(' for update'),
    share: raw(' for share'),
    free: raw(' for update skip locked'),
    // Of a table that hardly ever changes, so that no vacuum is in the way.
    rules: raw('lock table resourced_meta in share row exclusive mode'),
  },
  // Within one server everybody sees commits in one order: a sum of revisions is one state.
  clockMark: raw('0'),
  // A connection has its own slot, so that few writers wait for each other.
  clockPart: raw(` and slot = (pg_backend_pid() & ${postgres.layout.clockSlots - 1})`),
  tryLock: (name) => sql`pg_try_advisory_xact_lock(hashtextextended(${name}, 0))`,
  waitForLock: (name) => sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`,
  together: (change, tick, columns) =>
    sql`with ${raw(subject)} as (${change} returning *), ticked as (${tick} and exists (select 1 from ${raw(subject)})) select ${columns} from ${raw(subject)}`,
}

/**
 * The same for a server that reads a replica too. There commits are seen in the order of the log, here in that in which they are
 * finished: two states may have the same number of them. Each slot alone has one order everywhere.
 */
export const withMarks: Expressions = {
  ...expressions,
  // Of 40 bits each: the sum over all slots of all collections is an exact number.
  clockMark: raw("sum(hashtextextended(collection || '/' || slot || '/' || revision, 0) & 1099511627775)"),
}
