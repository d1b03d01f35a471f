/**
 * PostgreSQL's part of a migration: its catalog, table locks, defaults for older servers, and the batches in which
 * JavaScript computes values, because a table may exceed the memory.
 */

import pg from 'pg'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { convertStored, writeStored } from '../migration/convert.ts'
import type { DerivedValues, MigrationDialect } from '../migration/migration-dialect.ts'
import { is, type MigrationStep } from '../migration/migration-step.ts'
import { quoted } from '../sql/columns.ts'
import { selectBatch } from '../sql/select-batch.ts'
import { searchTable } from '../sql/tables.ts'
import { derivedOfStored, indexText } from '../sql/values.ts'
import type { Statement, Transaction } from '../transaction.ts'
import { createSearch, lexemesOf, postgres, wordsColumn } from './dialect.ts'
import { silence } from './event-triggers.ts'

/** The schema that holds everything: the first of the search_path that exists. */
const currentSchema = raw('(select oid from pg_namespace where nspname = current_schema())')

/**
 * What the schema contains, except for indexes: `pg_class` has no index by schema, and is large where there are many
 * tenants.
 */
const contents = sql`contents as (select classid, objid from pg_depend
  where refclassid = 'pg_namespace'::regclass and refobjid = ${currentSchema})`

/** @param lockWait the most milliseconds that a migration waits for all table locks together */
export function migrationDialect(lockWait: number): MigrationDialect {
  return {
    ...postgres,
    defersIndexes: true,
    searchColumn: wordsColumn,
    // Types as well, because each table is a type: neither may have the name of the other.
    relations: sql`
      with ${contents}
      select c.relname as name, c.relname as folded, c.relname as owner, true as valid,
          case when c.relkind in ('r', 'p') then 'table' else 'other' end as kind
        from contents join pg_class c on c.oid = objid where classid = 'pg_class'::regclass
      union all
      select c.relname, c.relname, t.relname, i.indisvalid, 'index'
        from contents join pg_index i on i.indrelid = objid join pg_class t on t.oid = objid
          join pg_class c on c.oid = i.indexrelid where classid = 'pg_class'::regclass
      union all
      select typname, typname, typname, true, 'type'
        from contents join pg_type t on t.oid = objid where classid = 'pg_type'::regclass`,
    columnsOf: (tables) => sql`
      select c.relname as owner, a.attname as name, format_type(a.atttypid, null) as type
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = ${currentSchema} and c.relname = any(${tables}) and a.attnum > 0 and not a.attisdropped
        order by a.attnum`,
    indexesOf: (tables) => sql`
      select c.relname as name, i.indisunique as unique,
          (select json_agg(a.attname order by k.place)
            from unnest(i.indkey) with ordinality as k(number, place)
            join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number)::text as columns
        from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
        where t.relnamespace = ${currentSchema} and t.relname = any(${tables}) and i.indexprs is null`,
    searchOf: ({ name, search }, relations, columns) =>
      columns.has(wordsColumn) ? { columns: search, isComplete: relations.has(searchTable(name)) } : undefined,
    lockTables: (steps, existing) => lockTables(steps, existing, lockWait),
    *countChanged(update) {
      const [row] = yield sql`with changed as (${update} returning 1) select count(*) as count from changed`
      return Number(row?.['count'])
    },
    *convertColumn({ table, from, to, convert, also }) {
      const type = raw(postgres.types[to.type])
      const target: Target = {
        column: to.name,
        value: (text) => sql`${text}::${type}`,
        compute: ({ texts, id }) => asText(convert(texts[0]!, id)),
      }
      return yield* rewriteRows({ table, columns: [from], given: from }, [target], also)
    },
    *countInconvertible({ table, column, from }) {
      let count = 0
      const batches = { table, columns: [column.name], given: column.name }
      for (let rows = yield* readBatch(batches); rows.length > 0; rows = yield* readBatch(batches, rows)) {
        count += rows.filter(({ texts }) => convertStored(texts[0]!, from, column.holds, postgres) === null).length
      }
      return count
    },
    fillDerived,
    dropSearch: (table) => [sql`alter table ${quoted(table)} drop column if exists ${quoted(wordsColumn)}`],
    eventTriggersFound: sql`
      with ${contents}
      select quote_ident(current_schema()) as schema, owner, name, definition
        from (select 1) as one left join (
          select c.relname as owner, t.tgname as name, p.prosrc as definition
            from contents join pg_trigger t on t.tgrelid = objid join pg_class c on c.oid = objid
              join pg_proc p on p.oid = t.tgfoid
            where classid = 'pg_class'::regclass and not t.tgisinternal and starts_with(t.tgname, 'resourced_')
        ) as found on true`,
    silence,
    // Its function has the same name.
    dropTrigger: (table, name) => [
      sql`drop trigger ${quoted(name)} on ${quoted(table)}`,
      sql`drop function ${quoted(name)}`,
    ],
    setDefaults,
  }
}

