/**
 * Conditions and sort orders as values. Access rules, filters and business rules all become a `Predicate`. It decides
 * about one record (`matches`) or filters a list (`storage/sql/predicate.ts`), with the same result (AUT-6).
 *
 * Logic has three values, as in SQL: a comparison with `null` is unknown, and so is its negation. A record matches if
 * the predicate is true. See docs/conditions.md.
 */
import { compareText, fold } from './text.ts'

/** A value that a field can be compared with. Instants are represented by their comparison key (`time.ts`). */
export type Scalar = string | number | boolean

/** How `compare` compares. `contains` and `startsWith` ignore case (Unicode simple folding); the others do not. */
export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte' | 'contains' | 'startsWith'

/** A condition on one record, with all values filled in. */
export type Predicate =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'compare'; readonly field: string; readonly operator: Comparison; readonly value: Scalar }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Scalar[] }
  /** The field has none of the values. Never unknown: `null` differs from every value. */
  | { readonly kind: 'differs'; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly kind: 'null'; readonly field: string }
  | { readonly kind: 'and'; readonly terms: readonly Predicate[] }
  | { readonly kind: 'or'; readonly terms: readonly Predicate[] }
  | { readonly kind: 'not'; readonly term: Predicate }
  /** `field` refers to a live record of `collection` that matches. Never unknown, like `exists` in SQL. */
  | { readonly kind: 'through'; readonly field: string; readonly collection: string; readonly predicate: Predicate }

export const always: Predicate = { kind: 'always' }
export const never: Predicate = { kind: 'never' }

/** All of the terms, simplified: without constants, and nested `and`s flattened. */
export function allOf(terms: readonly Predicate[]): Predicate {
  const kept: Predicate[] = []
  for (const term of terms) {
    if (term.kind === 'never') return never
    if (term.kind === 'and') kept.push(...term.terms)
    else if (term.kind !== 'always') kept.push(term)
  }
  if (kept.length === 0) return always
  return kept.length === 1 ? (kept[0] as Predicate) : { kind: 'and', terms: kept }
}

/** Any of the terms, simplified in the same way. */
export function anyOf(terms: readonly Predicate[]): Predicate {
  const kept: Predicate[] = []
  for (const term of terms) {
    if (term.kind === 'always') return always
    if (term.kind === 'or') kept.push(...term.terms)
    else if (term.kind !== 'never') kept.push(term)
  }
  if (kept.length === 0) return never
  return kept.length === 1 ? (kept[0] as Predicate) : { kind: 'or', terms: kept }
}

/** The opposite of a predicate, simplified. */
export function not(term: Predicate): Predicate {
  if (term.kind === 'always') return never
  if (term.kind === 'never') return always
  if (term.kind === 'not') return term.term
  return { kind: 'not', term }
}

/** The fields of the record itself that a predicate reads. */
export function fieldsOf(predicate: Predicate): string[] {
  switch (predicate.kind) {
    case 'always':
    case 'never':
      return []
    case 'and':
    case 'or':
      return predicate.terms.flatMap(fieldsOf)
    case 'not':
      return fieldsOf(predicate.term)
    default:
      return [predicate.field]
  }
}

/** The other collections whose records a predicate reads. */
export function collectionsOf(predicate: Predicate, found: Set<string> = new Set()): Set<string> {
  if (predicate.kind === 'and' || predicate.kind === 'or')
    for (const term of predicate.terms) collectionsOf(term, found)
  if (predicate.kind === 'not') collectionsOf(predicate.term, found)
  if (predicate.kind === 'through') {
    found.add(predicate.collection)
    collectionsOf(predicate.predicate, found)
  }
  return found
}

/** The comparison keys of a record, by field name. */
export type Comparable = Readonly<Record<string, unknown>>

/** Finds the live record that a `through` condition follows, or `undefined`. */
export type Follow = (collection: string, id: string) => Comparable | undefined

/**
 * Whether a record matches a predicate: unknown does not.
 *
 * @param record comparison keys by field name (`comparisonKeys` in `record.ts` makes them)
 * @param follow finds the records behind `through`; without it `through` never matches
 */
export function matches(record: Comparable, predicate: Predicate, follow: Follow = () => undefined): boolean {
  return evaluate(record, predicate, follow) === true
}

/** The value of a predicate for a record: true, false, or unknown (`undefined`). */
export function evaluate(
  record: Comparable,
  predicate: Predicate,
  follow: Follow = () => undefined,
): boolean | undefined {
  switch (predicate.kind) {
    case 'always':
      return true
    case 'never':
      return false
    case 'compare':
      return compare(record[predicate.field], predicate.operator, predicate.value)
    case 'in': {
      const { values } = predicate
      const value = record[predicate.field] ?? undefined
      // `in ()` is false, even for null, as in SQL.
      return value === undefined && values.length > 0 ? undefined : values.includes(value as Scalar)
    }
    case 'differs':
      return !predicate.values.includes(record[predicate.field] as Scalar)
    case 'null':
      return record[predicate.field] === null || record[predicate.field] === undefined
    case 'and':
      return allTrue(predicate.terms.map((term) => evaluate(record, term, follow)))
    case 'or':
      return negated(allTrue(predicate.terms.map((term) => negated(evaluate(record, term, follow)))))
    case 'not':
      return negated(evaluate(record, predicate.term, follow))
    case 'through': {
      const id = record[predicate.field]
      const target = typeof id === 'string' ? follow(predicate.collection, id) : undefined
      return target !== undefined && matches(target, predicate.predicate, follow)
    }
  }
}

function allTrue(values: readonly (boolean | undefined)[]): boolean | undefined {
  if (values.includes(false)) return false
  return values.includes(undefined) ? undefined : true
}

function negated(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value
}

function compare(actual: unknown, operator: Comparison, expected: Scalar): boolean | undefined {
  if (actual === null || actual === undefined || typeof actual !== typeof expected) return undefined
  switch (operator) {
    case 'eq':
      return actual === expected
    case 'contains':
      return fold(actual as string).includes(fold(expected as string))
    case 'startsWith':
      return fold(actual as string).startsWith(fold(expected as string))
    default: {
      const order =
        typeof actual === 'string' ? compareText(actual, expected as string) : Number(actual) - Number(expected)
      if (operator === 'gt') return order > 0
      if (operator === 'gte') return order >= 0
      if (operator === 'lt') return order < 0
      return order <= 0
    }
  }
}

/** One term of an order. */
export interface SortTerm {
  readonly field: string
  readonly descending: boolean
}

/** A place in an ordered list: the sort keys and the id of the record next to it. */
export interface Position {
  readonly direction: 'forward' | 'backward'
  /** One key for each sort term, then the id; none: the edge of the list. */
  readonly keys: readonly (Scalar | null)[]
}
