/**
 * PostgreSQL as a `Dialect`: its SQL for tables, records, JSON (put together as text, so that it is the same as
 * SQLite's) and search. Searches have the same results on every engine: texts are folded as `fold` does, and words
 * (`words` in model/text.ts) are the lexemes of a `tsvector`.
 */
import { hash } from 'node:crypto'
import type { Scalar } from 'resourced-contract/model/predicate'
import { fold, markRanges, plainLetters } from 'resourced-contract/model/text'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { type Column, identifier, subject } from '../sql/columns.ts'
import type { Dialect, RowWrite, WeightedText } from '../sql/dialect.ts'
import { type ColumnSpec, defineColumn, type Held, type SearchSpec } from '../sql/tables.ts'
import { mostOccurrences } from '../sql/values.ts'
import { type Bound, firstRow, ignoringRows, standalone } from '../transaction.ts'
import { attribute, attributed, eventTriggers, horizon, keepState, snapshotSource } from './event-triggers.ts'
import { tenantTriggers } from './tenant-schema.ts'
import { slots, summaryTriggers, takeSlots, totalTriggers } from './triggers.ts'

/** The column that holds the words of a record, in the table of its resource. */
export const wordsColumn = '_words'

// Text is compared by code point, with any collation of the database. JSON keeps its text.
const types = {
  text: 'text collate "C"',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  json: 'json',
  bytes: 'bytea',
} as const

const layout = { clockSlots: slots, indexesRowNumber: true, storesExports: true } as const

/**
 * The text of a number as JavaScript writes it (`numberText`). PostgreSQL finds the same digits for most, and writes an
 * exponent where JavaScript has none, and a zero before its last digit.
 */
function realText(column: Sql): Sql {
  const isWhole = sql`${column} = trunc(${column}) and abs(${column}) < 9007199254740992`
  const whole = sql`when ${isWhole} then cast(${column} as bigint)::text`
  const usual = sql`when abs(${column}) between 1e-4 and 1e15 then ${column}::text`
  const written = sql`when abs(${column}) between 1e-6 and 9007199254740991 then cast(${column}::text as numeric)::text`
  const large = sql`when abs(${column}) between 9007199254740992 and 1e41 then ${largeText(column)}`
  return sql`case ${whole} ${usual} ${written} ${large} else replace(${column}::text, 'e-0', 'e-') end`
}

/**
 * The same for large numbers. JavaScript takes a shorter text too that is halfway between two numbers (1e23);
 * PostgreSQL does not. There is one if the number rounded to one digit less is read back as it was.
 */
