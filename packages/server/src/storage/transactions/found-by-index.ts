/** Which conditions of a list an index finds the rows of, and which of them find few. */
import { comparisons } from 'resourced-contract/model/operators'
import { isOfAllRecords, linkOf, type Predicate } from 'resourced-contract/model/predicate'
import { isHistory } from 'resourced-contract/model/recorded'
import {
  type Catalog,
  isEqualityFilter,
  isFolded,
  isIndexed,
  namedField,
  type Resource,
} from 'resourced-contract/model/resource'

/** The conditions of which all must hold. */
export function termsOf(predicate: Predicate): Predicate[] {
  if (predicate.kind === 'always' || isOfAllRecords(predicate)) return []
  return predicate.kind === 'and' ? predicate.terms.flatMap(termsOf) : [predicate]
}

/** Whether an index that begins with a condition's field goes on in the order of the list. */
export function servesOrder(resource: Resource, term: Predicate, first: string | undefined): boolean {
  if (term.kind !== 'compare' && term.kind !== 'null') return false
  if (term.field === first) return term.kind === 'null' || comparisons[term.operator].index === 'field'
  const isInOrder = first === (isHistory(resource) ? 'created_at' : undefined)
  if (resource.order === 'by-position') return isInOrder && isFoundByIndex(resource, term)
  if (term.kind === 'compare' && term.operator !== 'eq') return false
  const field = namedField(resource, term.field)
  if (first === undefined) return true
  return field !== undefined && isEqualityFilter(field) && resource.field.get(first)?.sort === true
}

/** Whether the rows that a condition holds for are a range of an index, or a few ranges. */
export function isFoundByIndex(resource: Resource, term: Predicate): boolean {
  if (term.kind === 'not') return term.term.kind === 'null'
  if (term.kind === 'some') return isLinkIndexed(resource, term.predicate)
  if (term.kind === 'event') return term.grants.every(({ read }) => read.kind !== 'always')
  if (term.kind === 'or') return term.terms.every((each) => isFoundByIndex(resource, each))
  if (term.kind === 'and') return term.terms.some((each) => isFoundByIndex(resource, each))
  if (resource.order === 'by-position' && 'field' in term) {
    return term.field === 'id' || resource.indexes.some(({ fields }) => fields[0] === term.field)
  }
  if (term.kind === 'has') return resource.field.get(term.field)?.items !== undefined
  if (term.kind === 'null') return namedField(resource, term.field)?.items === undefined
  if (term.kind !== 'compare') return term.kind === 'in' || term.kind === 'through'
  const { index } = comparisons[term.operator]
  const field = namedField(resource, term.field)
  return index === 'field' || (index === 'prefix' && field !== undefined && isFolded(field))
}

/** Whether an index finds the rows by the values that the records of a `some` have. */
function isLinkIndexed(resource: Resource, predicate: Predicate): boolean {
  const outer = linkOf(predicate)?.outer
  const field = resource.field.get(outer ?? '')
  return outer === 'id' || (field !== undefined && isIndexed(resource, field))
}

/** Whether an index of the collection itself finds the rows that a condition holds for. */
export function hasIndex(resource: Resource, term: Predicate): boolean {
  if (!('field' in term) || term.kind === 'through' || !isFoundByIndex(resource, term)) return false
  const field = namedField(resource, term.field)
  return term.field === 'id' || term.kind === 'has' || (field !== undefined && isIndexed(resource, field))
}

/** How many live records a collection has; `undefined`: unknown. */
export type LiveOf = (collection: string) => number | undefined

type Related = Pick<Catalog, 'resources' | 'system'>
type Lookup = Extract<Predicate, { readonly kind: 'through' | 'some' }>

/** Whether a term is a condition on records of another collection. */
export function isLookup(term: Predicate): term is Lookup {
  return term.kind === 'through' || term.kind === 'some'
}

/**
 * Whether the records of the other collections are found first, and then the rows by them. Otherwise each row is
 * checked: the record that its reference leads to is found by its id, while those that refer to a row may be many.
 */
export function findsBySet(catalog: Related, term: Predicate, collection: string, liveOf: LiveOf): boolean {
  if (term.kind === 'or' || term.kind === 'and') {
    return term.terms.every((each) => findsBySet(catalog, each, collection, liveOf))
  }
  if (term.kind !== 'through' || leadsToFew(catalog, term)) return true
  return (liveOf(term.collection) ?? 0) <= (liveOf(collection) ?? Number.POSITIVE_INFINITY)
}

/** Whether a filter has a lookup of few records: it finds the rows, and not an index of a field with few values. */
export function isLed(catalog: Related, filter: Predicate): boolean {
  return termsOf(filter).some((term) => isLookup(term) && leadsToFew(catalog, term))
}

/** Whether a comparison is with a value of which there are few, so that each has many rows. */
export function isOfFewValues(resource: Resource, term: Predicate): boolean {
  const field = 'field' in term ? namedField(resource, term.field) : undefined
  return field !== undefined && field.reference === undefined && isEqualityFilter(field)
}

/** Whether the records that a lookup looks for are few: one of their values is given, of which there are many. */
function leadsToFew(catalog: Related, { collection, predicate }: Lookup): boolean {
  const target = catalog.resources.get(collection) ?? catalog.system.get(collection)
  return target !== undefined && termsOf(predicate).some((term) => isNarrow(catalog, target, term))
}

function isNarrow(catalog: Related, resource: Resource, term: Predicate): boolean {
  if (isLookup(term)) return leadsToFew(catalog, term)
  if (term.kind === 'or') return term.terms.every((each) => isNarrow(catalog, resource, each))
  if (term.kind === 'and') return term.terms.some((each) => isNarrow(catalog, resource, each))
  const isValue = term.kind === 'in' || (term.kind === 'compare' && term.operator === 'eq')
  const isPrefix = term.kind === 'compare' && comparisons[term.operator].index === 'prefix'
  return (isValue || isPrefix) && !isOfFewValues(resource, term) && hasIndex(resource, term)
}
