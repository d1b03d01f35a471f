/**
 * Declared conditions (`where`) as predicates, once the values of the caller and of the changed record are known.
 *
 * Values are compared by value with what a field can hold: `1.5` equals no integer, and is greater than 1. This is
 * decided here, so that no engine gets a value that does not fit its column, and all engines have the same result.
 */

import { lookupCollection } from './access-rules.ts'
import { mostDigits, readDecimal } from './decimal.ts'
import type { Condition, ConditionValue, FieldCondition, LookupRule } from './declaration.ts'
import type { CallerView } from './declared-functions.ts'
import { type Comparison, comparisons } from './operators.ts'
import { exactText, isObject, memberAt } from './plain-copy.ts'
import {
  allOf,
  always,
  anyOf,
  comparableType,
  comparisonKey,
  never,
  not,
  onDay,
  type Predicate,
  type Scalar,
} from './predicate.ts'
import { type Quantifier, quantified, type RelatedCatalog, relationOf, throughRelation } from './related-conditions.ts'
import { comparedField, hasMembers, type RecordValues, type Resource } from './resource.ts'
import { isStorableText } from './text.ts'
import { stampKey, timestamp } from './time.ts'
import { boundsOfDay, boundsOfSpan, type DayBounds, isDay, spansOf, type TimeZone } from './time-zone.ts'

/** The sources of values in a condition. */
export interface Bindings {
  /** The zone of days that date-times are compared with; left out: days are no values. */
  readonly zone?: TimeZone
  readonly caller: CallerView
  /** The catalog whose relations the condition follows (WHR-2), that of its version; left out: it follows none. */
  readonly related?: RelatedCatalog | undefined
  /**
   * The changed record, in business rules. `outer`: the condition is that of a lookup, so the database compares with
   * the record that the rule is about.
   */
  readonly record?: RecordValues | 'outer'
}

/**
 * Resolves a declared condition on records of `resource`. A comparison with a missing value is unknown: with `null`,
 * with a claim that the caller does not have, or with a value that does not fit the field. An unknown comparison must
 * not match, so it becomes `never`, and under `not`, `always`.
 */
export function resolveCondition(resource: Resource, condition: Condition, bindings: Bindings): Predicate {
  return resolve({ resource, bindings, unknown: never }, condition)
}

/**
 * Resolves a rule for which a live record of another collection decides.
 *
 * @param target that collection
 * @returns `never` also for `none` with a comparison that is unknown, such as with a claim that the caller does not
 *   have: nobody knows whether there is such a record
 */
export function resolveLookup(target: Resource, rule: LookupRule, caller: CallerView): Predicate {
  const bindings: Bindings = { caller, record: 'outer' }
  const predicate = resolve({ resource: target, bindings, unknown: never }, rule.where)
  const some: Predicate =
    predicate.kind === 'never' ? never : { kind: 'some', collection: lookupCollection(rule), predicate }
  if ('some' in rule) return some
  const possible = resolve({ resource: target, bindings, unknown: always }, rule.where)
  return exactText(possible) === exactText(predicate) ? not(some) : never
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
      return resolveRelation(scope, name, value) ?? resolveNamed(scope, name, value as ConditionValue | FieldCondition)
    }),
  )
}

/** A field, or the members of an object: `{ attributes: { size: { gte: 3 } } }`. */
function resolveNamed(scope: Scope, name: string, value: ConditionValue | FieldCondition): Predicate {
  const { resource } = scope
  if (!isObject(value) || !hasMembers(resource, name)) return resolveField(scope, name, value)
  return allOf(
    Object.entries(value).map(([key, each]) => {
      if (key === 'null') return resolveField(scope, name, { null: each as boolean })
      return resolveNamed(scope, `${name}.${key}`, each as ConditionValue | FieldCondition)
    }),
  )
}

