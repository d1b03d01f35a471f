/**
 * The fields that a caller may not use in every record (AUT-13, AUT-14), as values. In a record in which a field may
 * not be read, the field counts as `null`: in representations, filters and searches alike.
 */
import { allOf, evaluate, fieldsOf, type Predicate } from './predicate.ts'

/** The fields that a caller may not read (or write) in every record, by name, with the records in which they may. */
export type FieldGrants = Readonly<Record<string, Predicate>>

/** The records in which a field may be used; `undefined`: in all. */
export function grantOf(grants: FieldGrants | undefined, name: string): Predicate | undefined {
  return grants !== undefined && Object.hasOwn(grants, name) ? grants[name] : undefined
}

/** The name of a field of a record in an event, in the grants of events. */
export function recordedField(collection: string, name: string): string {
  return `${collection}.${name}`
}

/** The grants of the records of a collection in events; `undefined`: there are none. */
export function recordedGrants(grants: FieldGrants | undefined, collection: string): FieldGrants | undefined {
  const start = recordedField(collection, '')
  const own = Object.entries(grants ?? {}).filter(([name]) => name.startsWith(start))
  return own.length === 0
    ? undefined
    : Object.fromEntries(own.map(([name, grant]) => [name.slice(start.length), grant]))
}

/** The grants with another predicate in place of each. */
export function mapGrants(grants: FieldGrants, change: (grant: Predicate) => Predicate): FieldGrants {
  return Object.fromEntries(Object.entries(grants).map(([name, grant]) => [name, change(grant)]))
}

/** The predicates of the fields. */
export function predicatesOf(grants: FieldGrants | undefined): Predicate[] {
  return grants === undefined ? [] : Object.values(grants)
}

/**
 * A term of a caller's filter, in which fields count as `null` where the caller may not read them. A comparison that no
 * negation contains also asks whether the field is readable: so an index still finds its records. A lookup counts as
 * false where a field that it compares with other records is not readable.
 */
export function maskTerm(term: Predicate, readable: FieldGrants | undefined, isNegated: boolean): Predicate {
  if (readable === undefined) return term
  const needed = [...new Set(fieldsOf(term))].flatMap((name) => grantOf(readable, name) ?? [])
  if (needed.length === 0) return term
  if (!isNegated && evaluate({}, term) !== true) return allOf([term, ...needed])
  return { kind: 'masked', readable: allOf(needed), term }
}
