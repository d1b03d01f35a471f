/** What is asked through the lens of an older version, of what is stored (VER-2). */
import { decimalOfKey, decimalText } from '../model/decimal.ts'
import type { SortTerm } from '../model/order.ts'
import { allOf, always, anyOf, evaluate, never, not, type Predicate, type Scalar } from '../model/predicate.ts'
import { comparisonKey } from '../model/record.ts'
import { type Catalog, type Lens, type Resource, systemFields } from '../model/resource.ts'
import type { Input } from '../request/input.ts'
import type { ListQuery } from '../request/query.ts'
import type { Target } from '../request/target.ts'

/** A resource that is shown through a lens, the lens, and the resource as it is stored. */
export interface Seen {
  readonly shown: Resource
  readonly lens: Lens
  readonly stored: Resource
  /** The collections that the version shows otherwise than they are stored, by what they are called there. */
  readonly collections: ReadonlyMap<string, Resource>
}

/** What a version calls a stored collection. */
export function shownName(shown: Catalog, { name }: Resource): string {
  const same = shown.resources.get(name) ?? shown.system.get(name)
  if (same !== undefined && (same.lens?.collection ?? name) === name) return name
  for (const each of shown.resources.values()) if (each.lens?.collection === name) return each.name
  return name
}

const known = new WeakMap<Resource, Seen>()

/** How a resource is seen; `undefined`: as it is stored. */
export function seenOf(catalog: Catalog, shown: Resource): Seen | undefined {
  const { lens } = shown
  if (lens === undefined) return undefined
  let seen = known.get(shown)
  if (seen === undefined) {
    const all = [...(catalog.versions.get(lens.version)?.resources.values() ?? [])]
    const others = all.flatMap((each): [string, Resource][] =>
      each.lens === undefined ? [] : [[each.lens.collection, each]],
    )
    seen = { shown, lens, stored: storedOf(catalog, shown), collections: new Map(others) }
    known.set(shown, seen)
  }
  return seen
}

/** The resource as it is stored. */
export function storedOf(catalog: Catalog, resource: Resource): Resource {
  const { lens } = resource
  return lens === undefined ? resource : (catalog.resources.get(lens.collection) as Resource)
}

/** A stored collection as a version shows it; `undefined` where it does not. */
export function shownBy(catalog: Catalog, version: string, collection: string): Resource | undefined {
  const { resources } = catalog.versions.get(version) ?? catalog
  for (const resource of resources.values())
    if ((resource.lens?.collection ?? resource.name) === collection) return resource
  return undefined
}

/** The same address, of what is stored. */
export function storedTarget<T extends Target>(catalog: Catalog, target: T): T {
  if (!('resource' in target)) return target
  const resource = storedOf(catalog, target.resource)
  const parent = 'parent' in target ? target.parent : undefined
  if (parent === undefined) return resource === target.resource ? target : { ...target, resource }
  return { ...target, resource, parent: { ...parent, resource: storedOf(catalog, parent.resource) } }
}

/** The same question, of what is stored. Bodies stay as they were sent: they are judged with the record at hand. */
export function storedInput<T extends Input>(seen: Seen, input: T): T {
  if (input.kind === 'read-page') return { ...input, query: storedQuery(seen, input.query) }
  if (input.kind === 'delete-matching') return { ...input, filter: storedPredicate(seen, input.filter) }
  return input
}

// A query that is asked again is the same one, and what is kept for it is found by that.
const queries = new WeakMap<ListQuery, ListQuery>()

function storedQuery(seen: Seen, query: ListQuery): ListQuery {
  let stored = queries.get(query)
  if (stored === undefined) {
    stored = { ...query, filter: storedPredicate(seen, query.filter), sort: storedSort(seen, query.sort) }
    queries.set(query, stored)
  }
  return stored
}

/**
 * The same condition on stored records. What only the older version has is decided here: it is the same in every record.
 *
 * @param unknown what stands in for a comparison that is unknown: `never`, and under `not`, `always`
 */
export function storedPredicate(seen: Seen, predicate: Predicate, unknown: Predicate = never): Predicate {
  switch (predicate.kind) {
    case 'always':
    case 'never':
      return predicate
    case 'and':
      return allOf(predicate.terms.map((term) => storedPredicate(seen, term, unknown)))
    case 'or':
      return anyOf(predicate.terms.map((term) => storedPredicate(seen, term, unknown)))
    case 'not':
      return not(storedPredicate(seen, predicate.term, not(unknown)))
    default: {
      const { field } = predicate
      const name = storedName(seen.lens, field)
      if (name === undefined) {
        const value = comparisonKey(seen.shown, field, seen.lens.constants.get(field) ?? null) ?? null
        const decided = evaluate({ [field]: value }, predicate)
        return decided === undefined ? unknown : decided ? always : never
      }
      if (predicate.kind === 'compare')
        return { ...predicate, field: name, value: storedKey(seen, field, predicate.value) }
      if (predicate.kind !== 'in' && predicate.kind !== 'differs') return { ...predicate, field: name }
      return { ...predicate, field: name, values: predicate.values.map((value) => storedKey(seen, field, value)) }
    }
  }
}

/** The same order of stored records. */
export function storedSort({ lens }: Seen, sort: readonly SortTerm[]): SortTerm[] {
  return sort.flatMap((term) => {
    const field = storedName(lens, term.field)
    // All records have the same there.
    return field === undefined ? [] : [{ ...term, field }]
  })
}

/** The stored field; `undefined` where only the older version has it. */
export function storedName({ stored }: Lens, name: string): string | undefined {
  return stored.get(name) ?? ((systemFields as readonly string[]).includes(name) ? name : undefined)
}

function storedKey({ lens, shown, stored }: Seen, name: string, value: Scalar): Scalar {
  const conversion = lens.conversions.get(name)
  if (conversion === undefined) return value
  return comparisonKey(stored, lens.stored.get(name)!, conversion.newer(valueOfKey(shown, name, value))) ?? value
}

/** The value that a comparison key of a decimal field stands for: conversions are given what clients send. */
function valueOfKey({ field }: Resource, name: string, key: Scalar): Scalar {
  const decimal = field.get(name)?.decimal
  if (decimal === undefined) return key
  const value = decimalOfKey(String(key))
  return decimalText(value, decimal) ?? decimalText(value, { precision: 198, scale: 99 }) ?? key
}
