/**
 * From what an older version stored to what the current one stores: tables and columns get the names, and values the form,
 * that the declared changes say (VER-2). What is left to do afterwards is the same as for any database.
 */
import { type Catalog, isMapped, type MappedResource, resourceInVersion } from '../../model/resource.ts'
import type { TableSpec } from '../sql/tables.ts'
import type { ExistingSchema, ExistingTable } from './migration.ts'
import { type MigrationStep, step } from './migration-step.ts'

/**
 * Plans the steps.
 *
 * @param version the one whose names the database has
 */
export function planCatchUp(
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
    // What has that name already was not made by an older version.
    if (older.name !== stored.name && existing.has(stored.name)) return []
    return catchUp(table, older, spec)
  })
}

function catchUp(table: ExistingTable, { mapping }: MappedResource, spec: TableSpec): MigrationStep[] {
  const { stored, toStored, conversions } = mapping
  const { name } = stored
  const has = (column: string) => table.columns.some((each) => each.name === column)
  const renamed = [...toStored].filter(([from, to]) => from !== to && has(from))
  const converted = [...conversions].filter(([from]) => has(from))
  const isMoved = table.name !== name
  if (!isMoved && renamed.length === 0 && converted.length === 0) return []
  // Indexes are called by what they are of, and are made anew.
  const indexes = table.indexes.map((index) =>
    step(table.name, { kind: 'drop-index', index }, `drop the index ${index}, to be made anew`),
  )
  const search =
    table.search === undefined
      ? []
      : [
          step(
            table.name,
            { kind: 'drop-search', search: table.search.name },
            `drop the full-text index of ${table.name}, to be made anew`,
          ),
        ]
  const columns = new Map(renamed)
  const names = [...columns].map(([from, to]) => `${from} to ${to}`).join(', ')
  return [
    ...indexes,
    ...search,
    ...(isMoved
      ? [step(table.name, { kind: 'rename-table', to: name }, `rename the table ${table.name} to ${name}`)]
      : []),
    ...(columns.size > 0
      ? [step(name, { kind: 'rename-columns', columns }, `rename columns of ${name}: ${names}`)]
      : []),
    ...converted.flatMap(([from, conversion]) => {
      const column = spec.columns.find((each) => each.name === toStored.get(from))
      const field = stored.field.get(column?.name ?? '')
      const was = table.columns.find((each) => each.name === from)
      if (column === undefined || field === undefined || was === undefined) return []
      const change = { kind: 'convert-column', column, from: was.holds, conversion, field } as const
      return [step(name, change, `convert the values of ${name}.${column.name}`)]
    }),
  ]
}
