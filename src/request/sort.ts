/** The terms of a sort, in a query or a body: `-due_on`, `title` (QRY-3). */
import { sortableNames } from '../model/indexes.ts'
import type { SortTerm } from '../model/predicate.ts'
import type { Resource } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import type { Placed } from './placed.ts'

/**
 * Reads the terms of a sort.
 *
 * @param issues receives what is wrong; such a term is left out
 */
export function readSort(resource: Resource, texts: readonly Placed[], issues: Issue[]): SortTerm[] {
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