function asText(stored: unknown): string | null {
  return stored === null ? null : String(stored)
}

/** The type of the full-text column, from lexemes with blanks between. */
const vector = (lexemes: ReturnType<typeof raw>) => sql`array_to_tsvector(string_to_array(${lexemes}, ' '))`

/** Fills derived columns and words in one pass. The index of the words is built here for new tables only. */
function* fillDerived({ table, columns, search, isNew }: DerivedValues): Transaction<void> {
  if (isNew) {
    if (search !== undefined) yield raw(createSearch(search))
    return
  }
  const sources = [...new Set([...columns.map((column) => column.derived!.from), ...(search?.columns ?? [])])]
  const textOf = ({ texts }: BatchRow, name: string) => texts[sources.indexOf(name)] ?? null
  const targets = columns.map(
    ({ name, type, derived: how }): Target => ({
      column: name,
      value: (text) => sql`${text}::${raw(postgres.types[type])}`,
      compute: (row) => asText(derivedOfStored(how!, textOf(row, how!.from))),
    }),
  )
  if (search !== undefined) {
    yield sql`drop index if exists ${quoted(search.name)}`
    yield sql`alter table ${quoted(table)} add column if not exists ${quoted(wordsColumn)} tsvector`
    const lexemes = (row: BatchRow) =>
      lexemesOf(
        indexText(
          search,
          search.columns.map((name) => textOf(row, name)),
        ),
      )
    targets.push({ column: wordsColumn, value: vector, compute: (row) => lexemes(row).join(' ') })
  }
  yield* rewriteRows({ table, columns: sources }, targets)
}

/**
 * Locks the tables of steps before the first step is taken: all at once and in one order, because a lock that is
 * upgraded later can deadlock with those of others.
 *
 * @param wait the most milliseconds for all locks together; others wait for the locks that are already taken
 */
function lockTables(steps: readonly MigrationStep[], existing: ReadonlySet<string>, wait: number): Statement[] {
  const locked = steps.filter((step) => existing.has(step.table))
  const exclusive = new Set(locked.filter(is('exclusive')).map(({ table }) => table))
  const written = new Set(locked.filter(is('writing')).map(({ table }) => table))
  const shared = written.difference(exclusive)
  const count = exclusive.size + shared.size
  if (count === 0) return []
  const lock = (tables: ReadonlySet<string>, mode: string) =>
    tables.size === 0 ? [] : [sql`lock table ${join([...tables].sort().map(quoted))} in ${raw(mode)} mode`]
  return [
    // PostgreSQL applies the timeout to each lock.
    raw(`set local lock_timeout = ${Math.ceil(wait / count)}`),
    ...lock(exclusive, 'access exclusive'),
    ...lock(shared, 'share row exclusive'),
    raw(`set local lock_timeout = ${wait}`),
  ]
}

/**
 * Gives added columns the defaults of their declaration. Servers of the older declaration go on writing records
 * without those columns, and PostgreSQL fills the columns with the values that a newer server would store.
 */
