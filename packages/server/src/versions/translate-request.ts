/** Translates requests of older versions to stored terms (VER-2): the address, filters and sort orders. */
import { decimalOfKey, decimalText } from 'resourced-contract/model/decimal'
import { fieldOfName } from 'resourced-contract/model/members'
import {
  always,
  comparisonKeys,
  evaluate,
  mapTerms,
  never,
  type Predicate,
  type Scalar,
  type SortTerm,
} from 'resourced-contract/model/predicate'
import type { RelatedCatalog } from 'resourced-contract/model/related-conditions'
import { comparisonOf, keysOf } from 'resourced-contract/model/resolve-condition'
import {
  isMapped,
  type MappedResource,
  type Resource,
  relevance,
  storedResource,
  systemFields,
} from 'resourced-contract/model/resource'

/** A target that has a resource: of its own, and of the record that it is nested under. */
interface ResourceTarget {
  readonly resource: Resource
  readonly parent?: { readonly resource: Resource } | undefined
}

/** The same address with the stored resources. */
export function translateTarget<T extends ResourceTarget>(target: T): T {
  const { parent } = target
  const resource = storedResource(target.resource)
  if (parent === undefined) return resource === target.resource ? target : { ...target, resource }
  return { ...target, resource, parent: { ...parent, resource: storedResource(parent.resource) } }
}

/** The same order of records, by the names that are stored. */
export function translateSort(
  catalog: RelatedCatalog,
  resource: Resource,
  sort: readonly SortTerm[],
): readonly SortTerm[] {
  return sort.flatMap(({ through = [], ...term }): SortTerm[] => {
    let from = resource
    const steps = through.map((step) => {
      const field = storedField(from, step.field) as string
      from = catalog.resources.get(step.collection) as Resource
      return { ...step, field, collection: storedResource(from).name }
    })
    const field = storedField(from, term.field)
    // A field that is not stored has the same value in all records: it orders nothing.
    if (field === undefined) return []
    return [{ ...term, field, ...(steps.length > 0 && { through: steps }) }]
  })
}

/**
 * The same condition on records, by the names and values that are stored. A comparison of a field that only the older
 * version has is decided here: its value is the same in every record.
 *
 * @param catalog that of the version, whose relations the predicate follows
 */
export function translatePredicate(catalog: RelatedCatalog, resource: Resource, predicate: Predicate): Predicate {
  return mapTerms(predicate, (term, isNegated) => {
    if (term.kind === 'masked') return { ...term, readable: translatePredicate(catalog, resource, term.readable) }
    if (term.kind === 'through' || term.kind === 'some') return translateLookup(catalog, resource, term)
    // What a caller may not read is masked afterwards, in stored terms.
    if (!isMapped(resource) || !('field' in term)) return term
    // An unknown comparison does not make the whole predicate true.
    const unknown = isNegated ? always : never
    const { field } = term
    const name = storedField(resource, field)
    if (name !== undefined) return translateComparison(resource, term, { name, unknown })
    const owner = fieldOfName(field)
    const constant = { [owner]: resource.mapping.constants.get(owner) ?? null }
    const decided = evaluate(comparisonKeys(resource, constant), term)
    return decided === undefined ? unknown : decided ? always : never
  })
}

/** The same condition on related records. A reference that only the older version has makes no relation. */
function translateLookup(
  catalog: RelatedCatalog,
  resource: Resource,
  term: Extract<Predicate, { readonly kind: 'through' | 'some' }>,
): Predicate {
  const target = catalog.resources.get(term.collection) as Resource
  const stored = {
    collection: storedResource(target).name,
    predicate: translatePredicate(catalog, target, term.predicate),
  }
  if (term.kind === 'some') return { ...term, ...stored }
  return { ...term, ...stored, field: storedField(resource, term.field) as string }
}

// The same in every version.
const kept: readonly string[] = [...systemFields, relevance.field]

/** The name of the stored field or member; `undefined` if only the older version has the field. */
function storedField({ mapping }: Resource, name: string): string | undefined {
  if (mapping === undefined) return name
  const field = fieldOfName(name)
  const stored = mapping.toStored.get(field)
  if (stored !== undefined) return `${stored}${name.slice(field.length)}`
  return kept.includes(name) ? name : undefined
}

type Comparing = Extract<Predicate, { readonly field: string }>

/**
 * The same comparison of the stored field, with the values that the current version has for those of the older one. A
 * value without a counterpart equals no stored value.
 */
function translateComparison(
  resource: MappedResource,
  predicate: Comparing,
  { name, unknown }: { readonly name: string; readonly unknown: Predicate },
): Predicate {
  const { conversions, stored } = resource.mapping
  const conversion = conversions.get(predicate.field)
  const hasValues = predicate.kind === 'compare' || predicate.kind === 'in' || predicate.kind === 'differs'
  if (conversion === undefined || !hasValues) return { ...predicate, field: name }
  const convert = (key: Scalar) => conversion.newer(valueOfKey(resource, predicate.field, key))
  const nothing: Predicate = { kind: 'decided', field: name, holds: false }
  if (predicate.kind === 'compare') {
    const { operator, value } = predicate
    return comparisonOf(stored, name, operator, convert(value)) ?? (operator === 'eq' ? nothing : unknown)
  }
  const { keys: values } = keysOf(stored, name, predicate.values.map(convert))
  if (values.length > 0) return { ...predicate, field: name, values }
  return predicate.kind === 'differs' ? always : nothing
}

/** The value that a comparison key of a decimal field means: conversions take values as clients send them. */
function valueOfKey({ field }: Resource, name: string, key: Scalar): Scalar {
  const decimal = field.get(name)?.decimal
  if (decimal === undefined) return key
  const value = decimalOfKey(String(key))
  const scale = Math.max(0, value.digits.length - value.exponent)
  const needed = { precision: scale + Math.max(0, value.exponent), scale }
  return decimalText(value, decimal) ?? decimalText(value, needed) ?? key
}
