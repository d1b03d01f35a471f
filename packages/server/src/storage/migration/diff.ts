/**
 * Plans a migration: compares the tables that a database holds with those that it should hold, and lists the steps
 * between in an order that works.
 */
import { type Catalog, isMapped, type MappedResource, resourceInVersion } from 'resourced-contract/model/resource'
import type { ColumnSpec, Held, TableSpec } from '../sql/tables.ts'
import { type MigrationStep, step } from './migration-step.ts'

export interface ExistingColumn {
  readonly name: string
  readonly holds: Held
  /** Whether certainly no row has `null` in it. */
  readonly required: boolean
  /** As of a `ColumnSpec`: its rows have numbers. */
  readonly sequence?: string
}

/** A full-text index as it is. */
export interface ExistingSearch {
  /** The columns whose words are stored. */
  readonly columns: readonly string[]
  /** Whether the words are indexed too: a killed migration may leave words without an index. */
  readonly isComplete: boolean
}

/** A table of ours as it is. */
export interface ExistingTable {
  readonly name: string
  readonly columns: readonly ExistingColumn[]
  /** The names of its indexes that are ours. */
  readonly indexes: readonly string[]
  /** The names of those that an interrupted build left behind: they are maintained, but no query uses them. */
  readonly invalidIndexes: readonly string[]
  readonly search: ExistingSearch | undefined
  /** Whether its records are counted. System tables need no clock. */
  readonly hasClock: boolean
}

/** The tables of a database. */
export interface ExistingSchema {
  /** The tables that are ours. */
  readonly tables: readonly ExistingTable[]
  /** The names of everything else, as the engine compares them. */
  readonly foreign: readonly string[]
}

/**
 * Plans the steps from one schema to another. Nothing is counted here. Each step has to be assessed after the steps
 * before it were taken, because they may change the counts.
 *
 * @returns no steps where the database fits the catalog
 */
export function planMigration(current: ExistingSchema, desired: readonly TableSpec[]): MigrationStep[] {
  const existing = new Map(current.tables.map((table) => [table.name, table]))
  const wanted = new Set(desired.map((table) => table.name))
  const gone = current.tables.filter(({ name }) => !wanted.has(name))
  const missing = desired.filter((table) => !existing.has(table.name))
  const blocked = missing.filter((table) => current.foreign.includes(table.name))
  const created = missing.filter((table) => !blocked.includes(table))
  const kept = desired.flatMap((table) => {
    const before = existing.get(table.name)
    return before === undefined ? [] : [{ table, before }]
  })
  const present = [...created.map((table) => ({ table, before: undefined })), ...kept]
  return [
    ...blocked.map(blockedStep),
    // A column cannot change while an index includes it, and building each index once, at the end, is cheaper.
    ...kept.flatMap(({ table, before }) => dropIndexes(before, table)),
    ...kept.flatMap(({ table, before }) => dropSearch(before, table)),
    ...gone.map(dropTable),
    ...created.map((spec) => step(spec.name, { kind: 'create-table', spec }, `create the table ${spec.name}`)),
    // Before rows change, because each change increments the clock.
    ...present.filter(({ table, before }) => table.kind === 'resource' && before?.hasClock !== true).map(setClock),
    ...kept.flatMap(({ table, before }) => changeColumns(before, table)),
    ...present.flatMap(({ table, before }) => buildSearch(before, table)),
    // Last, so that unique indexes check the final values.
    ...present.flatMap(({ table, before }) => createIndexes(before?.indexes ?? [], table)),
  ]
}

function blockedStep(table: TableSpec): MigrationStep {
  const { name } = table
  const remedy = 'rename it, or use another database'
  return step(
    name,
    { kind: 'blocked' },
    `the database already has a "${name}" that Resourced did not create: ${remedy}`,
  )
}

function dropTable(table: ExistingTable): MigrationStep {
  const { name } = table
  return step(name, { kind: 'drop-table' }, `drop the table ${name}`)
}

function setClock({ table: { name } }: { readonly table: TableSpec }): MigrationStep {
  return step(name, { kind: 'set-clock' }, `count the records of ${name}`)
}

function dropIndexes(before: ExistingTable, table: TableSpec): MigrationStep[] {
  const wanted = new Set(table.indexes.map((index) => index.name))
  return [...before.indexes, ...before.invalidIndexes]
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
      return step(table.name, { kind: 'create-index', index }, what)
    })
}

function dropSearch(before: ExistingTable, table: TableSpec): MigrationStep[] {
  if (before.search === undefined || table.search !== undefined) return []
  return [step(table.name, { kind: 'drop-search' }, `drop the full-text index of ${table.name}`)]
}

function buildSearch(before: ExistingTable | undefined, table: TableSpec): MigrationStep[] {
  const { search } = table
  if (search === undefined) return []
  const isSame = before?.search?.isComplete === true && before.search.columns.join() === search.columns.join()
  if (isSame && !search.columns.some((name) => rewritten(before, table).has(name))) return []
  const sentence = `build the full-text index of ${table.name} (${search.columns.join(', ')})`
  return [step(table.name, { kind: 'build-search', search }, sentence)]
}

