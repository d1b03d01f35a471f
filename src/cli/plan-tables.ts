/**
 * Plans the import of tables: which collection each table becomes, which field each column, and what its keys and
 * references are. The names are those that `inspect` chooses, unless a map gives others.
 */
import { isKey } from '../jobs/import-keys.ts'
import type { KeySpace } from '../jobs/import-staged.ts'
import { type Finding, Part } from '../model/check/parts.ts'
import { suggest } from '../model/nearest.ts'
import type { Catalog, Field, Resource } from '../model/resource.ts'
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

/** Reads a map of tables: `tables: { Employee: { collection: staff, columns: { ReportsTo: boss_id } } }`. */
export function readTableMap(value: unknown, findings: Finding[]): TableMap {
  const map = new Part(value, findings)
  const tables = new Map<string, Exclude<ReturnType<TableMap['get']>, undefined>>()
  if (!map.object('tables: { Employee: { collection: staff } }')) return tables
  map.keys(['tables'])
  const remedy = 'Write { collection: NAME, columns: { COLUMN: FIELD } }, or false to leave the table out.'
  for (const [name, part] of map.key('tables').entries()) {
    if (part.value === false) tables.set(name, false)
    else if (part.object('{ collection: NAME, columns: { COLUMN: FIELD } }, or false to leave the table out')) {
      part.keys(['collection', 'columns'])
      const collection = part.key('collection')
      if (!collection.isAbsent && collection.text === '') collection.mustBe('the name of a collection', remedy)
      const columns = new Map<string, string | false>()
      for (const [column, field] of part.key('columns').entries()) {
        if (field.value === false || field.text !== '') columns.set(column, field.value === false ? false : field.text)
        else
          field.mustBe(
            'the name of a field, or false',
            'Write the name of the field, or false to leave the column out.',
          )
      }
      tables.set(name, { columns, ...(collection.isAbsent ? {} : { collection: collection.text }) })
    }
  }
  return tables
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

function columnsOf({ named, resource, columns }: Chosen, omissions: string[]): Columns {
  const { table, fields } = named
  const found: { column: ColumnDescription; field: Field }[] = []
  for (const column of table.columns) {
    const { name } = column
    const wanted = columns.get(name) ?? fields.get(name) ?? snakeCase(name)
    const field = wanted === false ? undefined : resource.field.get(wanted)
    const isSet = field?.readOnly === true && field.name !== resource.owner
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
