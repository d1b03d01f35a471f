/** Which tables, columns, indexes and full-text indexes a database should hold for a catalog. */
import type { AccessRule, Condition } from '../../model/declaration.ts'
import type { Catalog, Field, Resource } from '../../model/resource.ts'
import { columnsOf, comparisonColumn } from './columns.ts'
import { systemTables } from './system-tables.ts'
import { type ColumnSpec, column, type IndexSpec, index, type Layout, type TableSpec } from './table-spec.ts'

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
        holds: field.type,
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

/** What lists, filters, sorts and checks of uniqueness are answered from, without reading the whole table (QRY-7). */
function indexesFor(resource: Resource, columns: readonly ColumnSpec[], { namesRow }: Layout): IndexSpec[] {
  const key = (name: string) => comparisonColumn(resource, name)
  const indexed = resource.fields.filter((field) => isIndexed(resource, field)).map((field) => field.name)
  const equalities = resource.fields.filter(isEqualityFilter).map((field) => field.name)
  const sorts = resource.fields.filter((field) => field.sort).map((field) => field.name)
  const folded = columnsOf(resource).filter((each) => each.role === 'folded')
  const made = [
    index(columns, resource.name, ['id'], true, 'everything'),
    ...[...indexed, 'created_at', 'updated_at'].map((name) => index(columns, resource.name, [key(name), 'id'])),
    ...folded.map((each) => index(columns, resource.name, [each.name, 'id'])),
    // A filter and a sort together: the page is read in its order, from where the filter's rows begin.
    ...equalities.flatMap((equality) =>
      sorts
        .filter((sort) => sort !== equality)
        .map((sort) => index(columns, resource.name, [key(equality), key(sort), 'id'])),
    ),
    ...resource.unique.map((set) => index(columns, resource.name, set.map(key), true)),
    index(columns, resource.name, namesRow ? ['_deletion', '_row'] : ['_deletion'], false, 'deletion'),
    index(columns, resource.name, ['deleted_at'], false, 'deletion'),
  ]
  return [...new Map(made.map((each) => [each.name, each])).values()]
}

/** Whether the records of each value of a field are a stretch of an index, by their ids. */
export function isIndexed(resource: Resource, field: Field): boolean {
  if (field.type === 'array' || field.type === 'object' || field.type === 'json') return false
  if (field.filter || field.sort || field.reference !== undefined || field.name === resource.owner) return true
  return Object.values(resource.access).some((rules) => rules.some((rule) => accessFields(rule).includes(field.name)))
}

/** Whether a field is one of a few values: its filter has an index with each sort. */
export function isEqualityFilter(field: Field): boolean {
  return field.filter && (field.reference !== undefined || field.enum !== undefined || field.type === 'boolean')
}

/** The fields by which an access rule that is data narrows a list. */
function accessFields(rule: AccessRule): string[] {
  if (typeof rule !== 'object') return []
  return 'through' in rule ? [rule.through] : conditionFields(rule.where)
}

function conditionFields(condition: Condition): string[] {
  return Object.entries(condition).flatMap(([word, value]) => {
    if (word === 'and' || word === 'or') return (value as readonly Condition[]).flatMap(conditionFields)
    return word === 'not' ? conditionFields(value as Condition) : [word]
  })
}
