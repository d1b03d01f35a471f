/**
 * Conditions and sort orders as values. Access rules, filters and business rules all become a `Predicate`. It decides
 * about one record (`matches`) or filters a list (`storage/sql/predicate.ts`), with the same result (AUT-6).
 *
 * Declared conditions (`where`) become predicates once the values of the caller and of the changed record are known
 * (`resolve-condition.ts`).
 *
 * Logic has three values, as in SQL: a comparison with `null` is unknown, and so is its negation. A record matches if
 * the predicate is true. See docs/reference/conditions-and-access.md.
 */
import { decimalKeyOf } from './decimal.ts'
import { fieldOfName, valueOfName } from './members.ts'
import { type Comparison, comparisons } from './operators.ts'
import { comparedField, type Field, type NamedFields, type RecordValues, type Resource } from './resource.ts'
import { instantKey, timestamp } from './time.ts'
import type { DayBounds } from './time-zone.ts'

/** A value that a field can be compared with. Instants are represented by their comparison key (`time.ts`). */
export type Scalar = string | number | boolean

/** A condition on one record, with all values filled in. */
export type Predicate =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'compare'; readonly field: string; readonly operator: Comparison; readonly value: Scalar }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Scalar[] }
  /** The field has none of the values. Never unknown: `null` differs from every value. */
  | { readonly kind: 'differs'; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly kind: 'null'; readonly field: string }
  /** The array has all of the items, or one of them at least. There is one value at least. */
  | { readonly kind: 'has'; readonly field: string; readonly values: readonly Scalar[]; readonly all: boolean }
  /** A comparison with a value that the field never holds: one result for all values, and unknown for `null`. */
  | { readonly kind: 'decided'; readonly field: string; readonly holds: boolean }
  | { readonly kind: 'and'; readonly terms: readonly Predicate[] }
  | { readonly kind: 'or'; readonly terms: readonly Predicate[] }
  | { readonly kind: 'not'; readonly term: Predicate }
  /** `field` refers to a live record of `collection` that matches. Never unknown, like `exists` in SQL. */
  | {
      readonly kind: 'through'
      readonly field: string
      readonly collection: string
      readonly predicate: Predicate
      /** What the record must match instead if one deletion has deleted both, in lists with deleted records. */
      readonly deleted?: Predicate
    }
  /** Some live record of `collection` matches. Never unknown, like `exists` in SQL; `none` is its opposite, `not`. */
  | { readonly kind: 'some'; readonly collection: string; readonly predicate: Predicate }
  /**
   * Inside a `some`: a field of the record that is looked for, compared with the field `outer` of the record that the
   * innermost `some` is about. Unknown if either is null. Both fields have the same type and form.
   */
  | { readonly kind: 'outer'; readonly field: string; readonly operator: Comparison; readonly outer: string }
  /** A comparison of a field that counts as `null` in the records where `readable` is not true. */
  | { readonly kind: 'masked'; readonly readable: Predicate; readonly term: Predicate }
  /** The events of records that may be read (EVT-4): those of each collection by its grant. Never unknown. */
  | { readonly kind: 'event'; readonly grants: readonly EventGrant[] }

/** The events of one collection that a caller may read. */
export interface EventGrant {
  readonly collection: string
  /** The records that the caller may read. */
  readonly read: Predicate
  /** The records that the caller may read once they are deleted. */
  readonly readDeleted: Predicate
  /** The rows are revisions (HIS-2): those of deleted records are readable only where this says since when. */
  readonly history?: { readonly deletedSince: string | undefined }
}

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

/** A predicate without `and`, `or` and `not`. */
type Term = Exclude<Predicate, { readonly kind: 'and' | 'or' | 'not' }>

/** Replaces the terms of a predicate. `change` also gets whether an odd number of negations contains the term. */
export function mapTerms(
  predicate: Predicate,
  change: (term: Term, isNegated: boolean) => Predicate,
  isNegated = false,
): Predicate {
  if (predicate.kind === 'not') return not(mapTerms(predicate.term, change, !isNegated))
  if (predicate.kind !== 'and' && predicate.kind !== 'or') return change(predicate, isNegated)
  const terms = predicate.terms.map((term) => mapTerms(term, change, isNegated))
  return predicate.kind === 'and' ? allOf(terms) : anyOf(terms)
}

/** The predicates on the same record that a predicate consists of; none for a comparison. */
export function partsOf(predicate: Predicate): readonly Predicate[] {
  if (predicate.kind === 'and' || predicate.kind === 'or') return predicate.terms
  if (predicate.kind === 'masked') return [predicate.readable, predicate.term]
  return predicate.kind === 'not' ? [predicate.term] : []
}

/** The fields of the record itself that a predicate reads. */
export function fieldsOf(predicate: Predicate): string[] {
  return comparedNames(predicate).map(fieldOfName)
}