function setDefaults(steps: readonly MigrationStep[]): Statement[] {
  const added = steps.filter((step) => step.kind === 'add-column')
  const defaultOf = (table: string, name: string) => {
    const found = added.find((step) => step.table === table && step.column.name === name)
    return found === undefined ? null : asText(writeStored(found.column.default, found.column.holds, postgres))
  }
  const set = (table: string, column: string, expression: ReturnType<typeof raw>) =>
    sql`alter table ${quoted(table)} alter column ${quoted(column)} set default ${expression}`
  const literal = (text: string) => raw(pg.escapeLiteral(text))
  return steps.flatMap((step) => {
    const { table } = step
    if (step.kind === 'add-column') {
      const { name, derived: how } = step.column
      const source = how === undefined ? null : defaultOf(table, how.from)
      const text = how === undefined || source === null ? defaultOf(table, name) : asText(derivedOfStored(how, source))
      return text === null ? [] : [set(table, name, literal(text))]
    }
    if (step.kind !== 'build-search') return []
    const defaults = step.search.columns.map((name) => defaultOf(table, name))
    const lexemes = lexemesOf(indexText(step.search, defaults))
    return lexemes.length === 0 ? [] : [set(table, wordsColumn, vector(literal(lexemes.join(' '))))]
  })
}

/** The most rows of a batch, and the bytes at which it ends. */
const most = { rows: 2_000, bytes: 4_000_000 }

/** The smallest number that a row can have. */
const smallest = '-9223372036854775808'

/** A row: its number, its id, and the texts of the columns asked for. */
export interface BatchRow {
  readonly row: number
  readonly id: string
  readonly texts: readonly (string | null)[]
}

/**
 * Which rows of a resource's table to read, and which columns of them. System tables have no numbers and are never
 * read.
 */
interface Batches {
  readonly table: string
  readonly columns: readonly string[]
  /** The column whose rows without a value are left out. */
  readonly given?: string
}

/** Reads a batch of rows, in the order of their numbers. */
export function* readBatch(
  { table, columns, given }: Batches,
  previous: readonly BatchRow[] = [],
): Transaction<readonly BatchRow[]> {
  const texts = columns.map((column) => sql`${quoted(column)}::text`)
  const condition = given === undefined ? sql`true` : sql`${quoted(given)} is not null`
  const rows = yield selectBatch({
    ...{ table, key: raw('_row'), long: texts, most },
    select: sql`_row, id, ${join(texts.map((text, index) => sql`${text} as ${value(index)}`))}`,
    where: sql`_row > ${previous.at(-1)?.row ?? smallest} and ${condition}`,
  })
  return rows.map((row) => ({
    row: Number(row['_row']),
    id: String(row['id']),
    texts: columns.map((_, index) => row[`v${index}`] as string | null),
  }))
}

/** A column that is written. */
interface Target {
  readonly column: string
  /** Its value in SQL, by the text that `compute` gives. */
  value(text: Sql): Sql
  compute(row: BatchRow): string | null
}

/**
 * Writes columns of rows by what JavaScript computes from other columns, in one pass. Counts the written rows.
 *
 * @param also further assignments to every row read, each with a comma before it; left out: rows that hold the values
 *   already are not written
 */
function* rewriteRows(batches: Batches, targets: readonly Target[], also?: Sql): Transaction<number> {
  const written = targets.map(({ column, value: of }, index) => ({
    column: quoted(column),
    value: of(sql`made.${value(index)}`),
  }))
  const assignments = join(written.map((each) => sql`${each.column} = ${each.value}`))
  const differing = join(
    written.map((each) => sql`t.${each.column} is distinct from ${each.value}`),
    ' or ',
  )
  const names = join(targets.map((_, index) => value(index)))
  let count = 0
  for (let rows = yield* readBatch(batches); rows.length > 0; rows = yield* readBatch(batches, rows)) {
    const numbers = rows.map(({ row }) => row)
    const texts = targets.map(({ compute }) => sql`${rows.map(compute)}::text[]`)
    const updated = yield sql`update ${quoted(batches.table)} as t set ${assignments}${also ?? raw('')}
      from unnest(${numbers}::bigint[], ${join(texts)}) as made (number, ${names})
      where t._row = made.number and t._row between ${numbers[0]} and ${numbers.at(-1)}
        and ${also === undefined ? sql`(${differing})` : sql`true`} returning 1 as one`
    count += updated.length
  }
  return count
}

function value(index: number): Sql {
  return raw(`v${index}`)
}
