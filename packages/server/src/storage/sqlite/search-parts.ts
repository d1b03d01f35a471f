/**
 * The full-text index of a collection: parts, each a table of FTS5, and a view of all of them. A part is made when the
 * first of its rows comes. Statements that search ask the view, so SQLite itself prepares them anew on each connection,
 * of any process, when there is another part.
 */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { identifier } from '../sql/columns.ts'
import type { IndexSearch, WordsOf } from '../sql/dialect.ts'
import { searchTable } from '../sql/tables.ts'
import type { Transaction } from '../transaction.ts'

// The words come from `words()` in model/text.ts, so the tokenizer only splits them at spaces: it accepts every
// character that a word can contain, and keeps diacritics. A contentless index does not store the texts a second time.
const tokenizer = `content='', contentless_delete=1, tokenize="unicode61 categories 'L* M* N* Co' remove_diacritics 0"`

// FTS5 merges segments during changes, in proportion to them: smaller pages make smaller steps. It merges where half of
// the rows are deleted: at a tenth, the default, a purge of all rows would write the index nine times.
const settings = { pgsz: 500, deletemerge: 50 } as const

/**
 * How many parts a full-text index has at most, so that no single change takes long: FTS5 merges all entries of a word
 * at once, and doubles its list of deleted rows at once, which takes longer in a larger index.
 */
export const searchParts = 16

/** How many adjacent rows share a part: rows that are written or purged together mostly have adjacent numbers. */
const run = 2 ** 15

/**
 * The part that has the words of a row. Existing databases depend on it: a change of this function must rebuild all
 * indexes.
 */
export function partOf(row: number): number {
  return Math.floor(row / run) % searchParts
}

/** The first row after the adjacent rows that share a part with this one. */
export function endOfRun(row: number): number {
  return (Math.floor(row / run) + 1) * run
}

/** How many parts rows up to this one need. */
export function partsUpTo(row: number): number {
  return Math.min(Math.floor(row / run) + 1, searchParts)
}

/** The table of a part. Its number comes last: the names of FTS5's own tables never end so. */
export function partName(search: string, part: number): string {
  return `${search}_${part}`
}

/** The tables of the first parts, by default of all that there can be. */
export function partNames(search: string, parts = searchParts): string[] {
  return Array.from({ length: parts }, (_, part) => partName(search, part))
}

/** The view of all parts that there are. */
export function viewName(search: string): string {
  return `${search}_all`
}

/** The statements that add the parts from a number on to an index, which then has so many. */
export function addParts(search: string, from: number, parts: number): string[] {
  const names = partNames(search, parts)
  const view = identifier(viewName(search))
  // FTS5 gives a table a column of its own name, which matches words.
  const selects = names.map(identifier).map((part) => `select rowid, ${part} from ${part}`)
  return [
    ...names.slice(from).flatMap(createPart),
    `drop view if exists ${view}`,
    `create view ${view} ("row", words) as ${selects.join(' union all ')}`,
  ]
}

function createPart(name: string): string[] {
  const part = identifier(name)
  const set = Object.entries(settings).map(
    ([word, value]) => `insert into ${part} (${part}, rank) values ('${word}', ${value})`,
  )
  return [`create virtual table ${part} using fts5 (words, ${tokenizer})`, ...set]
}

/**
 * The condition that the index finds a row (QRY-5, WHR-4). SQLite flattens the view into the statement, so that each
 * part is asked by its index.
 *
 * @param goesOn a condition on the rows that the index gives, which ends with `and`
 */
export function searchSql(collection: string, alias: string, search: IndexSearch, goesOn = empty): Sql {
  // Words contain letters and digits only, so quotes are enough to keep operators out.
  const quote = (word: string) => `"${word}"`
  const match =
    'any' in search
      ? search.any.map(quote).join(' OR ')
      : [...search.all.map(quote), ...(search.prefix === undefined ? [] : [`${quote(search.prefix)}*`])].join(' ')
  const view = raw(identifier(viewName(searchTable(collection))))
  return sql`${raw(alias)}._row in (select "row" from ${view} where ${goesOn}words match ${match})`
}

/**
 * Inserts the search words of records; `replaces` deletes their former words first. One row at a time: SQLite begins a
 * savepoint for a statement that may change several rows, and a full-text index flushes at every savepoint.
 */
export function* indexWords(collection: string, records: readonly WordsOf[], replaces: boolean): Transaction<void> {
  const named = sql`select value from json_each(${JSON.stringify(records.map(({ id }) => id))})`
  const found = yield sql`select id, _row from ${raw(identifier(collection))} where id in (${named})`
  const rows = new Map(found.map((row) => [String(row['id']), Number(row['_row'])]))
  for (const { id, words } of records) {
    const row = rows.get(id) as number
    const part = partOf(row)
    const table = partSql(collection, part)
    if (replaces) yield* change(collection, part, sql`delete from ${table} where rowid = ${row}`)
    yield* change(collection, part, sql`insert into ${table} (rowid, words) values (${row}, ${words})`)
  }
}

/** Changes the words of rows in a part. If it is missing, because its first row has come, it is made. */
function* change(collection: string, part: number, statement: Sql): Transaction<void> {
  try {
    yield statement
  } catch (error) {
    const name = partName(searchTable(collection), part)
    if ((error as { readonly message?: unknown }).message !== `no such table: ${name}`) throw error
    yield* addPart(collection, part)
    yield statement
  }
}

/** Whether there is a part. The first one always is. */
function* hasPart(collection: string, part: number): Transaction<boolean> {
  if (part <= 0) return true
  const name = partName(searchTable(collection), part)
  return (yield sql`select 1 as one from pragma_table_info(${name}) limit 1`).length > 0
}

/** Adds a part, and those before it that are missing: somebody may have inserted many rows by SQL. */
function* addPart(collection: string, part: number): Transaction<void> {
  let from = part
  while (!(yield* hasPart(collection, from - 1))) from--
  for (const statement of addParts(searchTable(collection), from, part + 1)) yield raw(statement)
}

/** Deletes the search words of records, before the records are deleted. */
export function* deleteWords(collection: string, ids: readonly string[]): Transaction<void> {
  const named = sql`select value from json_each(${JSON.stringify(ids)})`
  const found = yield sql`select _row from ${raw(identifier(collection))} where id in (${named})`
  const rows = found.map((row) => Number(row['_row']))
  for (const [part, inPart] of Map.groupBy(rows, partOf)) {
    const among = sql`select value from json_each(${JSON.stringify(inPart)})`
    yield* change(collection, part, sql`delete from ${partSql(collection, part)} where rowid in (${among})`)
  }
}

function partSql(collection: string, part: number): Sql {
  return raw(identifier(partName(searchTable(collection), part)))
}
