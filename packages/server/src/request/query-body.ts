/**
 * Turns the body of a QUERY into parameters (MET-10, RFC 10008); `list-query.ts` reads them like the parameters of a
 * query string.
 */
import { controlParameters } from 'resourced-contract/model/names'
import { escapeStep } from 'resourced-contract/model/place'
import { isObject } from 'resourced-contract/model/plain-copy'
import { words } from 'resourced-contract/model/text'
import { type Issue, issue, type Place } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import type { GivenCondition } from './condition.ts'
import { isIncludedCondition, isListOfNames, isOfInclude } from './include.ts'
import { countListed, type Parameter } from './parameters.ts'

/**
 * The most values in the filters of a QUERY, which no length of an address limits; and as many in its other parameters,
 * where each name in a list and each word of `q` counts.
 */
export const mostValues: number = queryLimits.values

const controls: ReadonlySet<string> = new Set(controlParameters)
const takesList = /^([^[\]]*)\[(in|has_any|has_all)\]$/

/**
 * Turns the body of a QUERY, an object of parameter names, into parameters, except for `where` (`conditionIn`). Texts,
 * numbers and booleans are values. An array repeats its parameter, or lists names, as for `sort` and `fields`. `null`
 * asks for records whose field is unset. An item of a filter's array is one value, even with commas; a text is read as
 * in a query string, where `[in]` splits it.
 *
 * @param body read by `model/json/read-json.ts`
 * @param lists the parameters that list names
 * @param issues receives what is wrong, with the parameter's name and its place in the body; such a parameter is left
 *   out
 *
 * @example
 * readQueryBody({ status: ['open', 'done'], 'estimate[gte]': 5, sort: ['-due_on', 'title'], due_on: null }, issues)
 * // as status=open&status=done&estimate[gte]=5&sort=-due_on,title&due_on[null]=true
 */
export function readQueryBody(body: unknown, issues: Issue[], lists: readonly string[] = []): Parameter[] {
  if (!isObject(body)) {
    issues.push(issue('object', { pointer: '' }))
    return []
  }
  const { where: _, ...parameters } = body
  return readMembers(parameters, lists, issues)
}

/** The condition in the body of a QUERY (WHR-1); `undefined`: there is none. */
export function conditionIn(body: unknown): GivenCondition | undefined {
  return isObject(body) && Object.hasOwn(body, 'where') ? { value: body['where'] } : undefined
}

function readMembers(body: Readonly<Record<string, unknown>>, lists: readonly string[], issues: Issue[]): Parameter[] {
  const counts = { filters: 0, controls: 0 }
  for (const name in body) {
    const isControl = controls.has(name) || isOfInclude(name) || name === 'timezone' || lists.includes(name)
    const kind = isControl ? 'controls' : 'filters'
    counts[kind] += countValues(name, body[name], lists)
    if (counts[kind] <= mostValues) continue
    issues.push(issue('queryValues', { ...placeOf(name), most: mostValues }))
    return []
  }
  return Object.entries(body).flatMap(([name, value]) => readEntry(name, value, { body, lists }, issues))
}

/** How many values a parameter holds, at least one. The cost of a value does not depend on its spelling. */
function countValues(name: string, value: unknown, lists: readonly string[]): number {
  if (Array.isArray(value)) {
    const items = takesList.test(name)
      ? value.length
      : value.reduce((sum: number, item) => sum + countValues(name, item, lists), 0)
    return Math.max(1, items)
  }
  if (typeof value !== 'string') return 1
  // A longer text is refused without counting its words.
  if (name === 'q') return value.length > queryLimits.characters ? 1 : Math.max(1, words(value).length)
  if (!isListOfNames(name) && !lists.includes(name) && !takesList.test(name)) return 1
  return countListed(value)
}

/** A body, and the parameters in it that list names. */
interface ReadBody {
  readonly body: object
  readonly lists: readonly string[]
}

function readEntry(name: string, value: unknown, { body, lists }: ReadBody, issues: Issue[]): Parameter[] {
  if (value === null) return readNull(name, body, issues)
  if (isIncludedCondition(name) && isObject(value)) {
    return [{ name, value: JSON.stringify(value), pointer: placeOf(name).pointer ?? '' }]
  }
  const texts = [value].flat().map(spell)
  const wrong = texts.indexOf(undefined)
  if (wrong !== -1) {
    issues.push(issue('queryValue', placeOf(name, Array.isArray(value) ? `/${wrong}` : '')))
    return []
  }
  if (texts.length === 0) {
    // No interpretation is safe: as "no filter" it would find everything.
    issues.push(issue('noValues', placeOf(name)))
    return []
  }
  if (isListOfNames(name) || lists.includes(name)) return [{ name, value: texts.join(',') }]
  const carrier = Array.isArray(value) ? carrierOf(name, texts as string[], body) : name
  if (carrier === undefined) {
    issues.push(issue(name.endsWith('[has_all]') ? 'commaInAll' : 'commaBeside', placeOf(name)))
    return []
  }
  return texts.map((text) => ({ name: carrier, value: text as string }))
}

/**
 * The parameter whose repetition carries an array's values unchanged. `[in]` splits at commas; repeating the filter
 * without an operator means the same and does not, nor does `[has]` for `[has_any]`. `undefined`: there is none, or it
 * is present too, and then both must hold.
 */
function carrierOf(name: string, texts: readonly string[], body: object): string | undefined {
  const [, field, operator] = takesList.exec(name) ?? []
  if (field === undefined || controls.has(field) || !texts.some((text) => text.includes(','))) return name
  if (operator === 'has_all') return undefined
  const carrier = operator === 'in' ? field : `${field}[has]`
  return Object.hasOwn(body, carrier) ? undefined : carrier
}

function readNull(name: string, body: object, issues: Issue[]): Parameter[] {
  const unset = `${name}[null]`
  if (controls.has(name) || name.includes('[')) issues.push(issue('nullParameter', placeOf(name)))
  else if (Object.hasOwn(body, unset)) issues.push(issue('nullBeside', { ...placeOf(name), name: unset }))
  else return [{ name: unset, value: 'true' }]
  return []
}

/** A value as in a query string. The shortest text of a number reads back as the same number. */
function spell(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

function placeOf(parameter: string, step = ''): Place {
  return { parameter, pointer: `/${escapeStep(parameter)}${step}` }
}
