/** The filter of an export: a condition of the declaration language, of any field that is answered. */
import { comparedResource, conditionProblems } from '../model/check/conditions.ts'
import type { Condition } from '../model/declaration.ts'
import { below, pointerTo, type Steps } from '../model/place.ts'
import type { Resource } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import { queryLimits } from '../spec/limits.ts'
import { liveFields } from './export-document.ts'
import { isObject } from './merge-patch.ts'

/** The most comparisons of a filter, `in` counting as one: databases bound the terms of a condition. */
export const mostComparisons = 100
/** The most values in all lists of a filter together. */
export const mostListed = 1_000
/** The most characters that the texts of `contains` and `starts_with` have together, as in a query. */
export const mostCharacters: number = queryLimits.characters
/** How many conditions may stand within each other; the filter itself counts 1. */
export const deepestCondition = 20

/**
 * Reads a filter. Where no issue is found, `resolveCondition` can resolve it: a value that cannot be compared with its
 * field is an issue, and what a caller lacks (`{ caller: 'claims.team' }`) matches nothing.
 *
 * @param filter `undefined`: everything is exported
 * @param resource `undefined` where nobody knows which: then only the bounds are checked
 * @param issues receives what is wrong, with its place in the body
 */
export function readExportFilter(resource: Resource | undefined, filter: unknown, issues: Issue[]): Condition {
  if (filter === undefined) return {}
  const weight: Weight = { comparisons: 0, listed: 0, characters: 0, tooDeep: undefined }
  weigh(weight, filter, [], 1)
  const excesses = excessesOf(weight)
  issues.push(...excesses)
  if (excesses.length > 0 || resource === undefined) return {}
  const subject = { resource: comparedResource(resource), record: undefined, system: liveFields }
  for (const { steps, code, message, remedy } of conditionProblems(filter, subject)) {
    issues.push({
      code,
      message: `${below('filter', steps)} ${message}. ${remedy}`,
      pointer: pointerTo(['filter', ...steps]),
    })
  }
  return filter as Condition
}

/** What a filter will cost. */
interface Weight {
  comparisons: number
  listed: number
  characters: number
  tooDeep: Steps | undefined
}

/** Adds up a condition, whatever is wrong in it. What holds no comparison counts as one: it costs its place. */
function weigh(weight: Weight, condition: unknown, steps: Steps, depth: number): void {
  if (depth > deepestCondition) {
    weight.tooDeep ??= steps
    return
  }
  const entries = isObject(condition) ? Object.entries(condition) : []
  if (entries.length === 0) weight.comparisons++
  for (const [word, value] of entries) {
    if (word === 'not') weigh(weight, value, [...steps, word], depth + 1)
    else if ((word === 'and' || word === 'or') && Array.isArray(value)) {
      for (const [index, each] of value.entries()) weigh(weight, each, [...steps, word, index], depth + 1)
    } else weighField(weight, value)
  }
}

function weighField(weight: Weight, value: unknown): void {
  const operators = isObject(value) ? Object.values(value) : [value]
  weight.comparisons += Math.max(1, operators.length)
  for (const each of operators) if (Array.isArray(each)) weight.listed += each.length
  if (!isObject(value)) return
  for (const operator of ['contains', 'startsWith']) {
    const text = value[operator]
    if (typeof text === 'string') weight.characters += text.length
  }
}

function excessesOf({ comparisons, listed, characters, tooDeep }: Weight): Issue[] {
  const issues: Issue[] = []
  if (comparisons > mostComparisons) {
    const message = `filter may hold ${mostComparisons} comparisons, not ${comparisons}; ask for several exports.`
    issues.push({ code: 'TOO_MANY_ITEMS', message, pointer: '/filter' })
  }
  if (listed > mostListed) {
    const message = `filter may list ${mostListed} values with in, not ${listed}; ask for several exports.`
    issues.push({ code: 'TOO_MANY_ITEMS', message, pointer: '/filter' })
  }
  if (characters > mostCharacters) {
    const message = `filter may look for ${mostCharacters} characters with contains and startsWith together.`
    issues.push({ code: 'TOO_LONG', message, pointer: '/filter' })
  }
  if (tooDeep !== undefined) {
    const message = `filter may nest ${deepestCondition} conditions within each other; this one lies deeper.`
    issues.push({ code: 'TOO_DEEP', message, pointer: pointerTo(['filter', ...tooDeep]) })
  }
  return issues
}
