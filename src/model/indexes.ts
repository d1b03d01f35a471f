/** What lists can be filtered and sorted by (QRY-2, QRY-7), and the indexes that serve them. */
import type { AccessRule, Condition } from './declaration.ts'
import type { Field, Filterable, Index, Resource } from './resource.ts'

/** The operators of a filter, as written in brackets: `population[gte]`. */
export const filterOperators = ['gt', 'gte', 'lt', 'lte', 'not', 'in', 'contains', 'starts_with', 'null'] as const
export type FilterOperator = (typeof filterOperators)[number]

/** Adds what follows from the fields of a resource and from its access rules. */
export function withIndexes(resource: Omit<Resource, 'filterables' | 'indexes'>): Resource {
  return { ...resource, filterables: filterablesOf(resource), indexes: indexesOf(resource) }
}

function filterablesOf({ fields }: Pick<Resource, 'fields'>): Filterable[] {
  const declared = fields.flatMap((field): Filterable[] => {
    const { name, type } = field
    if (!field.filter || field.writeOnly || type === 'array' || type === 'object' || type === 'json') return []
    return [{ name, type, field }]
  })
  const kept = ['created_at', 'updated_at'].map((name): Filterable => ({ name, type: 'timestamp', field: undefined }))
  return [...declared, ...kept]
}

/** The operators that fit: order needs an ordered type, and parts of texts need free text. */
export function operatorsFor({ type, field }: Filterable): FilterOperator[] {
  const free = type === 'string' && field?.enum === undefined && field?.reference === undefined
  const ordered = type !== 'boolean' && (type !== 'string' || free)
  const searched = free && field?.format === undefined
  return filterOperators.filter((operator) => {
    if (operator === 'contains' || operator === 'starts_with') return searched
    if (operator === 'not' || operator === 'in' || operator === 'null') return true
    return ordered
  })
}

/** The names that a collection can be sorted by: declared sorts, then the timestamps. */
export function sortableNames({ fields }: Pick<Resource, 'fields'>): string[] {
  return [...fields.filter((field) => field.sort).map((field) => field.name), 'created_at', 'updated_at']
}

type Indexable = Pick<Resource, 'fields' | 'unique' | 'owner' | 'access'>

function indexesOf(resource: Indexable): Index[] {
  const { fields, unique } = resource
  const namesOf = (wanted: (field: Field) => boolean) => fields.filter(wanted).map((field) => field.name)
  const sorts = namesOf((field) => field.sort)
  const single = [...namesOf((field) => isIndexed(resource, field)), 'created_at', 'updated_at']
  return [
    ...single.map((name): Index => ({ fields: [name], kind: 'list' })),
    ...namesOf(isFolded).map((name): Index => ({ fields: [name], kind: 'folded' })),
    // A filter with a sort: the page is read in its order, from where the filter's rows begin.
    ...namesOf(isEqualityFilter).flatMap((equality) =>
      sorts.filter((sort) => sort !== equality).map((sort): Index => ({ fields: [equality, sort], kind: 'list' })),
    ),
    ...unique.map((set): Index => ({ fields: set, kind: 'unique' })),
  ]
}

/** Whether an index of this field alone has the records of each value together, ordered by id. */
export function isIndexed(resource: Pick<Resource, 'owner' | 'access'>, field: Field): boolean {
  if (field.type === 'array' || field.type === 'object' || field.type === 'json') return false
  if (field.filter || field.sort || field.reference !== undefined || field.name === resource.owner) return true
  return Object.values(resource.access).some((rules) => rules.some((rule) => accessFields(rule).includes(field.name)))
}

/** Whether a filter of this field selects one of few values: it has an index with each sort. */
export function isEqualityFilter(field: Field): boolean {
  return field.filter && (field.reference !== undefined || field.enum !== undefined || field.type === 'boolean')
}

/** Whether `contains` and `starts_with` on this field are served by its case-folded text. */
export function isFolded(field: Field): boolean {
  const isFree = field.format === undefined && field.enum === undefined && field.reference === undefined
  return field.type === 'string' && field.filter && isFree
}

/** The indexed fields, if one of them is a text of any length; otherwise none. */
export function indexedTexts({ indexes, fields }: Resource): readonly string[] {
  const names = new Set(indexes.flatMap((index) => index.fields))
  const indexed = fields.filter(({ name }) => names.has(name))
  const isText = ({ type, enum: values, reference }: Field) =>
    type === 'string' && values === undefined && reference === undefined
  return indexed.some(isText) ? indexed.map(({ name }) => name) : []
}

/** The fields that a declarative access rule compares. */
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
