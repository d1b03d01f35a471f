/** Declared conditions (`where`) to predicates: every value of the caller and of the record at hand put in. */
import type { CallerView, Condition, ConditionValue, FieldCondition } from './declaration.ts'
import { allOf, anyOf, type Comparison, never, not, type Predicate, type Scalar } from './predicate.ts'
import { comparisonKey } from './record.ts'
import type { RecordValues, Resource } from './resource.ts'

/** What the values of a condition may name. */
export interface Bindings {
  readonly caller: CallerView
  /** The record at hand, in business rules. */
  readonly record?: RecordValues
}

/**
 * Resolves a declared condition on records of `resource`.
 * A value that the caller does not have, or that does not fit its field, makes the whole condition `never`,
 * under `not` too: what cannot be decided allows nothing.
 */
export function resolveCondition(resource: Resource, condition: Condition, bindings: Bindings): Predicate {
  try {
    return resolve(resource, condition, bindings)
  } catch (error) {
    if (error === undecidable) return never
    throw error
  }
}

const undecidable = Symbol('undecidable')

function resolve(resource: Resource, condition: Condition, bindings: Bindings): Predicate {
  return allOf(
    Object.entries(condition).map(([name, value]) => {
      if (name === 'and') return allOf((value as readonly Condition[]).map((each) => resolve(resource, each, bindings)))
      if (name === 'or') return anyOf((value as readonly Condition[]).map((each) => resolve(resource, each, bindings)))
      if (name === 'not') return not(resolve(resource, value as Condition, bindings))
      return resolveField(resource, name, value as ConditionValue | FieldCondition, bindings)
    }),
  )
}

function resolveField(
  resource: Resource,
  field: string,
  value: ConditionValue | FieldCondition,
  bindings: Bindings,
): Predicate {
  if (!isFieldCondition(value)) return equals(resource, field, value, bindings)
  return allOf(
    Object.entries(value).map(([operator, operand]): Predicate => {
      if (operator === 'null') {
        const unset: Predicate = { kind: 'null', field }
        return operand === true ? unset : not(unset)
      }
      if (operator === 'not') return not(equals(resource, field, operand as ConditionValue, bindings))
      if (operator === 'in') return oneOf(resource, field, operand as readonly ConditionValue[], bindings)
      const bound = keyOf(resource, field, boundValue(operand as ConditionValue, bindings))
      return { kind: 'compare', field, operator: operator as Comparison, value: bound }
    }),
  )
}

function isFieldCondition(value: ConditionValue | FieldCondition): value is FieldCondition {
  return typeof value === 'object' && value !== null && !('caller' in value) && !('record' in value)
}

function equals(resource: Resource, field: string, value: ConditionValue, bindings: Bindings): Predicate {
  const bound = boundValue(value, bindings)
  if (bound === null) return { kind: 'null', field }
  return { kind: 'compare', field, operator: 'eq', value: keyOf(resource, field, bound) }
}

function oneOf(resource: Resource, field: string, values: readonly ConditionValue[], bindings: Bindings): Predicate {
  // A claim may itself be a list: { in: [{ caller: 'claims.teams' }] }.
  const bound = values.flatMap((value) => boundValue(value, bindings) as unknown)
  const keys = bound.filter((value) => value !== null).map((value) => keyOf(resource, field, value))
  const listed: Predicate = keys.length === 0 ? never : { kind: 'in', field, values: keys }
  return bound.includes(null) ? anyOf([listed, { kind: 'null', field }]) : listed
}

function boundValue(value: ConditionValue, { caller, record }: Bindings): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('record' in value) return record?.[value.record] ?? null
  const path = value.caller.split('.')
  let found: unknown = caller
  for (const name of path) {
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined
  }
  if (found === undefined || found === null) throw undecidable
  return found
}

function keyOf(resource: Resource, field: string, value: unknown): Scalar {
  const key = comparisonKey(resource, field, value)
  if (key === undefined) throw undecidable
  return key
}