/** The fields that a predicate compares, and the members of objects by their whole names. */
export function comparedNames(predicate: Predicate): string[] {
  if (predicate.kind === 'event') return ['collection', 'record', 'record_id', 'kind', 'data']
  if (predicate.kind === 'some') return outerFieldsOf(predicate.predicate)
  return 'field' in predicate ? [predicate.field] : partsOf(predicate).flatMap(comparedNames)
}

/** The fields of the record that a `some` is about, with which it compares the records that it looks for. */
function outerFieldsOf(predicate: Predicate): string[] {
  return predicate.kind === 'outer' ? [predicate.outer] : partsOf(predicate).flatMap(outerFieldsOf)
}

/** An equality by which a `some` finds its records, and the rest of its predicate. */
interface Link {
  readonly field: string
  readonly outer: string
  readonly rest: Predicate
}

/**
 * The equality of a `some`, if nothing else of its predicate compares with the record that it is about: then that
 * record has one of the values that the other records have.
 */
export function linkOf(predicate: Predicate): Link | undefined {
  const terms = predicate.kind === 'and' ? predicate.terms : [predicate]
  const link = terms.find((term) => term.kind === 'outer' && term.operator === 'eq')
  if (link?.kind !== 'outer') return undefined
  const rest = allOf(terms.filter((term) => term !== link))
  return outerFieldsOf(rest).length > 0 ? undefined : { field: link.field, outer: link.outer, rest }
}

/** The other collections whose records a predicate reads. */
export function collectionsOf(predicate: Predicate, found: Set<string> = new Set()): Set<string> {
  for (const part of partsOf(predicate)) collectionsOf(part, found)
  if (predicate.kind === 'through' || predicate.kind === 'some') {
    found.add(predicate.collection)
    collectionsOf(predicate.predicate, found)
    if (predicate.kind === 'through' && predicate.deleted !== undefined) collectionsOf(predicate.deleted, found)
  }
  if (predicate.kind === 'event') {
    for (const { collection, read, readDeleted } of predicate.grants) {
      found.add(collection)
      collectionsOf(read, found)
      collectionsOf(readDeleted, found)
    }
  }
  return found
}

/** Whether a predicate is the permission to read every event of its collections, whatever their records are. */
export function isOfAllRecords(predicate: Predicate): predicate is Extract<Predicate, { readonly kind: 'event' }> {
  return (
    predicate.kind === 'event' &&
    predicate.grants.every(
      ({ read, readDeleted, history }) =>
        read.kind === 'always' && readDeleted.kind === 'always' && history === undefined,
    )
  )
}

/** Whether a predicate names the ids that a matching record may have: a primary key finds all of them (WHR-5). */
export function namesIds(predicate: Predicate): boolean {
  if (predicate.kind === 'and') return predicate.terms.some(namesIds)
  if (predicate.kind !== 'in' && (predicate.kind !== 'compare' || predicate.operator !== 'eq')) return false
  return predicate.field === 'id'
}

/** The comparison keys of a record, by field name. */
export type Comparable = Readonly<Record<string, unknown>>

/** The live records of a collection, for `through` and `some`. */
type LiveRecords = (collection: string) => readonly Comparable[]

const noRecords: LiveRecords = () => []

/**
 * Whether a record matches a predicate: unknown does not.
 *
 * @param record comparison keys by field name (`comparisonKeys` makes them)
 * @param recordsOf the records of other collections; without it there are none
 */
export function matches(record: Comparable, predicate: Predicate, recordsOf: LiveRecords = noRecords): boolean {
  return evaluate(record, predicate, recordsOf) === true
}

/**
 * The value of a predicate for a record: true, false, or unknown (`undefined`).
 *
 * @param recordsOf the records of other collections; without it there are none
 * @param outer the record that the innermost `some` is about
 */
export function evaluate(
  record: Comparable,
  predicate: Predicate,
  recordsOf: LiveRecords = noRecords,
  outer: Comparable = {},
): boolean | undefined {
  switch (predicate.kind) {
    case 'always':
      return true
    case 'never':
      return false
    case 'compare':
      return compared(record[predicate.field], predicate.operator, predicate.value)
    case 'outer':
      return compared(record[predicate.field], predicate.operator, outer[predicate.outer])
    case 'in': {
      const { values } = predicate
      const value = record[predicate.field] ?? undefined
      // `in ()` is false, even for null, as in SQL.
      return value === undefined && values.length > 0 ? undefined : values.includes(value as Scalar)
    }
    case 'differs':
      return !predicate.values.includes(record[predicate.field] as Scalar)
    case 'has': {
      const items = record[predicate.field]
      if (!Array.isArray(items)) return undefined
      const isIn = (value: Scalar) => items.includes(value)
      return predicate.all ? predicate.values.every(isIn) : predicate.values.some(isIn)
    }
    case 'null':
      return record[predicate.field] === null || record[predicate.field] === undefined
    case 'decided':
      return record[predicate.field] === null || record[predicate.field] === undefined ? undefined : predicate.holds
    case 'and':
      return allTrue(predicate.terms.map((term) => evaluate(record, term, recordsOf, outer)))
    case 'or':
      return negated(allTrue(predicate.terms.map((term) => negated(evaluate(record, term, recordsOf, outer)))))
    case 'not':
      return negated(evaluate(record, predicate.term, recordsOf, outer))
    case 'through': {
      const id = record[predicate.field]
      const target = typeof id === 'string' && recordsOf(predicate.collection).find((each) => each['id'] === id)
      return typeof target === 'object' && matches(target, predicate.predicate, recordsOf)
    }
    case 'some':
      return recordsOf(predicate.collection).some(
        (each) => evaluate(each, predicate.predicate, recordsOf, record) === true,
      )
    case 'event':
      // It depends on the record as the event shows it and as it is, which only the database has.
      throw new Error('The database decides which events a caller may read.')
    case 'masked':
      return evaluate(record, predicate.readable, recordsOf, outer) === true
        ? evaluate(record, predicate.term, recordsOf, outer)
        : evaluate({}, predicate.term)
  }
}

