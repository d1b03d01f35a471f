/**
 * Plans the import of tables: which collection each table becomes, which field each column, and what its keys and
 * references are. The names are those that `inspect` chooses, unless a map gives others.
 */

import { type Finding, Part } from 'resourced-contract/model/check/parts'
import { suggest } from 'resourced-contract/model/nearest'
import type { Catalog, Field, Resource } from 'resourced-contract/model/resource'
import { isKey } from '../jobs/import-keys.ts'
import type { KeySpace } from '../jobs/import-staged.ts'
import type { ColumnDescription, DatabaseDescription, TableDescription } from '../storage/table-description.ts'
import { type NamedTable, namedTables, snakeCase } from './inspect/propose.ts'

/** A table that is imported. */
export interface PlannedTable {
  readonly table: TableDescription
  readonly resource: Resource
  readonly columns: readonly { readonly column: ColumnDescription; readonly field: Field }[]
  /** The sets of columns by which its rows are found, with the numbers of their spaces: first the primary key. */
  readonly keys: readonly { readonly columns: readonly string[]; readonly space: number }[]
  /** The field that takes the primary key, because it is the key of the import. */
  readonly keyField: Field | undefined
  /** The references, with the column that holds them and the space of their keys. */
  readonly links: readonly { readonly column: string; readonly field: Field; readonly space: number }[]
}

export interface TablePlan {
  readonly tables: readonly PlannedTable[]
  readonly spaces: readonly KeySpace[]
  /** What is left out, and why: sentences. */
  readonly omissions: readonly string[]
}

/** Other names than those of `inspect`. `false`: left out. */
export type TableMap = ReadonlyMap<
  string,
  false | { readonly collection?: string; readonly columns: ReadonlyMap<string, string | false> }
>

/**
 * Reads a map of tables: `tables: { Employee: { collection: staff, columns: { ReportsTo: boss_id } } }`. Every name in
 * it must be one of the database or of the declaration: what a wrong name was meant for would be left out.
 */
export function readTableMap(
  value: unknown,
  findings: Finding[],
  { described, catalog }: { readonly described: DatabaseDescription; readonly catalog: Catalog },
): TableMap {
  const map = new Part(value, findings)
  const tables = new Map<string, Exclude<ReturnType<TableMap['get']>, undefined>>()
  if (!map.object('tables: { Employee: { collection: staff } }')) return tables
  map.keys(['tables'])
  const known = namedTables(described)
  const collections = [...catalog.resources.keys()]
  for (const [name, part] of map.key('tables').entries()) {
    const named = known.filter(({ table }) => table.name === name)
    if (named.length === 0) {
      const names = known.map(({ table }) => table.name)
      part.reportKey('is not a table of the database', suggest(name, names))
    } else if (part.value === false) tables.set(name, false)
    else if (part.object('{ collection: NAME, columns: { COLUMN: FIELD } }, or false to leave the table out')) {
      part.keys(['collection', 'columns'])
      const collection = part.key('collection')
      if (!collection.isAbsent && !catalog.resources.has(collection.text)) {
        collection.unknown('is not a collection of the declaration', collections)
      }
      const columns = new Map<string, string | false>()
      for (const each of named) {
        const own = collection.isAbsent ? each.name : collection.text
        const resource = catalog.resources.get(own)
        if (resource !== undefined) readColumns(part.key('columns'), { named: each, resource, columns })
        else if (collection.isAbsent) {
          const remedy = `Add collection: NAME. ${suggest(own, collections)}`
          part.reportKey(`would be the collection ${own}, which the declaration does not have`, remedy)
        }
      }
      tables.set(name, { columns, ...(collection.isAbsent ? {} : { collection: collection.text }) })
    }
  }
  return tables
}

/** Reads the fields of the columns of a table into `columns`. */
function readColumns(
  part: Part,
  { named, resource, columns }: Pick<Chosen, 'named' | 'resource'> & { readonly columns: Map<string, string | false> },
): void {
  const { table } = named
  const fields = resource.fields.map(({ name }) => name)
  for (const [column, each] of part.entries()) {
    const field = resource.field.get(each.text)
    if (!table.columns.some(({ name }) => name === column)) {
      const names = table.columns.map(({ name }) => name)
      each.reportKey(`is not a column of ${table.name}`, suggest(column, names))
    } else if (each.value === false) columns.set(column, false)
    else if (each.text === '') each.mustBe('the name of a field, or false', `${anotherField}.`)
    else if (field === undefined) each.unknown(`is not a field of ${resource.name}`, fields)
    else if (isSetByServer(field, resource)) each.report('is a field that the server sets', `${anotherField}.`)
    else columns.set(column, each.text)
  }
  const taken = new Map<string, string>()
  // The columns of the map last: its places are reported.
  const ordered = table.columns.toSorted(
    (left, right) => Number(columns.has(left.name)) - Number(columns.has(right.name)),
  )
  for (const { name } of ordered) {
    if (!part.key(name).isAbsent && !columns.has(name)) continue
    const field = fieldOf(name, { named, columns })
    if (field === false) continue
    const other = taken.get(field)
    if (other !== undefined && columns.has(name)) {
      const remedy = `${anotherField}, or do so for the column ${other}.`
      part.key(name).report(`is the field ${field}, as the column ${other} is`, remedy)
    }
    taken.set(field, name)
  }
}

const anotherField = 'Write the name of another field, or false to leave the column out'

/** The name of the field that a column becomes, which need not exist; `false`: the map leaves it out. */
function fieldOf(column: string, { named, columns }: Pick<Chosen, 'named' | 'columns'>): string | false {
  return columns.get(column) ?? named.fields.get(column) ?? snakeCase(column)
}

function isSetByServer(field: Field, { owner }: Resource): boolean {
  return field.readOnly && field.name !== owner
}

