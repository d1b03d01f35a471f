/** What a collection can be filtered and sorted by, and with which operators (QRY-2, QRY-7). */
import type { Field, Resource } from './resource.ts'

/** The operators of a filter, as they stand in brackets: `population[gte]`. */
export const filterOperators = ['gt', 'gte', 'lt', 'lte', 'not', 'in', 'contains', 'starts_with', 'null'] as const
export type FilterOperator = (typeof filterOperators)[number]

/** Something that can be filtered by. */
export interface Filterable {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'decimal' | 'boolean' | 'timestamp'
  /** `undefined`: a timestamp that the server keeps. */
  readonly field: Field | undefined
}

const known = new WeakMap<Resource, readonly Filterable[]>()

/** Everything that a collection can be filtered by: declared filters, then the timestamps. Each request asks. */
export function filterables(resource: Resource): readonly Filterable[] {
  const kept = known.get(resource)
  if (kept !== undefined) return kept
  const found = findFilterables(resource)
  known.set(resource, found)
  return found
}

function findFilterables(resource: Resource): Filterable[] {
  const declared = resource.fields.flatMap((field): Filterable[] => {
    const { name, type } = field
    if (!field.filter || field.writeOnly || type === 'array' || type === 'object' || type === 'json') return []
    return [{ name, type, field }]
  })
  const kept = ['created_at', 'updated_at'].map((name): Filterable => ({ name, type: 'timestamp', field: undefined }))
  return [...declared, ...kept]
}

/** The operators that fit: order needs an order, and parts of texts need free text. */
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

/** The names of everything that a collection can be sorted by: declared sorts, then the timestamps. */
export function sortableNames(resource: Resource): string[] {
  return [...resource.fields.filter((field) => field.sort).map((field) => field.name), 'created_at', 'updated_at']
}
