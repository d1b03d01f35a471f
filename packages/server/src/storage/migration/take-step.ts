/**
 * Assesses and takes the steps of a migration, as statements. Each engine adds its own part (`MigrationDialect`).
 * Sequences (RES-16): records get numbers, and counters follow their fields.
 */

import { timestamp } from 'resourced-contract/model/time'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { counterName, quoted } from '../sql/columns.ts'
import { epochKey } from '../sql/context.ts'
import { countedTotal, recount } from '../sql/count-summaries.ts'
import { newMark, newStride, nextClockSql, nextRevisionSql } from '../sql/marks.ts'
import { counters, isSystemTable } from '../sql/system-tables.ts'
import { type ColumnSpec, createIndex, type IndexSpec, type Layout, column as systemColumn } from '../sql/tables.ts'
import { firstRow, type Row, type Statement, type Transaction } from '../transaction.ts'
import { convertStored, isWider, readStored, writeStored } from './convert.ts'
import type { ColumnConversion, MigrationDialect } from './migration-dialect.ts'
import { type MigrationStep, needsCount, type StepOf } from './migration-step.ts'
import { rememberChange } from './schema.ts'
import { followStates } from './state-steps.ts'

/** Assesses a step by the rows of its table as they are now. */
export function* assessStep(dialect: MigrationDialect, step: MigrationStep): Transaction<MigrationStep> {
  return needsCount(step) ? assess(step, yield* countConcerned(dialect, step)) : step
}

function* countConcerned(dialect: MigrationDialect, step: MigrationStep): Transaction<Counted> {
  const count = function* (counted: Sql): Transaction<Counted> {
    const row = yield* firstRow(sql`select ${counted} as count from ${quoted(step.table)}`)
    return { count: Number(row?.['count']) }
  }
  switch (step.kind) {
    case 'change-type':
      return { count: yield* dialect.countInconvertible(step) }
    case 'create-index':
      return yield* countDuplicates(step.index)
    case 'drop-column':
      return yield* count(sql`count(${quoted(step.column)})`)
    case 'fill-default':
      return yield* count(sql`count(*) - count(${quoted(step.column.name)})`)
    case 'require':
      return yield* count(sql`count(*) - count(${quoted(step.column)})`)
    default:
      return yield* count(sql`count(*)`)
  }
}

/** Counts the live rows beyond the first of each group with the same values, none of them `null`. */
function* countDuplicates(index: IndexSpec): Transaction<Counted> {
  const columns = index.columns.map(quoted)
  // Rows of system tables are never deleted records, and have no ids.
  const [live, id] = isSystemTable(index.table) ? ['true', 'null'] : ['deleted_at is null', 'max(id)']
  const conditions = join([raw(live), ...columns.map((column) => sql`${column} is not null`)], ' and ')
  const groups = sql`select count(*) - 1 as extra, ${raw(id)} as id from ${quoted(index.table)}
    where ${conditions} group by ${join(columns)}`
  const row = yield* firstRow(sql`select sum(extra) as count, max(id) as example from (${groups}) as g where extra > 0`)
  return { count: Number(row?.['count'] ?? 0), example: (row?.['example'] as string | null) ?? undefined }
}

/** The rows or values that a step's assessment depends on. */
interface Counted {
  readonly count: number
  /** The id of one counted record. */
  readonly example?: string | undefined
}