/** The comparison of two values: unknown if they are not of one type, or if one is null. */
function compared(value: unknown, operator: Comparison, other: unknown): boolean | undefined {
  if (typeof value !== typeof other || value === undefined || typeof value === 'object') return undefined
  return comparisons[operator].holds(value as Scalar, other as Scalar)
}

function allTrue(values: readonly (boolean | undefined)[]): boolean | undefined {
  if (values.includes(false)) return false
  return values.includes(undefined) ? undefined : true
}

function negated(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value
}

/** How the values of a declared or system field are compared; `undefined`: no such field. */
export function comparableType(resource: NamedFields, name: string): Field['type'] | 'timestamp' | undefined {
  if (name === 'id') return 'string'
  if (name === 'created_at' || name === 'updated_at' || name === 'deleted_at') return 'timestamp'
  return comparedField(resource, name)?.type
}

/**
 * The comparison key of a value: instants and decimals in one spelling, other values unchanged. `undefined` if the
 * value is of another type than the field, or is no finite number: a comparison with it is unknown. A key may be one
 * that no value of the field has: `resolve-condition.ts` compares it by value.
 */
export function comparisonKey(resource: NamedFields, name: string, value: unknown): Scalar | undefined {
  switch (comparableType(resource, name)) {
    case 'timestamp': {
      const milliseconds = typeof value === 'string' && instantKey(value) !== undefined ? Date.parse(value) : Number.NaN
      return Number.isNaN(milliseconds) ? undefined : timestamp(milliseconds)
    }
    case 'string':
      if (typeof value !== 'string') return undefined
      return comparedField(resource, name)?.format === 'date-time' ? instantKey(value) : value
    case 'decimal':
      return decimalKeyOf(value)
    case 'integer':
    case 'number':
      return Number.isFinite(value) ? (value as number) : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    default:
      return undefined
  }
}

/**
 * The comparison keys of a record, for `matches`. Values that cannot be compared become a constant that is not `null`.
 */
export function comparisonKeys(resource: Resource, record: RecordValues): Comparable {
  const keys: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(record)) {
    if (value === null || value === undefined) keys[name] = null
    // The items of an array are scalars, which are their own keys.
    else keys[name] = Array.isArray(value) ? value : (comparisonKey(resource, name, value) ?? opaque)
  }
  for (const name of resource.member.keys()) {
    if (fieldOfName(name) in record) keys[name] = comparisonKey(resource, name, valueOfName(record, name)) ?? null
  }
  return keys
}

// Not null, and equal to no value in a condition.
const opaque = Object.freeze({})

/**
 * The records with an instant on a day, or on days that follow each other. No instant comes after the year 9999, so its
 * last day needs no bound there.
 */
export function onDay(resource: Resource, field: string, { from, until }: DayBounds): Predicate {
  const bounds = [['gte', from] as const, ['lt', until] as const].map(([operator, instant]): Predicate => {
    const value = comparisonKey(resource, field, timestamp(instant))
    return value === undefined ? always : { kind: 'compare', field, operator, value }
  })
  return allOf(bounds)
}

/** One term of an order. */
export interface SortTerm {
  readonly field: string
  readonly descending: boolean
  /** The references that lead to the record whose field it is, one after the other; left out: the record itself. */
  readonly through?: readonly SortStep[]
  /** The records in which the first reference counts; in others the value is null. Left out: all. */
  readonly readable?: Predicate
}

/** A reference that an order follows. */
export interface SortStep {
  readonly field: string
  readonly collection: string
  /** The records of the collection that count: to others the reference is null. Left out: all live ones. */
  readonly permitted?: Predicate
}

/** A place in an ordered list: the sort keys and the id of the record next to it. */
export interface Position {
  readonly direction: 'forward' | 'backward'
  /** One key for each sort term, then the id; none: the edge of the list. */
  readonly keys: readonly (Scalar | null)[]
}
