/** Which tables, columns, indexes and full-text indexes a database should hold for a catalog. */
import type { Catalog, Resource } from '../../model/resource.ts'
import { columnsOf, comparisonColumn, foldedColumn } from './columns.ts'
import { systemTables } from './system-tables.ts'
import { type ColumnSpec, column, heldBy, type IndexSpec, index, type Layout, type TableSpec } from './table-spec.ts'

export {
  type ColumnSpec,
  type Constraint,
  type IndexSpec,
  indexPrefix,
  type Layout,
  type SearchSpec,
  type TableSpec,
} from './table-spec.ts'

/** Everything that a database should hold for a catalog: the system's tables, then one for each resource. */
export function tablesFor(catalog: Catalog, layout: Layout): TableSpec[] {
  const resources = [...catalog.resources.values(), ...catalog.system.values()]
  return [...systemTables(layout), ...resources.map((resource) => tableFor(resource, layout))]
}

/** The name of the full-text index of a collection: how that of its tables begins. */
export function searchTable(collection: string): string {
  return `resourced_words_${collection}`
}

/** The texts that `q` searches, in the order of their declaration (QRY-5). */
export function searchColumns(resource: Resource): string[] {
  return resource.fields.filter((field) => field.search && field.type === 'string').map((field) => field.name)
}

function tableFor(resource: Resource, layout: Layout): TableSpec {
  const searched = searchColumns(resource)
  const columns = [
    column('_row', 'integer', 'row'),
    column('id', 'string', 'not null'),
    ...columnsOf(resource).map(({ name, type, field, role }): ColumnSpec => {
      if (role !== 'value') return { ...column(name, 'string', 'none'), derived: { from: field.name, by: role } }
      return {
        ...column(name, 'string', 'none'),
        type,
        holds: heldBy(field),
        required: field.required,
        default: field.default,
      }
    }),
    column('created_at', 'string', 'not null'),
    column('updated_at', 'string', 'not null'),
    column('deleted_at', 'string', 'none'),
    column('_deletion', 'string', 'none'),
    column('_revision', 'integer', 'not null'),
  ]
  const search =
    searched.length > 0 ? { name: searchTable(resource.name), table: resource.name, columns: searched } : undefined
  return { name: resource.name, kind: 'resource', columns, indexes: indexesFor(resource, columns, layout), search }
}

function indexesFor(resource: Resource, columns: readonly ColumnSpec[], { indexesRowNumber }: Layout): IndexSpec[] {
  const key = (name: string) => comparisonColumn(resource, name)
  const made = [
    index(columns, resource.name, ['id'], true, 'everything'),
    ...resource.indexes.map(({ fields, kind }) => {
      if (kind === 'unique') return index(columns, resource.name, fields.map(key), true)
      return index(columns, resource.name, [...fields.map(kind === 'folded' ? foldedColumn : key), 'id'])
    }),
    index(columns, resource.name, indexesRowNumber ? ['_deletion', '_row'] : ['_deletion'], false, 'deletion'),
    index(columns, resource.name, ['deleted_at'], false, 'deletion'),
  ]
  return [...new Map(made.map((each) => [each.name, each])).values()]
}
