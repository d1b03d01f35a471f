/** Names of fields that a query or a body lists: `sort=-due_on,title` (QRY-3), `fields=id,title` (QRY-4). */

import { sortableNames } from '../model/indexes.ts'
import type { SortTerm } from '../model/predicate.ts'
import type { Resource } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import { queryLimits } from '../spec/limits.ts'

/** A text from a request, and where it stood there: in a query parameter or at a place in the body. */
export interface SourcedText {
  readonly text: string
  readonly place: Pick<Issue, 'parameter' | 'pointer'>
}

/** Splits a text at its commas. */
export function listed(text: string, place: SourcedText['place']): SourcedText[] {
  return text.split(',').map((part) => ({ text: part, place }))
}

/** Counts the items of a text with commas. */
export function countListed(text: string): number {
  let count = 1
  for (let comma = text.indexOf(','); comma !== -1; comma = text.indexOf(',', comma + 1)) count++
  return count
}

/** Reads the terms of a sort. A wrong one is left out. */
export function readSort(resource: Resource, texts: readonly SourcedText[], issues: Issue[]): SortTerm[] {
  const possible = sortableNames(resource)
  const terms: SortTerm[] = []
  for (const { text, place } of texts) {
    const descending = text.startsWith('-')
    const field = descending ? text.slice(1) : text
    if (!possible.includes(field)) {
      const message = `${resource.name} cannot be sorted by ${JSON.stringify(field)}; sort takes ${possible.join(', ')}.`
      issues.push({ code: 'UNKNOWN_FIELD', message, ...place })
    } else if (terms.some((term) => term.field === field)) {
      issues.push({ code: 'INVALID_VALUE', message: `sort names ${field} twice.`, ...place })
    } else {
      terms.push({ field, descending })
    }
  }
  return terms
}

/**
 * Reads the names of the fields to return.
 *
 * @param system the fields that exist besides the declared ones
 * @returns each name once, sorted
 */
export function readFields(
  resource: Resource,
  texts: readonly SourcedText[],
  system: readonly string[],
  issues: Issue[],
): readonly string[] {
  const places = new Map(texts.map(({ text, place }) => [text, place]))
  for (const [name, place] of places) {
    if (system.includes(name)) continue
    const field = resource.field.get(name)
    if (field !== undefined && !field.writeOnly) continue
    const message = `${resource.name} has no field ${JSON.stringify(name)} to answer with.`
    issues.push({ code: 'UNKNOWN_FIELD', message, ...place })
  }
  return [...places.keys()].sort()
}

/** Whether a list of names is within LIM-5. */
export function isShortList(name: 'sort' | 'fields', text: string, issues: Issue[]): boolean {
  const most = name === 'sort' ? queryLimits.sortTerms : queryLimits.fields
  const count = countListed(text)
  if (count <= most) return true
  issues.push(tooMany(name, `${name} may name ${most} fields, not ${count}.`))
  return false
}

/** The issue of a parameter that lists too much. */
export function tooMany(parameter: string, message: string): Issue {
  return { code: 'TOO_MANY_ITEMS', message, parameter }
}
