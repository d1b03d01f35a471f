/** From what a database holds to what it should hold: the steps between, in the order in which they work. */

import { formerKeys } from '../sql/system-tables.ts'
import type { Held } from '../sql/table-spec.ts'
import type { ColumnSpec, TableSpec } from '../sql/tables.ts'
import { type MigrationStep, step } from './migration-step.ts'

/** A column as it is. */
export interface ExistingColumn {
  readonly name: string
  readonly holds: Held
  /** Whether no row has `null` in it, as far as is known. */
  readonly required: boolean
}

/** A table of ours as it is. */
export interface ExistingTable {
  readonly name: string
  readonly columns: readonly ExistingColumn[]
  /** The names of its indexes that are ours. */
  readonly indexes: readonly string[]
  /** Its full-text index, and the columns whose words are in it. */
  readonly search: { readonly name: string; readonly columns: readonly string[] } | undefined
  /** Whether its records are counted. Tables of the system are not. */
  readonly clock: boolean
}

/** What a database holds. */
export interface ExistingSchema {
  /** The tables that are ours. */
  readonly tables: readonly ExistingTable[]
  /** The names of everything else, in lower case. */
  readonly foreign: readonly string[]
}

/**
 * Plans the steps from one schema to another. Nothing is counted here: each step with a `question` has to be
 * weighed (`weigh`) when those before it have been taken, because they may change the answer.
 *
 * @returns no steps where the database holds what it should
 */
export function planMigration(current: ExistingSchema, desired: readonly TableSpec[]): MigrationStep[] {
  const existing = new Map(current.tables.map((table) => [table.name, table]))
  const wanted = new Set(desired.map((table) => table.name))
  const moves = existing.has(formerKeys) && wanted.has('api-keys')
  const gone = current.tables.filter(({ name }) => !wanted.has(name) && !(moves && name === formerKeys))
  const missing = desired.filter((table) => !existing.has(table.name))
  const blocked = missing.filter((table) => current.foreign.includes(table.name))
  const created = missing.filter((table) => !blocked.includes(table))
  const kept = desired.flatMap((table) => {
    const before = existing.get(table.name)
    return before === undefined ? [] : [{ table, before }]
  })
  return [
    ...blocked.map(blockedStep),
    // Indexes stand in the way of changing their columns; searches too, and both are cheaper made at once at the end.
    ...kept.flatMap(({ table, before }) => dropIndexes(before, table)),
    ...kept.flatMap(({ table, before }) => dropSearch(before, table)),
    ...gone.map(dropTable),
    ...created.map((spec) => step(spec.name, { kind: 'create-table', spec }, `create the table ${spec.name}`)),
    ...(moves ? [step('api-keys', { kind: 'move-keys' }, 'make records of the API keys')] : []),
    // Before rows change: every change moves the clock on.
    ...created.flatMap((table) => setClock(table)),
    ...kept.flatMap(({ table, before }) => (before.clock ? [] : setClock(table))),
    ...kept.flatMap(({ table, before }) => changeColumns(before, table)),
    ...created.flatMap((table) => buildSearch(undefined, table)),
    ...kept.flatMap(({ table, before }) => buildSearch(before, table)),
    // Last, so that duplicates are looked for among the final values.
    ...created.flatMap((table) => createIndexes([], table)),
    ...kept.flatMap(({ table, before }) => createIndexes(before.indexes, table)),
  ]
}

function blockedStep(table: TableSpec): MigrationStep {
  const sentence = `the database has a "${table.name}" already that Resourced did not make: rename it, or use another database`
  return step(table.name, { kind: 'blocked' }, sentence)
}

function dropTable(table: ExistingTable): MigrationStep {
  const change = { kind: 'drop-table', search: table.search?.name } as const
  return step(table.name, change, `drop the table ${table.name}`, { ask: 'rows', table: table.name })
}

function setClock(table: TableSpec): MigrationStep[] {
  return table.kind === 'system' ? [] : [step(table.name, { kind: 'set-clock' }, `count the records of ${table.name}`)]
}

function dropIndexes(before: ExistingTable, table: TableSpec): MigrationStep[] {
  const wanted = new Set(table.indexes.map((index) => index.name))
  return before.indexes
    .filter((name) => !wanted.has(name))
    .map((name) => step(table.name, { kind: 'drop-index', index: name }, `drop the index ${name}`))
}

