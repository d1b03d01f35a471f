/**
 * Conditions on related records (WHR-2): of the record that a reference leads to, `{ author: { born: 1929 } }`, or of
 * the records that refer to this one, `{ books: { some: { status: 'open' } } }`.
 */
import { operators } from './operators.ts'
import { isObject } from './plain-copy.ts'
import { allOf, never, not, type Predicate } from './predicate.ts'
import { type Relation, relationsOf } from './relations.ts'
import type { Catalog, Resource } from './resource.ts'

/** The catalog of a version, whose relations a condition may follow. */
export type RelatedCatalog = Pick<Catalog, 'resources'>

/** How many relations a condition follows, one after the other. */
export const mostSteps = 2

/** How a condition on the records of a relation to many counts them. */
export const quantifiers = ['some', 'none', 'every'] as const
export type Quantifier = (typeof quantifiers)[number]

/** Whether an object stands for a value: of the caller, or of the changed record. */
export function isBinding(value: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(value, 'caller') || Object.hasOwn(value, 'record')
}

/**
 * The relation that a member of a condition follows; `undefined`: it compares a field. A reference without `_id` has
 * the name of its relation: what has operators alone compares the reference.
 */
export function relationOf(
  catalog: RelatedCatalog,
  resource: Resource,
  name: string,
  value: unknown,
): Relation | undefined {
  const relation = relationsOf(catalog, resource).get(name)
  return relation?.field === name && relation.to === 'one' && isComparison(value) ? undefined : relation
}

function isComparison(value: unknown): boolean {
  if (!isObject(value) || isBinding(value)) return true
  const names = Object.keys(value)
  const { not: other } = value
  return names.length > 0 && names.every((name) => operators.has(name)) && (!isObject(other) || isBinding(other))
}

/** The record that a relation to one leads to is there, and matches. Never unknown. */
export function throughRelation({ field, collection }: Relation, predicate: Predicate): Predicate {
  return predicate.kind === 'never' ? never : { kind: 'through', field, collection, predicate }
}

/** Of the records of a relation to many, some, none or every one matches. Never unknown. */
export function quantified(relation: Relation, quantifier: Quantifier, predicate: Predicate): Predicate {
  if (quantifier === 'every') return not(found(relation, notTrue(predicate)))
  return quantifier === 'some' ? found(relation, predicate) : not(found(relation, predicate))
}

function found({ field, collection }: Relation, predicate: Predicate): Predicate {
  const link: Predicate = { kind: 'outer', field, operator: 'eq', outer: 'id' }
  return predicate.kind === 'never' ? never : { kind: 'some', collection, predicate: allOf([link, predicate]) }
}

/** The records for which a predicate is false or unknown. It is never unknown itself. */
function notTrue(predicate: Predicate): Predicate {
  if (predicate.kind === 'always' || predicate.kind === 'never') return not(predicate)
  // Every record has an id, and nothing has one: so this holds where the predicate is not true.
  return { kind: 'masked', readable: predicate, term: { kind: 'null', field: 'id' } }
}
