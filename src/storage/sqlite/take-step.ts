/** The questions and the steps of a migration, carried out on SQLite. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { timestamp } from '../../model/time.ts'
import { isWider } from '../migration/convert.ts'
import type { Answer, MigrationStep, Question } from '../migration/migration-step.ts'
import { beginEpoch, forgetEpoch } from '../sql/epoch.ts'
import { isSystemTable } from '../sql/system-tables.ts'
import type { Held } from '../sql/table-spec.ts'
import type { ColumnSpec, SearchSpec } from '../sql/tables.ts'
import { convertColumn, renameColumns, renameTable } from './catch-up.ts'
import { sqlite } from './engine.ts'
import { moveKeys } from './move-keys.ts'
import { endOfRun, partName, partNames, partOf, undividedSearch } from './search-parts.ts'

const quote = sqlite.identifier

/** Counts what a step has to know. */
export function answer(database: DatabaseSync, question: Question): Answer {
  const count = (what: string, ...values: SQLInputValue[]): Answer => {
    const row = database.prepare(`select ${what} from ${quote(question.table)}`).get(...values)
    return { count: Number(row?.n) }
  }
  switch (question.ask) {
    case 'rows':
      return count('count(*) as n')
    case 'values':
      return count(`count(${quote(question.column)}) as n`)
    case 'nulls':
      return count(`count(*) - count(${quote(question.column)}) as n`)
    case 'inconvertible': {
      const column = quote(question.column)
      return count(`count(${column}) - count(resourced_convert(${column}, ?, ?)) as n`, question.from, question.to)
    }
    case 'duplicates': {
      const columns = question.columns.map(quote)
      const conditions = ['deleted_at is null', ...columns.map((column) => `${column} is not null`)].join(' and ')
      const groups = `select count(*) - 1 as extra, max(id) as id from ${quote(question.table)} where ${conditions} group by ${columns.join(', ')}`
      const row = database.prepare(`select sum(extra) as n, max(id) as example from (${groups}) where extra > 0`).get()
      return { count: Number(row?.n ?? 0), example: (row?.example as string | null) ?? undefined }
    }
  }
}

/**
 * Takes a step.
 *
 * @param now milliseconds since 1970: what `updated_at` becomes in records whose values change
 */
export function takeStep(database: DatabaseSync, step: MigrationStep, now: number): void {
  const table = quote(step.table)
  const run = (statement: string, ...values: SQLInputValue[]) => database.prepare(statement).run(...values)
  const dropSearch = (search: string | undefined) => {
    if (search === undefined) return
    for (const name of [...partNames(search), undividedSearch(step.table)]) run(`drop table if exists ${quote(name)}`)
  }
  switch (step.kind) {
    case 'create-table':
      run(sqlite.createTable(step.spec))
      return
    case 'drop-table':
      dropSearch(step.search)
      run(`drop table ${table}`)
      run('delete from resourced_clocks where collection = ?', step.table)
      run(forgetEpoch(step.table))
      return
    case 'add-column':
      run(`alter table ${table} add column ${sqlite.columnDefinition(step.column)}`)
      return
    case 'drop-column':
      run(`alter table ${table} drop column ${quote(step.column)}`)
      if (step.loses !== 'nothing') for (const statement of beginEpoch(step.table)) run(statement)
      return
    case 'change-type':
      changeType(database, step.table, step.column, step.from, step.loses === 'nothing', now)
      return
    case 'fill-default': {
      const value = sqlite.store(step.column.default, step.column.holds) as SQLInputValue
      const column = quote(step.column.name)
      changeRows(database, step.table, `${column} = ?`, `${column} is null`, [value], now)
      return
    }
    case 'derive-column': {
      const { from, by } = step.column.derived!
      run(`update ${table} set ${quote(step.column.name)} = resourced_${by}(${quote(from)})`)
      return
    }
    case 'create-index':
      run(sqlite.createIndex(step.index))
      return
    case 'drop-index':
      run(`drop index ${quote(step.index)}`)
      return
    case 'build-search':
      dropSearch(step.search.name)
      buildSearch(database, step.search)
      return
    case 'drop-search':
      dropSearch(step.search)
      return
    case 'rename-table':
      renameTable(database, step.table, step.to)
      return
    case 'rename-columns':
      renameColumns(database, step.table, step.columns)
      return
    case 'convert-column':
      convertColumn(database, step)
      return
    case 'move-keys':
      moveKeys(database)
      return
    case 'set-clock':
      setClock(database, step.table)
      return
    case 'require':
    case 'allow-null':
    case 'blocked':
      return
  }
}

function changeType(
  database: DatabaseSync,
  table: string,
  column: ColumnSpec,
  from: Held,
  lossless: boolean,
  now: number,
): void {
  const made = { ...column, name: `_changed_${column.name}` }
  const [name, temporary] = [quote(column.name), quote(made.name)]
  database.exec(`alter table ${quote(table)} add column ${sqlite.columnDefinition(made)}`)
  const assignment = `${temporary} = resourced_convert(${name}, ?, ?)`
  if (lossless && isWider(from, column.holds)) {
    database.prepare(`update ${quote(table)} set ${assignment}`).run(from, column.holds)
  } else {
    changeRows(database, table, assignment, `${name} is not null`, [from, column.holds], now)
  }
  database.exec(`alter table ${quote(table)} drop column ${name}`)
  database.exec(`alter table ${quote(table)} rename column ${temporary} to ${name}`)
}

/** Changes values of records: they get a new revision and `updated_at` (RES-5), so that no cache keeps what they were. */
function changeRows(
  database: DatabaseSync,
  table: string,
  assignment: string,
  condition: string,
  values: readonly SQLInputValue[],
  now: number,
): void {
  const update = `update ${quote(table)} set ${assignment}`
  if (isSystemTable(table)) {
    database.prepare(`${update} where ${condition}`).run(...values)
    return
  }
  const revision = '(select revision + 1 from resourced_clocks where collection = ?)'
  const { changes } = database
    .prepare(`${update}, _revision = max(_revision + 1, ${revision}), updated_at = ? where ${condition}`)
    .run(...values, table, timestamp(now))
  if (Number(changes) > 0) {
    database.prepare('update resourced_clocks set revision = revision + 1 where collection = ?').run(table)
  }
}

function buildSearch(database: DatabaseSync, search: SearchSpec): void {
  database.exec(sqlite.createSearch(search))
  const words = `resourced_words(${search.columns.map(quote).join(', ')})`
  const next = database.prepare(`select min(_row) as row from ${quote(search.table)} where _row >= ?`)
  const rowFrom = (start: number) => next.get(start)?.row as number | null
  for (let row = rowFrom(0); row !== null; row = rowFrom(endOfRun(row))) {
    const part = quote(partName(search.name, partOf(row)))
    database
      .prepare(
        `insert into ${part} (rowid, words) select _row, ${words} from ${quote(search.table)} where _row >= ? and _row < ?`,
      )
      .run(row, endOfRun(row))
  }
}

/** Counts a collection's records. Its revision never goes back, even where the table was lost and is made again. */
function setClock(database: DatabaseSync, table: string): void {
  const counted = `select ?, coalesce(max(_revision), 0), count(*) - count(deleted_at), count(deleted_at) from ${quote(table)} where true`
  database
    .prepare(
      `insert into resourced_clocks (collection, revision, live, deleted) ${counted} on conflict (collection) ` +
        'do update set revision = max(revision, excluded.revision) + 1, live = excluded.live, deleted = excluded.deleted',
    )
    .run(table)
}