/** A condition on related records; `undefined`: it is a comparison of a field. */
function resolveRelation({ resource, bindings }: Scope, name: string, value: unknown): Predicate | undefined {
  const { related } = bindings
  const relation = related && relationOf(related, resource, name, value)
  const target = relation && related.resources.get(relation.collection)
  if (relation === undefined || target === undefined) return undefined
  // A lookup is never unknown: in it, what is unknown finds no record.
  const resolved = (condition: Condition) => resolve({ resource: target, bindings, unknown: never }, condition)
  if (relation.to === 'one') return throughRelation(relation, resolved(value as Condition))
  const conditions = Object.entries(value as Readonly<Record<Quantifier, Condition>>)
  return allOf(conditions.map(([word, each]) => quantified(relation, word as Quantifier, resolved(each))))
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
        const value = boundValue(operand as ConditionValue, scope.bindings)
        const day = dayOf(scope, field, value)
        if (day !== undefined) return anyOf([{ kind: 'null', field }, not(onDay(scope.resource, field, day))])
        const { keys, isMissing } = keysOf(scope.resource, field, [value])
        if (isMissing) return scope.unknown
        return keys.length === 0 ? always : { kind: 'differs', field, values: keys }
      }
      if (operator === 'in') return among(scope, field, operand as readonly ConditionValue[])
      if (operator === 'has' || operator === 'hasAny' || operator === 'hasAll') {
        return having(scope, field, [operand].flat() as readonly ConditionValue[], operator === 'hasAll')
      }
      return compared(scope, field, operator as Comparison, operand as ConditionValue)
    }),
  )
}

function isFieldCondition(value: ConditionValue | FieldCondition): value is FieldCondition {
  return typeof value === 'object' && value !== null && !('caller' in value) && !('record' in value)
}

function compared(scope: Scope, field: string, operator: Comparison, value: ConditionValue): Predicate {
  const outer = outerField(scope, value)
  if (outer !== undefined) return { kind: 'outer', field, operator, outer }
  const bound = boundValue(value, scope.bindings)
  const day = dayOf(scope, field, bound)
  if (day !== undefined && operator === 'eq') return onDay(scope.resource, field, day)
  const compared = day === undefined ? bound : timestamp(day.from)
  return comparisonOf(scope.resource, field, operator, compared) ?? scope.unknown
}

function among(scope: Scope, field: string, operands: readonly ConditionValue[]): Predicate {
  const { resource, bindings, unknown } = scope
  // A claim may itself be a list: { in: [{ caller: 'claims.teams' }] }.
  const outer = operands.flatMap((value) => outerField(scope, value) ?? [])
  const bound = operands.filter((value) => outerField(scope, value) === undefined)
  const values = bound.flatMap((value) => boundValue(value, bindings) as unknown)
  const isOfDay = (value: unknown): value is string => isDayOf(scope, field, value)
  const days = spansOf(values.filter(isOfDay)).map((span) => boundsOfSpan(span, bindings.zone as TimeZone))
  const instants = days.length === 0 ? values : values.filter((value) => !isOfDay(value))
  const { keys, others, isMissing } = keysOf(resource, field, instants)
  const listed: Predicate = keys.length > 0 ? { kind: 'in', field, values: keys } : (others ?? never)
  return anyOf([
    listed,
    ...outer.map((name): Predicate => ({ kind: 'outer', field, operator: 'eq', outer: name })),
    ...days.map((day) => onDay(resource, field, day)),
    ...(isMissing ? [unknown] : []),
  ])
}

/** The field of the record that a lookup is about; `undefined`: the value is another one. */
function outerField({ bindings }: Scope, value: ConditionValue): string | undefined {
  const isOuter = bindings.record === 'outer' && typeof value === 'object' && value !== null && 'record' in value
  return isOuter ? value.record : undefined
}

/** The comparison of an array with items. Without any items it holds for no record. */
function having(scope: Scope, field: string, operands: readonly ConditionValue[], all: boolean): Predicate {
  const { resource, bindings, unknown } = scope
  const values = operands.flatMap((value) => boundValue(value, bindings) as unknown)
  const { keys, others, isMissing } = keysOf(resource, field, values)
  if (all && isMissing) return unknown
  const found: Predicate = keys.length > 0 ? { kind: 'has', field, values: keys, all } : never
  if (all) return others ?? found
  return anyOf([keys.length > 0 ? found : (others ?? never), ...(isMissing ? [unknown] : [])])
}

