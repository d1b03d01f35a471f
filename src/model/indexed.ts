/** By what records are found without reading all of them: which fields have an index, and which of them share one (QRY-7). */
import type { AccessRule, Condition } from './declaration.ts'
import type { Field, Resource } from './resource.ts'

/** The fields that an index is of, in its order. */
export interface Indexed {
  readonly fields: readonly string[]
  /** `list`: by what they are compared by. `folded`: by their text without case. `unique`: that no two records have the same. */
  readonly kind: 'list' | 'folded' | 'unique'
}

const known = new WeakMap<Resource, readonly Indexed[]>()

/** All that lists, filters, sorts and checks of uniqueness are answered from. */
export function indexedOf(resource: Resource): readonly Indexed[] {
  const kept = known.get(resource) ?? findIndexed(resource)
  known.set(resource, kept)
  return kept
}

/** The declared fields that indexes are of, where one of them is a text of any length; else none. */
export function indexedTexts(resource: Resource): readonly string[] {
  const names = new Set(indexedOf(resource).flatMap(({ fields }) => fields))
  const indexed = resource.fields.filter(({ name }) => names.has(name))
  return indexed.some(isText) ? indexed.map(({ name }) => name) : []
}

function isText({ type, enum: values, reference }: Field): boolean {
  return type === 'string' && values === undefined && reference === undefined
}

function findIndexed(resource: Resource): Indexed[] {
  const { fields, unique } = resource
  const namesOf = (wanted: (field: Field) => boolean) => fields.filter(wanted).map((field) => field.name)
  const sorts = namesOf((field) => field.sort)
  const alone = [...namesOf((field) => isIndexed(resource, field)), 'created_at', 'updated_at']
  return [
    ...alone.map((name): Indexed => ({ fields: [name], kind: 'list' })),
    ...namesOf(isFolded).map((name): Indexed => ({ fields: [name], kind: 'folded' })),
    // A filter and a sort together: the page is read in its order, from where the filter's rows begin.
    ...namesOf(isEqualityFilter).flatMap((equality) =>
      sorts.filter((sort) => sort !== equality).map((sort): Indexed => ({ fields: [equality, sort], kind: 'list' })),
    ),
    ...unique.map((set): Indexed => ({ fields: set, kind: 'unique' })),
  ]
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

/** Whether `contains` and `starts_with` on this field are served by its folded text. */
export function isFolded(field: Field): boolean {
  return (
    field.type === 'string' &&
    field.filter &&
    field.format === undefined &&
    field.enum === undefined &&
    field.reference === undefined
  )
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