function createIndexes(before: readonly string[], table: TableSpec): MigrationStep[] {
  return table.indexes
    .filter((index) => !before.includes(index.name))
    .map((index) => {
      const { unique, columns } = index
      const what = unique
        ? `keep ${columns.join(', ')} unique in ${table.name}`
        : `index ${table.name} by ${columns.join(', ')}`
      const question = unique ? ({ ask: 'duplicates', table: table.name, columns } as const) : undefined
      return step(table.name, { kind: 'create-index', index }, what, question)
    })
}

function dropSearch(before: ExistingTable, table: TableSpec): MigrationStep[] {
  if (before.search === undefined || table.search !== undefined) return []
  const { name } = before.search
  return [step(table.name, { kind: 'drop-search', search: name }, `drop the full-text index of ${table.name}`)]
}

function buildSearch(before: ExistingTable | undefined, table: TableSpec): MigrationStep[] {
  const { search } = table
  if (search === undefined) return []
  const same = before?.search !== undefined && before.search.columns.join() === search.columns.join()
  if (same && !search.columns.some((name) => rewritten(before, table).has(name))) return []
  const sentence = `build the full-text index of ${table.name} (${search.columns.join(', ')})`
  return [step(table.name, { kind: 'build-search', search }, sentence)]
}

/** The columns of a table that are there before and after, whose values may change on the way. */
function rewritten(before: ExistingTable, table: TableSpec): Set<string> {
  const names = new Set<string>()
  for (const column of table.columns) {
    const was = before.columns.find((each) => each.name === column.name)
    if (was === undefined) {
      if (column.default !== undefined) names.add(column.name)
    } else if (was.holds !== column.holds || (column.required && !was.required && column.default !== undefined)) {
      names.add(column.name)
    }
  }
  return names
}

function changeColumns(before: ExistingTable, table: TableSpec): MigrationStep[] {
  const was = new Map(before.columns.map((column) => [column.name, column]))
  const wanted = new Set(table.columns.map((column) => column.name))
  const changed = rewritten(before, table)
  const values = table.columns.filter((column) => column.derived === undefined)
  const derived = table.columns.filter((column) => column.derived !== undefined)
  return [
    ...before.columns.filter((column) => !wanted.has(column.name)).map((column) => dropColumn(table, column)),
    ...values.flatMap((column) => changeColumn(table, column, was.get(column.name))),
    ...derived.flatMap((column) => {
      const isNew = !was.has(column.name)
      if (!isNew && !changed.has(column.derived!.from)) return []
      const added = isNew ? [addColumn(table, column)] : []
      return [...added, step(table.name, { kind: 'derive-column', column }, `fill ${table.name}.${column.name}`)]
    }),
  ]
}

function addColumn(table: TableSpec, column: ColumnSpec): MigrationStep {
  return step(
    table.name,
    { kind: 'add-column', column },
    `add the column ${table.name}.${column.name} (${column.holds})`,
  )
}

function dropColumn(table: TableSpec, { name }: ExistingColumn): MigrationStep {
  // What was made from another column can be made again.
  const question = name.startsWith('_') ? undefined : ({ ask: 'values', table: table.name, column: name } as const)
  return step(table.name, { kind: 'drop-column', column: name }, `drop the column ${table.name}.${name}`, question)
}

function changeColumn(table: TableSpec, column: ColumnSpec, was: ExistingColumn | undefined): MigrationStep[] {
  const { name, holds } = column
  if (was === undefined) return [addColumn(table, column), ...fill(table, column, column.default !== undefined)]
  const steps: MigrationStep[] = []
  if (was.holds !== holds) {
    const sentence = `change ${table.name}.${name} from ${was.holds} to ${holds}`
    const question = { ask: 'inconvertible', table: table.name, column: name, from: was.holds, to: holds } as const
    steps.push(step(table.name, { kind: 'change-type', column, from: was.holds }, sentence, question))
  }
  if (was.required && !column.required) {
    const sentence = `${table.name}.${name} is now optional`
    steps.push(step(table.name, { kind: 'allow-null', column: name }, sentence))
  }
  // Values that could not be converted are null now, so a required field is looked at again.
  const isRequired = column.required && (!was.required || was.holds !== holds)
  return [...steps, ...fill(table, column, isRequired && column.default !== undefined, isRequired)]
}

function fill(table: TableSpec, column: ColumnSpec, withDefault: boolean, required = column.required): MigrationStep[] {
  const { name } = column
  const question = { ask: 'nulls', table: table.name, column: name } as const
  if (withDefault) {
    const sentence = `fill ${table.name}.${name} with ${JSON.stringify(column.default)}`
    return [step(table.name, { kind: 'fill-default', column }, sentence, question)]
  }
  if (!required) return []
  return [step(table.name, { kind: 'require', column: name }, `${table.name}.${name} is now required`, question)]
}