/** The bounds of a day that a date-time is compared with; `undefined`: the value is none. */
function dayOf(scope: Scope, field: string, value: unknown): DayBounds | undefined {
  return isDayOf(scope, field, value) ? boundsOfDay(value, scope.bindings.zone as TimeZone) : undefined
}

/** Whether a value is a day that a date-time is compared with. */
function isDayOf({ resource, bindings: { zone } }: Scope, field: string, value: unknown): value is string {
  if (zone === undefined || typeof value !== 'string' || !isDay(value)) return false
  return comparableType(resource, field) === 'timestamp' || comparedField(resource, field)?.format === 'date-time'
}

/** The constant, or the value that it names; `undefined` or `null` if that is missing. */
function boundValue(value: ConditionValue, { caller, record }: Bindings): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('record' in value) return record === 'outer' ? undefined : record?.[value.record]
  return memberAt(caller, value.caller.split('.'))
}

/**
 * The comparison of a field with a value, in terms of values that the field can hold.
 *
 * @returns `undefined`: it is unknown, because the value is missing, of another type, or no finite number
 */
export function comparisonOf(
  resource: Resource,
  field: string,
  operator: Comparison,
  value: unknown,
): Predicate | undefined {
  const type = comparableType(resource, field)
  const side = sideOf(type, value)
  const wanted = comparisons[operator].side
  // All that a field holds is below a value that is above all of it.
  if (side !== undefined) return { kind: 'decided', field, holds: wanted !== undefined && wanted !== side }
  const key = comparisonKey(resource, field, value)
  if (key === undefined) return undefined
  const held = nearestHeld(type, key, value)
  if (held === undefined) return { kind: 'compare', field, operator, value: key }
  if (wanted === undefined) return { kind: 'decided', field, holds: false }
  return { kind: 'compare', field, operator: wanted === 'above' ? 'gte' : 'lt', value: held }
}

/** Whether a value is above or below all values that a field of a type can hold; `undefined`: it is not. */
function sideOf(type: ReturnType<typeof comparableType>, value: unknown): 'above' | 'below' | undefined {
  if (type === 'decimal') {
    const read = readDecimal(value)
    return read === undefined || read.exponent <= mostDigits ? undefined : read.negative ? 'below' : 'above'
  }
  if (type !== 'integer' || typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return value > Number.MAX_SAFE_INTEGER ? 'above' : value < Number.MIN_SAFE_INTEGER ? 'below' : undefined
}

/**
 * A key that is above a value which no field of the type holds, and not above any greater value that one may hold.
 *
 * @returns `undefined`: a field may hold the value itself
 */
function nearestHeld(type: ReturnType<typeof comparableType>, key: Scalar, value: unknown): Scalar | undefined {
  // Timestamps of the server have milliseconds, and the key is cut there: a text between it and the next timestamp.
  if (type === 'timestamp') return stampKey(String(value)) === key ? undefined : `${key}~`
  if (type === 'integer') return Number.isInteger(key) ? undefined : Math.ceil(key as number) + 0
  if (typeof key !== 'string' || isStorableText(key)) return undefined
  // Stored texts have neither U+0000 nor half a surrogate pair, so all that begin like the key are on one side of it.
  const { index } = /\0|\p{Surrogate}/u.exec(key) as RegExpExecArray
  return `${key.slice(0, index)}${key[index] === '\0' ? '\u0001' : '\ue000'}`
}

/** The keys of those values that a field can equal. */
export function keysOf(resource: Resource, field: string, values: readonly unknown[]) {
  const keys: Scalar[] = []
  // What the comparison with another value comes to; `undefined`: there is none.
  let others: Predicate | undefined
  let isMissing = false
  for (const value of values) {
    const found = comparisonOf(resource, field, 'eq', value)
    if (found === undefined) isMissing = true
    else if (found.kind === 'compare') keys.push(found.value)
    else others = found
  }
  return { keys, others, isMissing }
}