/** The step with its loss, or with the reason why it is impossible, by the rows that it concerns. */
export function assess(step: MigrationStep, { count, example }: Counted): MigrationStep {
  const { sentence } = step
  if (step.kind === 'fill-default') return { ...step, sentence: `${sentence} in ${counted(count, 'record')}` }
  if (count === 0) return step
  switch (step.kind) {
    case 'drop-table':
      return { ...step, loses: { rows: count }, sentence: `${sentence}: loses ${counted(count, 'record')}` }
    case 'drop-column':
      return { ...step, loses: { values: count }, sentence: `${sentence}: loses ${counted(count, 'value')}` }
    case 'change-type': {
      const lost = `${sentence}: loses ${counted(count, 'value')} that cannot be converted exactly`
      return { ...step, loses: { values: count }, sentence: lost }
    }
    case 'require': {
      const lacking = `${sentence} but ${count === 1 ? '1 record has' : `${count} records have`} no value`
      const remedy =
        'declare a default or make it optional; if the field has a new name, declare a rename under changes ' +
        '(docs/how-to/migrate-a-declaration.md), which keeps its values'
      return { ...step, impossible: true, sentence: `${lacking}: ${remedy}` }
    }
    case 'create-index': {
      const clash = `${count === 1 ? '1 record has' : `${count} records have`} the same value as another`
      const where = example === undefined ? '' : ` (such as ${example})`
      return { ...step, impossible: true, sentence: `${sentence}: ${clash}${where}; change those records first` }
    }
    default:
      return step
  }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

/**
 * Takes a step, except those that `MigrationDialect.fillDerived` takes together.
 *
 * @param now milliseconds since 1970: `updated_at` of records whose values change
 */
export function takeStep(dialect: MigrationDialect, step: MigrationStep, now: number): Transaction<void> | Statement[] {
  switch (step.kind) {
    case 'create-table':
      return [raw(dialect.createTable(step.spec))]
    case 'drop-table':
      return dropTable(dialect, step.table)
    case 'add-column':
      return [addColumn(dialect, step.table, step.column)]
    case 'drop-column':
      return dropColumn(dialect, step)
    case 'change-type':
      return changeType(dialect, step, now)
    case 'fill-default':
      return fillDefault(dialect, step, now)
    case 'create-index':
      return [raw(createIndex(step.index))]
    case 'drop-index':
      return [sql`drop index ${quoted(step.index)}`]
    case 'drop-search':
      return dialect.dropSearch(step.table)
    case 'rename-table':
      return renameTable(dialect, step.table, step.to)
    case 'rename-columns':
      return renameColumns(dialect, step)
    case 'convert-column':
      return convertColumn(dialect, step)
    case 'set-clock':
      return setClock(dialect, step.table)
    case 'number-records':
      return changeRecords(dialect, step.table, now, (also) => numberRecords(dialect, step, also))
    case 'create-triggers':
      return step.statements.map((statement) => raw(statement))
    case 'count-summaries':
      return recount(dialect, step.table, step.summaries)
    case 'count-totals':
      return countTotals(dialect, step, now)
    case 'drop-triggers':
      return step.triggers.flatMap((name) => dialect.dropTrigger(step.table, name))
    case 'rename-events':
      return [sql`update "events" set collection = ${step.to} where collection = ${step.table}`]
    case 'follow-states':
      return followStates(dialect, step)
    case 'derive-column':
    case 'build-search':
    case 'require':
    case 'allow-null':
    case 'blocked':
      return []
  }
}

function* dropTable(dialect: MigrationDialect, name: string): Transaction<void> {
  yield* dropCounters(dialect, name)
  yield* dialect.dropSearch(name)
  yield sql`drop table ${quoted(name)}`
  yield sql`delete from resourced_clocks where collection = ${name}`
  // Another collection may get its name, or events begin again with the first position.
  yield sql`delete from resourced_meta where key in (${epochKey(name)}, ${`${name}:floor`})`
}

function* dropColumn(dialect: MigrationDialect, { table, column, loses }: StepOf<'drop-column'>): Transaction<void> {
  yield* dropCounters(dialect, table, column)
  yield sql`alter table ${quoted(table)} drop column ${quoted(column)}`
  if (loses !== 'nothing') yield* beginEpoch(table)
}

/** Begins the next epoch of a collection (`Epochs`) and advances its clock. */
function beginEpoch(collection: string): Statement[] {
  if (isSystemTable(collection)) return []
  const next = sql`cast(cast(resourced_meta.value as bigint) + 1 as text)`
  return [
    sql`insert into resourced_meta (key, value) values (${epochKey(collection)}, '1')
      on conflict (key) do update set value = ${next}`,
    sql`update resourced_clocks set revision = ${nextClockSql(newStride())} where collection = ${collection}`,
  ]
}

function addColumn(dialect: MigrationDialect, table: string, column: ColumnSpec): Sql {
  return sql`alter table ${quoted(table)} add column ${raw(dialect.columnDefinition(column))}`
}

/** Changes a column's type. Values that cannot be converted become `null`. */
function* changeType(dialect: MigrationDialect, step: StepOf<'change-type'>, now: number): Transaction<void> {
  const { table, column, from, loses } = step
  const convert = (stored: Parameters<typeof convertStored>[0]) => convertStored(stored, from, column.holds, dialect)
  if (loses === 'nothing' && isWider(from, column.holds)) {
    yield* replaceColumn(dialect, { table, column, convert, also: empty })
  } else {
    yield* changeRecords(dialect, table, now, (also) => replaceColumn(dialect, { table, column, convert, also }))
  }
}

/**
 * Converts values as a declared change between versions says. Records keep their revision: clients of the older
 * version see the same values, and to clients of the newer version the record is new.
 *
 * @throws Error with the record whose value cannot be converted
 */
function* convertColumn(dialect: MigrationDialect, step: StepOf<'convert-column'>): Transaction<void> {
  const { table, column, from, conversion, field } = step
  yield* replaceColumn(dialect, {
    ...{ table, column, also: empty },
    convert(stored, id) {
      const converted = conversion.newer(readStored(stored, from)) ?? null
      if (converted === null || field.validate(converted).length === 0) {
        return writeStored(converted, column.holds, dialect)
      }
      const problem = `the conversion of ${column.name} makes a value that its schema does not allow`
      throw new Error(`The record ${id} of ${table} cannot be brought to the current version: ${problem}.`)
    },
  })
  yield* rememberChange(table, {
    column: (each) => (each.name === column.name ? { ...each, holds: column.holds } : each),
  })
}

/** Adds a column beside the one that it replaces, fills it, and gives it the other's name. Counts the filled rows. */
function* replaceColumn(
  dialect: MigrationDialect,
  { table, column, ...how }: { readonly column: ColumnSpec } & Pick<ColumnConversion, 'table' | 'convert' | 'also'>,
): Transaction<number> {
  const to = { ...column, name: `_changed_${column.name}` }
  const alter = sql`alter table ${quoted(table)}`
  yield addColumn(dialect, table, to)
  const changed = yield* dialect.convertColumn({ table, from: column.name, to, ...how })
  yield sql`${alter} drop column ${quoted(column.name)}`
  yield sql`${alter} rename column ${quoted(to.name)} to ${quoted(column.name)}`
  return changed
}

function* fillDefault(dialect: MigrationDialect, step: StepOf<'fill-default'>, now: number): Transaction<void> {
  const { table, column } = step
  const value = writeStored(column.default, column.holds, dialect)
  const name = quoted(column.name)
  yield* changeRecords(dialect, table, now, (also) =>
    dialect.countChanged(sql`update ${quoted(table)} set ${name} = ${value}${also} where ${name} is null`),
  )
}

/** Changes records, which get a new revision and `updated_at` (RES-5), so that no cache keeps the former values. */
function* changeRecords(
  { layout }: MigrationDialect,
  table: string,
  now: number,
  change: (also: Sql) => Transaction<number>,
): Transaction<void> {
  if (isSystemTable(table)) {
    yield* change(empty)
    return
  }
  const revision = nextRevisionSql(newMark())
  const changed = yield* change(sql`, _revision = ${revision}, updated_at = ${timestamp(now)}`)
  if (changed === 0) return
  const first = layout.clockSlots === 1 ? empty : sql` and slot = 0`
  yield sql`update resourced_clocks set revision = ${nextClockSql(newStride())} where collection = ${table}${first}`
}

/** Writes the sums of a table's records into the tables that hold them. */
function* countTotals(dialect: MigrationDialect, step: StepOf<'count-totals'>, now: number): Transaction<void> {
  for (const spec of step.totals) {
    const { parent, column, key } = spec
    const { differs, sum } = countedTotal(dialect, step.table, spec)
    yield* changeRecords(dialect, parent, now, (also) =>
      dialect.countChanged(sql`update ${quoted(parent)} set ${quoted(column)} = ${sum}${also} where ${differs}`),
    )
    if (key === null) continue
    const derived = { from: column, by: 'decimal' } as const
    const columns = [{ ...systemColumn(key, 'string', 'none'), derived }]
    yield* dialect.fillDerived({ table: parent, columns, search: undefined, isNew: false })
  }
}

/** Renames a table, and the collection wherever its name is stored. */
function* renameTable(dialect: MigrationDialect, from: string, to: string): Transaction<void> {
  yield sql`alter table ${quoted(from)} rename to ${quoted(to)}`
  yield sql`update resourced_clocks set collection = ${to} where collection = ${from}`
  yield sql`update resourced_queue set collection = ${to} where collection = ${from}`
  for (const row of yield sql`select job, state from resourced_work`) {
    const state = JSON.parse(String(row['state']))
    if (state?.collection !== from) continue
    const renamed = JSON.stringify({ ...state, collection: to })
    yield sql`update resourced_work set state = ${renamed} where job = ${row['job']}`
  }
  yield sql`update resourced_meta set key = ${epochKey(to)} where key = ${epochKey(from)}`
  yield* renameCounters(dialect, [{ from: counterName(from), to: counterName(to) }])
  yield* rememberChange(from, { name: to })
}

function* renameColumns(dialect: MigrationDialect, step: StepOf<'rename-columns'>): Transaction<void> {
  const { table, columns } = step
  const rename = (from: string, to: string) =>
    sql`alter table ${quoted(table)} rename column ${quoted(from)} to ${quoted(to)}`
  // Two columns may exchange their names.
  for (const from of columns.keys()) yield rename(from, `_renamed_${from}`)
  for (const [from, to] of columns) yield rename(`_renamed_${from}`, to)
  const names = [...columns].map(([from, to]) => ({ from: counterName(table, from), to: counterName(table, to) }))
  yield* renameCounters(dialect, names)
  yield* rememberChange(table, {
    column({ sequence, ...each }) {
      const per = sequence === undefined ? {} : { sequence: columns.get(sequence) ?? sequence }
      return { ...each, ...per, name: columns.get(each.name) ?? each.name }
    },
  })
}

/** Counts a collection's records, and begins its clock anew: the table may have been lost and created again. */
function* setClock(dialect: MigrationDialect, collection: string): Transaction<void> {
  const counted = yield* firstRow(
    sql`select count(*) - count(deleted_at) as live, count(deleted_at) as deleted from ${quoted(collection)}`,
  )
  yield sql`delete from resourced_clocks where collection = ${collection}`
  yield insertClock(dialect.layout, collection, {
    ...{ revision: newStride(), live: Number(counted?.['live']), deleted: Number(counted?.['deleted']) },
  })
}

/** Inserts the clock of a collection. The sum of the slots counts, and the first slot gets all of it. */
export function insertClock(
  { clockSlots }: Layout,
  collection: string,
  { revision, live, deleted }: Record<'revision' | 'live' | 'deleted', number>,
): Sql {
  if (clockSlots === 1) {
    return sql`insert into resourced_clocks (collection, revision, live, deleted)
      values (${collection}, ${revision}, ${live}, ${deleted})`
  }
  const rows = Array.from({ length: clockSlots }, (_, slot) =>
    slot === 0
      ? sql`(${collection}, 0, ${revision}, ${live}, ${deleted})`
      : sql`(${collection}, ${raw(String(slot))}, 0, 0, 0)`,
  )
  return sql`insert into resourced_clocks (collection, slot, revision, live, deleted) values ${join(rows)}`
}

/**
 * Numbers the records without a number, deleted ones too, in the order of their creation. They come after the numbers
 * that exist already. The counters go on from the greatest numbers. Counts the numbered records.
 *
 * @param also further assignments, each with a comma before it
 */
function* numberRecords(
  dialect: MigrationDialect,
  { table, column, per }: StepOf<'number-records'>,
  also: Sql,
): Transaction<number> {
  const [from, number] = [quoted(table), quoted(column.name)]
  const group = per === '' ? sql`cast('' as text)` : sql`cast(${quoted(per)} as text)`
  const last = sql`select ${group} as parent, max(${number}) as last from ${from} group by 1`
  const rank = sql`row_number() over (partition by r.parent order by r.created_at, r._row)`
  const unnumbered = sql`select _row, created_at, ${group} as parent from ${from} where ${number} is null`
  const made = sql`select r._row as place, coalesce(ended.last, 0) + ${rank} as number from (${unnumbered}) as r
    left join (${last}) as ended on ended.parent = r.parent`
  const count = yield* dialect.countChanged(
    sql`update ${from} set ${number} = made.number${also} from (${made}) as made where _row = made.place`,
  )
  const name = sql`${counterName(table, column.name)} || ${group}`
  const greater = sql`case when excluded.last > ${quoted(counters.name)}.last then excluded.last
    else ${quoted(counters.name)}.last end`
  const given = per === '' ? sql`${number} is not null` : sql`${number} is not null and ${quoted(per)} is not null`
  yield sql`insert into ${quoted(counters.name)} (name, last)
    select ${name}, max(${number}) from ${from} where ${given} group by 1
    on conflict (name) do update set last = ${greater}`
  return count
}

/** Deletes the counters of a collection, or of one of its fields. */
function* dropCounters(dialect: MigrationDialect, table: string, field?: string): Transaction<void> {
  const prefix = counterName(table, field)
  if (table === counters.name || !(yield* hasCounters(dialect))) return
  yield sql`delete from ${quoted(counters.name)} where substr(name, 1, ${prefix.length}) = ${prefix}`
}

/** Gives counters other names, by the beginnings of their names. Two of them may exchange theirs. */
function* renameCounters(
  dialect: MigrationDialect,
  names: readonly { readonly from: string; readonly to: string }[],
): Transaction<void> {
  if (!(yield* hasCounters(dialect))) return
  const rename = (from: string, to: string) =>
    sql`update ${quoted(counters.name)} set name = ${to} || substr(name, ${from.length + 1})
      where substr(name, 1, ${from.length}) = ${from}`
  for (const { from } of names) yield rename(from, `/${from}`)
  for (const { from, to } of names) yield rename(`/${from}`, to)
}

/** Whether the table of counters exists: a database gets it with its first sequence. */
function* hasCounters(dialect: MigrationDialect): Transaction<boolean> {
  const relations: readonly Row[] = yield dialect.relations
  return relations.some(({ name, kind }) => name === counters.name && kind === 'table')
}