/** The columns whose values the steps may change. */
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
    ...values.flatMap((column) => numberRecords(table, column, was.get(column.name))),
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
  return step(table.name, { kind: 'drop-column', column: name }, `drop the column ${table.name}.${name}`)
}

function changeColumn(table: TableSpec, column: ColumnSpec, was: ExistingColumn | undefined): MigrationStep[] {
  const { name, holds } = column
  if (was === undefined) return [addColumn(table, column), ...fill(table, column, column.default !== undefined)]
  const steps: MigrationStep[] = []
  if (was.holds !== holds) {
    const sentence = `change ${table.name}.${name} from ${was.holds} to ${holds}`
    steps.push(step(table.name, { kind: 'change-type', column, from: was.holds }, sentence))
  }
  if (was.required && !column.required) {
    const sentence = `${table.name}.${name} is now optional`
    steps.push(step(table.name, { kind: 'allow-null', column: name }, sentence))
  }
  // Values that could not be converted are null by then, so a required field is checked again.
  const isRequired = column.required && (!was.required || was.holds !== holds)
  return [...steps, ...fill(table, column, isRequired && column.default !== undefined, isRequired)]
}

/** Numbers the records of a new sequence, once the fields that it is numbered by have their values. */
function numberRecords(table: TableSpec, column: ColumnSpec, was: ExistingColumn | undefined): MigrationStep[] {
  const { name, sequence } = column
  if (sequence === undefined || was?.sequence === sequence) return []
  const per = sequence === '' ? '' : ` by ${sequence}`
  const sentence = `number the records of ${table.name} in ${table.name}.${name}${per}`
  return [step(table.name, { kind: 'number-records', column, per: sequence }, sentence)]
}

function fill(table: TableSpec, column: ColumnSpec, withDefault: boolean, required = column.required): MigrationStep[] {
  const { name } = column
  // Every record gets a number.
  if (column.sequence !== undefined) return []
  if (withDefault) {
    const sentence = `fill ${table.name}.${name} with ${JSON.stringify(column.default)}`
    return [step(table.name, { kind: 'fill-default', column }, sentence)]
  }
  if (!required) return []
  return [step(table.name, { kind: 'require', column: name }, `${table.name}.${name} is now required`)]
}

/**
 * Plans the steps from the stored form of an older version to that of the current version: tables and columns get the
 * current names, and declared changes convert values (VER-2). `planMigration` plans the rest afterwards.
 *
 * @param version the version whose names the tables have
 */
export function planVersionChange(
  current: ExistingSchema,
  desired: readonly TableSpec[],
  catalog: Catalog,
  version: string,
): MigrationStep[] {
  if (version === catalog.version || !catalog.versions.has(version)) return []
  const existing = new Map(current.tables.map((table) => [table.name, table]))
  return [...catalog.resources.values()].flatMap((stored) => {
    const older = resourceInVersion(catalog, version, stored.name)
    const table = older && existing.get(older.name)
    const spec = desired.find((each) => each.name === stored.name)
    if (older === undefined || !isMapped(older) || table === undefined || spec === undefined) return []
    // An older version did not create a table that has the current name already.
    if (older.name !== stored.name && existing.has(stored.name)) return []
    return changeVersion(table, older, spec)
  })
}

function changeVersion(table: ExistingTable, { mapping }: MappedResource, spec: TableSpec): MigrationStep[] {
  const { stored, toStored, conversions } = mapping
  const { name } = stored
  const has = (column: string) => table.columns.some((each) => each.name === column)
  const columns = new Map([...toStored].filter(([from, to]) => from !== to && has(from)))
  const converted = [...conversions].filter(([from]) => has(from))
  const isRenamed = table.name !== name
  if (!isRenamed && columns.size === 0 && converted.length === 0) return []
  const steps: MigrationStep[] = []
  // Indexes are named after their table and columns, so they are built anew.
  for (const index of [...table.indexes, ...table.invalidIndexes]) {
    steps.push(step(table.name, { kind: 'drop-index', index }, `drop the index ${index}, to be rebuilt`))
  }
  if (table.search !== undefined) {
    const sentence = `drop the full-text index of ${table.name}, to be rebuilt`
    steps.push(step(table.name, { kind: 'drop-search' }, sentence))
  }
  if (isRenamed) {
    steps.push(step(table.name, { kind: 'rename-table', to: name }, `rename the table ${table.name} to ${name}`))
  }
  if (columns.size > 0) {
    const names = [...columns].map(([from, to]) => `${from} to ${to}`).join(', ')
    steps.push(step(name, { kind: 'rename-columns', columns }, `rename columns of ${name}: ${names}`))
  }
  for (const [from, conversion] of converted) {
    const column = spec.columns.find((each) => each.name === toStored.get(from))
    const field = stored.field.get(column?.name ?? '')
    const was = table.columns.find((each) => each.name === from)
    if (column === undefined || field === undefined || was === undefined) continue
    const change = { kind: 'convert-column', column, from: was.holds, conversion, field } as const
    steps.push(step(name, change, `convert the values of ${name}.${column.name}`))
  }
  return steps
}
