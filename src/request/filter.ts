/** One filter of the query string, `field=value` or `field[operator]=value`, as a predicate (QRY-1, QRY-2). */
import { instantKey, timestamp } from '../model/instant.ts'
import { anyOf, type Comparison, not, type Predicate, type Scalar } from '../model/predicate.ts'
import type { Field, Resource } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'

const operators: Readonly<Record<string, Comparison | 'not' | 'in' | 'null'>> = {
  gt: 'gt',
  gte: 'gte',
  lt: 'lt',
  lte: 'lte',
  not: 'not',
  in: 'in',
  contains: 'contains',
  starts_with: 'startsWith',
  null: 'null',
}

/** What a filter's values are, as far as reading them goes. */
interface Filterable {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'timestamp'
  readonly field: Field | undefined
}

/**
 * Reads one filter.
 *
 * @param name the parameter's name, with its operator in brackets
 * @param values every value that it was given: any of them
 * @param issues receives what is wrong
 */
export function readFilter(resource: Resource, name: string, values: readonly string[], issues: Issue[]): Predicate {
  const parts = /^([^[\]]*)(?:\[([^[\]]*)\])?$/.exec(name)
  const subject = parts === null ? undefined : filterable(resource, parts[1] as string)
  if (subject === undefined) {
    const possible = filterableFields(resource).join(', ')
    const message = `${JSON.stringify(name)} is no parameter of ${resource.name}; it can be filtered by ${possible}.`
    issues.push({ code: 'UNKNOWN_PARAMETER', message, parameter: name })
    return { kind: 'always' }
  }
  const operator = parts?.[2]
  if (operator === undefined) return equalsAny(subject, values, name, issues)
  const comparison = Object.hasOwn(operators, operator) ? operators[operator] : undefined
  if (comparison === undefined || !fits(comparison, subject)) {
    const possible = Object.keys(operators).filter((key) => fits(operators[key] as Comparison, subject))
    const message = `${subject.name} has no operator [${operator}]; it takes ${possible.map((key) => `[${key}]`).join(' ')}.`
    issues.push({ code: 'INVALID_OPERATOR', message, parameter: name })
    return { kind: 'always' }
  }
  if (comparison === 'in') return equalsAny(subject, values.flatMap((value) => value.split(',')), name, issues)
  if (comparison === 'not') return not(equalsAny(subject, values, name, issues))
  if (comparison === 'null') return anyOf(values.map((value) => nullness(subject, value, name, issues)))
  return anyOf(
    values.map((text): Predicate => {
      const value = comparison === 'contains' || comparison === 'startsWith' ? text : readValue(subject, text, name, issues)
      return { kind: 'compare', field: subject.name, operator: comparison, value }
    }),
  )
}

/** The fields that a collection can be filtered by (QRY-7). */
export function filterableFields(resource: Resource): string[] {
  return [...resource.fields.filter((field) => field.filter).map((field) => field.name), 'created_at', 'updated_at']
}

function filterable(resource: Resource, name: string): Filterable | undefined {
  if (name === 'created_at' || name === 'updated_at') return { name, type: 'timestamp', field: undefined }
  const field = resource.field.get(name)
  if (field === undefined || !field.filter || field.writeOnly) return undefined
  if (field.type === 'array' || field.type === 'object' || field.type === 'json') return undefined
  return { name, type: field.type, field }
}

function fits(operator: string, { type, field }: Filterable): boolean {
  const plain = type === 'string' && field?.enum === undefined && field?.reference === undefined
  if (operator === 'contains' || operator === 'startsWith') return plain && field?.format === undefined
  if (operator === 'gt' || operator === 'gte' || operator === 'lt' || operator === 'lte') {
    return type !== 'boolean' && (type !== 'string' || plain)
  }
  return true
}

function equalsAny(subject: Filterable, texts: readonly string[], parameter: string, issues: Issue[]): Predicate {
  const values = texts.map((text) => readValue(subject, text, parameter, issues))
  const [only] = values
  if (values.length === 1) return { kind: 'compare', field: subject.name, operator: 'eq', value: only as Scalar }
  return { kind: 'in', field: subject.name, values: [...new Set(values)] }
}

function nullness(subject: Filterable, text: string, parameter: string, issues: Issue[]): Predicate {
  if (text !== 'true' && text !== 'false') invalid(parameter, 'is true or false', issues)
  const unset: Predicate = { kind: 'null', field: subject.name }
  return text === 'false' ? not(unset) : unset
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const integer = /^-?(?:0|[1-9]\d*)$/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A value as its field compares it; what does not fit is an issue (QRY-8). */
function readValue({ type, field }: Filterable, text: string, parameter: string, issues: Issue[]): Scalar {
  switch (type) {
    case 'boolean':
      if (text !== 'true' && text !== 'false') invalid(parameter, 'is true or false', issues)
      return text === 'true'
    case 'integer':
      if (!integer.test(text) || !Number.isSafeInteger(Number(text))) invalid(parameter, 'takes a whole number', issues)
      return Number(text)
    case 'number':
      if (!number.test(text) || !Number.isFinite(Number(text))) invalid(parameter, 'takes a number', issues)
      return Number(text)
    case 'timestamp':
      return readTimestamp(text, parameter, issues)
    case 'string':
      if (field?.enum !== undefined && !field.enum.includes(text)) {
        invalid(parameter, `is one of ${field.enum.join(', ')}`, issues)
      }
      if (field?.reference !== undefined && !uuid.test(text)) {
        invalid(parameter, `takes the id of one of ${field.reference.collection}, a lower-case UUID`, issues)
      }
      if (field?.format === 'date-time') {
        const key = instantKey(text)
        if (key === undefined) invalid(parameter, 'takes a date-time, such as 2026-11-21T08:00:00Z', issues)
        return key ?? ''
      }
      if (field?.format === 'date' && instantKey(`${text}T00:00:00Z`) === undefined) {
        invalid(parameter, 'takes a date, such as 2026-11-21', issues)
      }
      return text
  }
}

function readTimestamp(text: string, parameter: string, issues: Issue[]): string {
  const key = instantKey(text)
  const milliseconds = Date.parse(text)
  // Records are stamped in milliseconds: finer digits, or a leap second, would compare wrongly.
  if (key === undefined || Number.isNaN(milliseconds) || (key.split('.')[1]?.length ?? 0) > 3) {
    invalid(parameter, 'takes a date-time of at most milliseconds, such as 2026-11-21T08:00:00.000Z', issues)
    return ''
  }
  return timestamp(milliseconds)
}

function invalid(parameter: string, expectation: string, issues: Issue[]): void {
  issues.push({ code: 'INVALID_VALUE', message: `${parameter} ${expectation}.`, parameter })
}
