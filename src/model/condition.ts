/** Turns declared conditions (`where`) into predicates: fills in the values of the caller and of the changed record. */
import type { CallerView, Condition, ConditionValue, FieldCondition } from './declaration.ts'
import { allOf, anyOf, type Comparison, never, not, type Predicate, type Scalar } from './predicate.ts'
import { comparisonKey } from './record.ts'
import type { RecordValues, Resource } from './resource.ts'

/** The sources of values in a condition. */
export interface Bindings {
  readonly caller: CallerView
  /** The changed record, in business rules. */
  readonly record?: RecordValues
}

/**
 * Resolves a declared condition on records of `resource`. A comparison with a missing value is unknown: with `null`,
 * with a claim that the caller does not have, or with a value that does not fit the field. An unknown comparison must
 * not match, so it becomes `never`, and under `not`, `always`.
 */
export function resolveCondition(resource: Resource, condition: Condition, bindings: Bindings): Predicate {
  return resolve({ resource, bindings, unknown: never }, condition)
}

/** The surroundings of a condition. */
interface Scope {
  readonly resource: Resource
  readonly bindings: Bindings
  /** The predicate for an unknown comparison: it does not make the whole condition true. */
  readonly unknown: Predicate
}

function resolve(scope: Scope, condition: Condition): Predicate {
  return allOf(
    Object.entries(condition).map(([name, value]) => {
      if (name === 'and') return allOf((value as readonly Condition[]).map((each) => resolve(scope, each)))
      if (name === 'or') return anyOf((value as readonly Condition[]).map((each) => resolve(scope, each)))
      if (name === 'not') return not(resolve({ ...scope, unknown: not(scope.unknown) }, value as Condition))
      return resolveField(scope, name, value as ConditionValue | FieldCondition)
    }),
  )
}

function resolveField(scope: Scope, field: string, value: ConditionValue | FieldCondition): Predicate {
  if (!isFieldCondition(value)) return compared(scope, field, 'eq', value)
  return allOf(
    Object.entries(value).map(([operator, operand]): Predicate => {
      if (operator === 'null') {
        const unset: Predicate = { kind: 'null', field }
        return operand === true ? unset : not(unset)
      }
      if (operator === 'not') {
        const key = keyOf(scope, field, boundValue(operand as ConditionValue, scope.bindings))
        return key === undefined ? scope.unknown : { kind: 'differs', field, values: [key] }
      }
      if (operator === 'in') return among(scope, field, operand as readonly ConditionValue[])
      return compared(scope, field, operator as Comparison, operand as ConditionValue)
    }),
  )
}

function isFieldCondition(value: ConditionValue | FieldCondition): value is FieldCondition {
  return typeof value === 'object' && value !== null && !('caller' in value) && !('record' in value)
}

function compared(scope: Scope, field: string, operator: Comparison, value: ConditionValue): Predicate {
  const key = keyOf(scope, field, boundValue(value, scope.bindings))
  return key === undefined ? scope.unknown : { kind: 'compare', field, operator, value: key }
}

function among(scope: Scope, field: string, values: readonly ConditionValue[]): Predicate {
  // A claim may itself be a list: { in: [{ caller: 'claims.teams' }] }.
  const keys = values
    .flatMap((value) => boundValue(value, scope.bindings) as unknown)
    .map((value) => keyOf(scope, field, value))
  const known = keys.filter((key) => key !== undefined)
  const listed: Predicate = known.length === 0 ? never : { kind: 'in', field, values: known }
  return known.length === keys.length ? listed : anyOf([listed, scope.unknown])
}

/** The constant, or the value that it names; `undefined` or `null` if that is missing. */
function boundValue(value: ConditionValue, { caller, record }: Bindings): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('record' in value) return record?.[value.record]
  let found: unknown = caller
  for (const name of value.caller.split('.')) {
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined
  }
  return found
}

/** The comparison key of a value; `undefined` if the value is missing or does not fit the field. */
function keyOf({ resource }: Scope, field: string, value: unknown): Scalar | undefined {
  return value === null ? undefined : comparisonKey(resource, field, value)
}