function largeText(column: Sql): Sql {
  const text = sql`${column}::text`
  // Its digits and a point: one character before the point, the point itself, and one digit that is left out.
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

/**
 * A transaction holds the lock of a table that it has read until its end. A serializable one may read with an older
 * snapshot than its lock: it has locked `resourced_meta` before it took its snapshot.
 */
const earlier = `select distinct virtualtransaction as id from pg_locks held
  where pid <> pg_backend_pid() and database = (select oid from pg_database where datname = current_database())
    and (relation = 'resourced_work'::regclass and mode in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
      or relation = 'resourced_meta'::regclass and mode = 'RowExclusiveLock')
    and not exists (select 1 from pg_locks reading where reading.virtualtransaction = held.virtualtransaction
      and reading.locktype = 'advisory' and reading.classid = 18 and reading.objid = 58)`

const lockOf = (name: string) => sql`hashtextextended(${name} || ' ' || current_schema(), 0)`

/** Waits for those that hold a lock of their own here, then takes one: those that come at the same time do not wait. */
const matching = (name = "hashtext('matching ' || current_schema()) & 2147483647") => `with waited as materialized (
    select count(pg_advisory_xact_lock_shared(${name}, objid::bigint::integer)) as number from pg_locks
    where objsubid = 2 and classid::bigint = ${name} and mode = 'ExclusiveLock' and granted)
  select pg_advisory_xact_lock(${name}, (txid_current() & 2147483647)::integer) from waited where number >= 0`

/** PostgreSQL 15 and newer. */
export const postgres: Dialect = {
  layout,
  schema: empty,
  types,
  columnDefinition,
  createTable: ({ name, columns, search }) => {
    const words = search === undefined ? [] : [`${wordsColumn} tsvector`]
    return `create table ${identifier(name)} (${[...columns.map(columnDefinition), ...words].join(', ')})`
  },
  store,
  bind,
  isDistinct: (column, value) => sql`${column} is distinct from ${value}`,
  tagOffset: (id, seed) => sql`(hashtextextended(${id}, ${seed}) & ${raw(String(2 ** 51 - 1))})`,
  isAnyOf: (column, values) => sql`${column} = any(${values.map(bind)})`,
  // No index serves a subselect in a branch of an OR; for an array it does.
  isInSubquery: (column, select) => sql`${column} = any(array(${select}))`,
  elements: (list, alias) => sql`json_array_elements_text(cast(${list} as json)) ${raw(`${alias}(value)`)}`,
  // Otherwise the planner may materialize the results for all rows, even if few rows are read.
  fence: raw(' offset 0'),
  fold: foldSql,
  // The planner does not treat the elements of an array as a column.
  unindexed: (expression) => sql`(array[${expression}])[1]`,
  compareText: ({ postgres }, text, part) => postgres(text, part),
  matchesSearch(_, alias, search) {
    // Lexemes hold no quotes: quoting them is enough to keep operators out.
    const quote = (word: string) => `'${lexemeOf(word)}'`
    const query =
      'any' in search
        ? search.any.map(quote).join(' | ')
        : [
            ...search.all.map(quote),
            ...(search.prefix === undefined ? [] : [`'${lexemePrefixOf(search.prefix)}':*`]),
          ].join(' & ')
    return sql`${raw(`${alias}.${wordsColumn}`)} @@ cast(${query} as tsquery)`
  },
  hasItems(column, values, all) {
    // Of JSON of any kind: an array contains an array of scalars, and nothing else does.
    const array = (items: readonly Scalar[]) => JSON.stringify(items)
    if (all || values.length === 1) return sql`(cast(${column} as jsonb) @> cast(${array(values)} as jsonb))`
    const items = values.map((each) => array([each]))
    const found = sql`select bool_or(held.items @> cast(one.item as jsonb))
      from (select cast(${column} as jsonb) as items offset 0) held, unnest(cast(${items} as text[])) one (item)`
    return sql`(${found})`
  },
  haveWords: haveWordsSql,
  relevance: relevanceSql,
  wordColumns: (words) => [[wordsColumn, sql`array_to_tsvector(cast(${lexemesOf(words())} as text[]))`]],
  *indexWords() {},
  *deleteWords() {},
  jsonObject,
  jsonValue,
  jsonUnescaped: (column) => sql`coalesce('"' || ${column} || '"', 'null')`,
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
  joinRows: (text) => sql`string_agg(${text}, ',' || chr(10))`,
  cast: (value, type) => sql`${value}${casts[type]}`,
  sum: (column, form) => (form === undefined ? sql`sum(${column})` : sql`sum(cast(${column} as numeric))`),
  // `div` is exact, and a product has the digits of its factors.
  average(sum, count, digits) {
    const rounded = sql`div(abs(${sum}) * ${raw(`2${'0'.repeat(digits)}`)} + ${count}, 2 * ${count})`
    return sql`sign(${sum}) * ${rounded} * ${raw(`0.${'1'.padStart(digits, '0')}`)}`
  },
  digits: (value) => sql`cast(${value} as text)`,
  textRows(rows, width) {
    const texts = Array.from({ length: width }, (_, index) => `(value ->> ${index}) collate "C" as text${index}`)
    return sql`select ${raw(texts.join(', '))} from json_array_elements(cast(${JSON.stringify(rows)} as json))`
  },
  summaryTriggers,
  totalTriggers,
  tenantTriggers,
  takeSlots,
  orFail: empty,
  eventTriggers,
  keepState,
  snapshotSource,
  attribute,
  horizon,
  lock: {
    hasOtherWriters: true,
    orderById: raw(' order by id'),
    update: raw(' for update'),
    share: raw(' for share'),
    skipLocked: raw(' for update skip locked'),
    // On a table that hardly ever changes, so that no vacuum blocks it.
    excludeSerializable: raw('lock table resourced_meta in share row exclusive mode'),
    earlier: raw(earlier),
    matching: raw(matching()),
    asReader: raw('select pg_advisory_xact_lock_shared(18, 58)'),
  },
  // A connection has its own slot, so that few writers wait for each other.
  clockSlot: raw(` and slot = (pg_backend_pid() & ${layout.clockSlots - 1})`),
  // The schema is a part of the name: these locks are of the whole database.
  tryAdvisoryLock: (name) => sql`pg_try_advisory_xact_lock(${lockOf(name)})`,
  advisoryLock: (name) => sql`pg_advisory_xact_lock(${lockOf(name)})`,
  *writeRow(write) {
    const { id, numbers, holders, answer, isWhole, tick, touch } = write
    const statement = writeSql(write)
    if (tick === undefined) {
      const row = yield* firstRow(statement)
      if (row !== undefined) yield* touch()
      return answer === undefined ? undefined : row
    }
    if (isWhole) {
      const locks = [...holders, ...numbers.map(({ counter }) => counter)]
      return yield* firstRow(standalone(statement, { writes: id, locks }))
    }
    if (answer !== undefined) return yield* firstRow(statement)
    yield ignoringRows(statement)
    return undefined
  },
}

/**
 * One statement for a write. A row that is numbered is written after its conditions are checked, the clock and the
 * counters are locked, in this order: each part depends on the rows of the one before it.
 */
function writeSql({
  isNew,
  conditions,
  unchanged,
  numbers,
  change,
  tick,
  answer = raw('1 as written'),
  isWhole,
  attribution,
}: RowWrite): Sql {
  const written = raw(subject)
  // Triggers run once the statement has its rows.
  const isAttributed = isWhole && attribution !== undefined
  const told = isAttributed ? sql`attributed as materialized (select ${attributed(attribution)} as _told), ` : empty
  const from = isAttributed ? sql`${written}, attributed` : written
  if (!isNew || numbers.length === 0) {
    const changed = change([...conditions, ...unchanged()], new Map())
    const ticked = tick && sql`, ticked as (${tick()} and exists (select 1 from ${written}))`
    return sql`with ${told}${written} as (${changed} returning *)${ticked ?? empty} select ${answer} from ${from}`
  }
  const hold = conditions.length === 0 ? empty : sql` where ${join(conditions, ' and ')}`
  const first = tick === undefined ? 'checked' : 'ticked'
  const taken = numbers.map(({ take }, index) => {
    const before = raw(index === 0 ? first : `number${index - 1}`)
    return sql`${raw(`number${index}`)} as (${take(sql`where exists (select 1 from ${before})`)})`
  })
  const given = numbers.map(({ name }, index) => [name, sql`(select last from ${raw(`number${index}`)})`] as const)
  const last = sql`exists (select 1 from ${raw(`number${numbers.length - 1}`)})`
  const steps = [
    sql`checked as materialized (select 1 as one${hold})`,
    ...(tick === undefined ? [] : [sql`ticked as (${tick()} and exists (select 1 from checked) returning 1 as one)`]),
    ...taken,
    sql`${written} as (${change([last], new Map(given))} returning *)`,
  ]
  return sql`with ${told}${join(steps, ', ')} select ${answer} from ${from}`
}

/** The statement that creates the index of the words of a collection. */
export function createSearch({ name, table }: SearchSpec): string {
  return `create index ${identifier(name)} on ${identifier(table)} using gin (${wordsColumn})`
}

function columnDefinition(column: ColumnSpec): string {
  return defineColumn(column, types, ' generated by default as identity primary key')
}

function store(value: unknown, holds: Held): unknown {
  if (value === null || value === undefined) return null
  return holds === 'array' || holds === 'object' || holds === 'json' ? JSON.stringify(value) : value
}

let letters: Sql | undefined
let pairs: readonly (readonly [letter: string, folded: string])[] | undefined

/**
 * The text of a column in folded case: exactly as `fold`, independent of PostgreSQL's version of Unicode. For texts
 * without a folded column.
 */
function foldSql(column: Sql): Sql {
  letters ??= lettersOf(foldedPairs())
  return sql`translate(${column}, ${letters})`
}

/** The same for letters that fold to some characters only, which is far less work. */
function foldToSql(column: Sql, characters: ReadonlySet<string>): Sql {
  return sql`translate(${column}, ${lettersOf(foldedPairs().filter(([, folded]) => characters.has(folded)))})`
}

function lettersOf(wanted: readonly (readonly [string, string])[]): Sql {
  const [from, to] = [0, 1].map((side) => wanted.map((pair) => pair[side]).join(''))
  return raw(`'${from}', '${to}'`)
}

// `fold` replaces single characters: this finds all pairs, once.
function foldedPairs(): readonly (readonly [string, string])[] {
  if (pairs !== undefined) return pairs
  const found: [string, string][] = []
  for (let code = 0; code <= 0x1ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    const folded = fold(letter)
    if (folded !== letter) found.push([letter, folded])
  }
  pairs = found
  return found
}

/**
 * The most bytes of a word that is one lexeme, and of a piece of a longer word. PostgreSQL allows 2,046 bytes for a
 * lexeme.
 */
const longest = 2_000

/** The most bytes of all lexemes of a record: a `tsvector` holds 1,048,575. */
const most = 1_000_000

const encoder = new TextEncoder()

// Words contain neither character. Pieces begin with the first, and the last piece ends with the second.
const piece = '/'
const end = '.'

/**
 * The distinct lexemes of words, for `array_to_tsvector`; those that a `tsvector` cannot hold are left out. A word that
 * is too long is stored in pieces, each after a hash of all that comes before it, so that the whole word and every
 * prefix of it are found.
 *
 * @param words separated by blanks (`searchText`)
 */
export function lexemesOf(words: string): string[] {
  const lexemes = new Set<string>()
  let bytes = 0
  for (const word of words.split(' ')) {
    for (const lexeme of word === '' ? [] : piecesOf(word)) {
      if (lexemes.has(lexeme)) continue
      bytes += Buffer.byteLength(lexeme)
      if (bytes > most) return [...lexemes]
      lexemes.add(lexeme)
    }
  }
  return [...lexemes]
}

/** The lexeme that exactly the records with a word have. */
export function lexemeOf(word: string): string {
  return piecesOf(word).at(-1) as string
}

/** The prefix that a lexeme of a record has exactly if one of its words begins with `beginning`. */
export function lexemePrefixOf(beginning: string): string {
  const lexeme = lexemeOf(beginning)
  return lexeme.endsWith(end) ? lexeme.slice(0, -end.length) : lexeme
}

function piecesOf(word: string): string[] {
  // A UTF-16 unit takes three bytes at most.
  if (word.length * 3 <= longest) return [word]
  const pieces: string[] = []
  let before = ''
  while (before.length < word.length) {
    const { read } = encoder.encodeInto(word.slice(before.length), new Uint8Array(longest))
    const part = word.slice(before.length, before.length + read)
    const isLast = before.length + read === word.length
    if (isLast && before === '') return [word]
    // The first piece begins as the word does, so a shorter prefix finds it.
    const mark = before === '' ? '' : `${piece}${hash('sha256', before, 'base64url').slice(0, 22)}`
    pieces.push(before === '' ? `${part}${piece}` : `${mark}${part}${isLast ? end : ''}`)
    before += part
  }
  return pieces
}

let separators: Sql | undefined

/**
 * Whether texts have all of these words between them, the last as a prefix. For versions that do not show all texts
 * that are searched.
 */
function haveWordsSql(texts: readonly Sql[], words: readonly string[]): Sql {
  // `concat_ws` skips texts that are null.
  const found = sql`' ' || ${wordsSql(sql`concat_ws(' ', ${join(texts, ', ')})`, words)} || ' '`
  const sought = words.map((word, index) => ` ${word}${index === words.length - 1 ? '' : ' '}`)
  const each = sought.map((part) => sql`strpos(found, ${part}) > 0`)
  return sql`(select ${join(each, ' and ')} from (select ${found} as found offset 0) words)`
}

/** The same as `scoreOf`: a word stands between blanks of its own, so what is replaced tells how often it occurs. */
function relevanceSql(texts: readonly WeightedText[], words: readonly string[]): Sql {
  const count = (part: string) =>
    sql`(length(found) - length(replace(found, ${part}, ''))) / ${raw(String([...part].length))}`
  const least = (occurrences: Sql) => sql`least(${occurrences}, ${raw(String(mostOccurrences))})`
  const scores = words.flatMap((word, index) => {
    const whole = count(` ${word} `)
    const longer = least(sql`${count(` ${word}`)} - ${whole}`)
    return [sql`2 * ${least(whole)}`, ...(index === words.length - 1 ? [longer] : [])]
  })
  const ofText = ({ text, weight }: WeightedText) => {
    const found = sql`' ' || replace(${wordsSql(sql`coalesce(${text}, '')`, words)}, ' ', '  ') || ' '`
    return sql`${raw(String(weight))} * (select ${join(scores, ' + ')} from (select ${found} as found offset 0) words)`
  }
  return sql`(${join(texts.map(ofText), ' + ')})`
}

/** The words of a text, separated by blanks, in folded case as far as the sought words need it. */
function wordsSql(text: Sql, sought: readonly string[]): Sql {
  const characters = new Set([...sought.join(''), ...Object.keys(plainLetters)])
  separators ??= raw(`'[^${wordRanges()}]+'`)
  const bare = sql`normalize(regexp_replace(normalize(${text}, NFKD), ${raw(`'[${markRanges}]'`)}, '', 'g'), NFKC)`
  let plain = foldToSql(bare, characters)
  for (const [letter, letters] of Object.entries(plainLetters)) {
    plain = sql`replace(${plain}, ${raw(`'${letter}', '${letters}'`)})`
  }
  return sql`regexp_replace(${plain}, ${separators}, ' ', 'g')`
}

/** The characters of words as ranges: what PostgreSQL treats as a letter depends on the locale of the database. */
function wordRanges(): string {
  const character = /[\p{L}\p{N}\p{M}\p{Co}]/u
  const ranges: string[] = []
  const escaped = (code: number) => `\\U${code.toString(16).padStart(8, '0')}`
  let first: number | undefined
  for (let code = 1; code <= 0x110000; code++) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff
    const isInWord = code < 0x110000 && !isSurrogate && character.test(String.fromCodePoint(code))
    if (isInWord) first ??= code
    else if (first !== undefined) {
      ranges.push(first === code - 1 ? escaped(first) : `${escaped(first)}-${escaped(code - 1)}`)
      first = undefined
    }
  }
  return ranges.join('')
}