/**
 * Plans the import of the tables that become collections of the catalog.
 *
 * @param key the unique field that keeps the primary key, in the collections that have it
 */
export function planTables(
  described: DatabaseDescription,
  catalog: Catalog,
  { map, key }: { readonly map: TableMap; readonly key: string | undefined },
): TablePlan {
  const omissions: string[] = []
  const chosen = namedTables(described).flatMap((named): Chosen[] => {
    const other = map.get(named.table.name)
    const name = (other !== undefined && other !== false ? other.collection : undefined) ?? named.name
    const resource = other === false ? undefined : catalog.resources.get(name)
    if (resource !== undefined)
      return [{ named, resource, columns: other === false ? new Map() : (other?.columns ?? new Map()) }]
    const why =
      other === false ? 'the map says so' : `there is no collection ${name}. ${suggest(name, catalog.resources.keys())}`
    omissions.push(`Left out: the table ${named.table.name}: ${why}`)
    return []
  })
  const mapped = chosen.map((each): Mapped => {
    const columns = columnsOf(each, omissions)
    return {
      ...each,
      fieldsOfColumns: columns,
      keyField: key === undefined ? undefined : keyFieldOf(each, columns, key),
    }
  })
  const spaces = new Spaces()
  const tables = mapped.map((each): PlannedTable => {
    const { keyField, fieldsOfColumns: columns, resource } = each
    const { table } = each.named
    const links = linksOf(each, mapped, spaces)
    const linked = new Set(links.map(({ column }) => column))
    const own =
      table.primaryKey.length === 0 ? [] : [{ columns: table.primaryKey, space: spaces.of(each, table.primaryKey) }]
    return {
      ...{ table, resource, links, keys: own, keyField },
      columns: columns.filter(({ column, field }) => !linked.has(column.name) && field !== keyField),
    }
  })
  // References may name other unique columns than the primary key.
  const keysOf = ({ table, keys }: PlannedTable) => [
    ...keys,
    ...spaces.within(table).filter(({ space }) => !keys.some((each) => each.space === space)),
  ]
  return { tables: tables.map((each) => ({ ...each, keys: keysOf(each) })), spaces: spaces.all, omissions }
}

/** A table and its collection. */
interface Chosen {
  readonly named: NamedTable
  readonly resource: Resource
  /** The names of fields by column, from the map. */
  readonly columns: ReadonlyMap<string, string | false>
}

type Columns = PlannedTable['columns']

/** A table whose columns have fields. */
interface Mapped extends Chosen {
  readonly fieldsOfColumns: Columns
  readonly keyField: Field | undefined
}

function columnsOf(chosen: Chosen, omissions: string[]): Columns {
  const { named, resource } = chosen
  const { table } = named
  const found: { column: ColumnDescription; field: Field }[] = []
  for (const column of table.columns) {
    const { name } = column
    const wanted = fieldOf(name, chosen)
    const field = wanted === false ? undefined : resource.field.get(wanted)
    const isSet = field !== undefined && isSetByServer(field, resource)
    if (field !== undefined && !isSet) found.push({ column, field })
    // The primary key becomes the id of the record.
    else if (wanted !== false && !table.primaryKey.includes(name)) {
      const why = isSet ? `the server sets ${field.name}` : `${resource.name} has no field ${String(wanted)}`
      omissions.push(`Left out: the column ${name} of ${table.name}: ${why}.`)
    }
  }
  return found
}

/** The field that keeps the primary key: the one of the import, or else the one that the column becomes anyway. */
function keyFieldOf({ named: { table }, resource }: Chosen, columns: Columns, key: string): Field | undefined {
  if (table.primaryKey.length === 0) return undefined
  const [first, ...more] = table.primaryKey
  const own = more.length > 0 ? undefined : columns.find(({ column }) => column.name === first)?.field
  return [resource.field.get(key), own].find((field) => field !== undefined && !field.readOnly && isKey(field))
}

/** A reference follows the foreign key of its column, or else holds the primary key of its collection's table. */
function linksOf({ named, fieldsOfColumns }: Mapped, mapped: readonly Mapped[], spaces: Spaces): PlannedTable['links'] {
  return fieldsOfColumns.flatMap(({ column, field }) => {
    const targets = mapped.filter(({ resource }) => resource.name === field.reference?.collection)
    const foreign = named.table.foreignKeys.find((each) => each.columns.length === 1 && each.columns[0] === column.name)
    const isTarget = ({ named: { table } }: Chosen) => foreign?.table === table.name && foreign.schema === table.schema
    const target = targets.find(isTarget) ?? targets[0]
    if (target === undefined) return []
    const keys = foreign !== undefined && isTarget(target) ? foreign.targets : target.named.table.primaryKey
    return keys.length === 1 ? [{ column: column.name, field, space: spaces.of(target, keys) }] : []
  })
}

/** Numbers the sets of columns by which rows are found. */
class Spaces {
  readonly all: KeySpace[] = []
  readonly #numbers = new Map<string, number>()
  readonly #ofTable = new Map<TableDescription, { columns: readonly string[]; space: number }[]>()

  of({ named: { table }, resource, keyField }: Mapped, columns: readonly string[]): number {
    const name = JSON.stringify([table.schema, table.name, columns])
    return this.#numbers.getOrInsertComputed(name, () => {
      const isPrimary = JSON.stringify(columns) === JSON.stringify(table.primaryKey)
      const space = this.all.push({ resource, field: isPrimary ? keyField : undefined }) - 1
      this.#ofTable.getOrInsert(table, []).push({ columns, space })
      return space
    })
  }

  within(table: TableDescription): readonly { readonly columns: readonly string[]; readonly space: number }[] {
    return this.#ofTable.get(table) ?? []
  }
}
