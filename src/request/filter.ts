/**
 * The filters of a query string, `field=value` or `field[operator]=value`, as predicates (QRY-1, QRY-2). Each function
 * adds what is wrong to `issues`.
 */

import { decimalKeyOf } from '../model/decimal.ts'
import { always, anyOf, type Comparison, not, type Predicate, type Scalar } from '../model/predicate.ts'
import { type Filterable, operatorsFor, type Resource } from '../model/resource.ts'
import { isRecordId } from '../model/text.ts'
import { instantKey, stampKey } from '../model/time.ts'
import type { Issue } from '../spec/faults.ts'
import { queryLimits } from '../spec/limits.ts'
import { countListed, tooMany } from './parameters.ts'

/**
 * Reads one filter.
 *
 * @param name the parameter's name, with its operator in brackets
 * @param values every value that it was given: a record matches if it has one of them
 */
export function readFilter(resource: Resource, name: string, values: readonly string[], issues: Issue[]): Predicate {
  const parts = /^([^[\]]*)(?:\[([^[\]]*)\])?$/.exec(name)
  const subject = resource.filterables.find((each) => each.name === parts?.[1])
  if (subject === undefined) {
    const possible = resource.filterables.map((each) => each.name).join(', ')
    const message = `${JSON.stringify(name)} is no parameter of ${resource.name}; it can be filtered by ${possible}.`
    issues.push({ code: 'UNKNOWN_PARAMETER', message, parameter: name })
    return always
  }
  const operator = parts?.[2]
  if (operator === undefined) return equalsAny(subject, values, name, issues)
  const possible: readonly string[] = operatorsFor(subject)
  if (!possible.includes(operator)) {
    const names = possible.map((each) => `[${each}]`).join(' ')
    const message = `${subject.name} has no operator [${operator}]; it takes ${names}.`
    issues.push({ code: 'INVALID_OPERATOR', message, parameter: name })
    return always
  }
  if (operator === 'in')
    return equalsAny(
      subject,
      values.flatMap((value) => value.split(',')),
      name,
      issues,
    )
  if (operator === 'not')
    return { kind: 'differs', field: subject.name, values: readValues(subject, values, name, issues) }
  if (values.length > mostAlternatives) {
    const message = `${name} may be given ${mostAlternatives} times, not ${values.length}.`
    issues.push({ code: 'INVALID_VALUE', message, parameter: name })
    return always
  }
  if (operator === 'null') return anyOf(values.map((value) => nullness(subject, value, name, issues)))
  const comparison = operator === 'starts_with' ? 'startsWith' : (operator as Comparison)
  return anyOf(
    values.map((text): Predicate => {
      const value =
        comparison === 'contains' || comparison === 'startsWith' ? text : readValue(subject, text, name, issues)
      return { kind: 'compare', field: subject.name, operator: comparison, value }
    }),
  )
}

function equalsAny(subject: Filterable, texts: readonly string[], parameter: string, issues: Issue[]): Predicate {
  const values = readValues(subject, texts, parameter, issues)
  const [only] = values
  if (texts.length === 1) return { kind: 'compare', field: subject.name, operator: 'eq', value: only as Scalar }
  return { kind: 'in', field: subject.name, values }
}

/** The values, each once. */
function readValues(subject: Filterable, texts: readonly string[], parameter: string, issues: Issue[]): Scalar[] {
  return [...new Set(texts.map((text) => readValue(subject, text, parameter, issues)))]
}

function nullness(subject: Filterable, text: string, parameter: string, issues: Issue[]): Predicate {
  if (text !== 'true' && text !== 'false') invalid(parameter, 'is true or false', issues)
  const unset: Predicate = { kind: 'null', field: subject.name }
  return text === 'false' ? not(unset) : unset
}

// Each is a term of its own in the condition, and databases limit those (SQLite: 1,000 deep). Equal values are one
// term.
const mostAlternatives = 100

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const integer = /^-?(?:0|[1-9]\d*)$/

/** A value as its field compares it (QRY-8). */
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
    case 'decimal': {
      const key = decimalKeyOf(text)
      if (key === undefined) invalid(parameter, 'takes a decimal, such as 19.99', issues)
      return key ?? ''
    }
    case 'timestamp':
      return readTimestamp(text, parameter, issues)
    case 'string':
      if (field?.enum !== undefined && !field.enum.includes(text)) {
        invalid(parameter, `is one of ${field.enum.join(', ')}`, issues)
      }
      if (field?.reference !== undefined && !isRecordId(text)) {
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
  const key = stampKey(text)
  if (key === undefined) {
    invalid(parameter, 'takes a date-time of at most milliseconds, such as 2026-11-21T08:00:00.000Z', issues)
  }
  return key ?? ''
}

function invalid(parameter: string, expectation: string, issues: Issue[]): void {
  issues.push({ code: 'INVALID_VALUE', message: `${parameter} ${expectation}.`, parameter })
}

/**
 * Whether filters are within LIM-5: what a query costs depends on how much it names, and one thread serves all callers.
 *
 * @param filters the values of each, by its name with its operator
 */
export function areFewFilters(filters: ReadonlyMap<string, readonly string[]>, issues: Issue[]): boolean {
  const { filters: mostFilters, values: mostValues, characters: mostCharacters } = queryLimits
  const before = issues.length
  let count = 0
  let values = 0
  let characters = 0
  for (const [name, given] of filters) {
    if (++count > mostFilters) {
      issues.push(tooMany(name, `A query may have ${mostFilters} filters; this one has ${filters.size}.`))
      break
    }
    values += name.endsWith('[in]') ? given.reduce((sum, value) => sum + countListed(value), 0) : given.length
    if (values > mostValues) {
      issues.push(tooMany(name, `The filters of a query may have ${mostValues} values together.`))
      break
    }
    if (/\[(?:contains|starts_with)\]$/.test(name)) characters += given.reduce((sum, value) => sum + value.length, 0)
    if (characters > mostCharacters) {
      const message = `The texts of contains and starts_with may have ${mostCharacters} characters together.`
      issues.push({ code: 'TOO_LONG', message, parameter: name })
      break
    }
  }
  return issues.length === before
}
