/** What one query may ask for (LIM-5): what it costs depends on how much it names, and one thread serves everybody. */

import { words } from '../model/text.ts'
import type { Issue } from '../spec/faults.ts'
import { queryLimits } from '../spec/limits.ts'

/** The most errors of one answer to a query: who has more has one mistake, not many. */
export const mostQueryIssues = 100

/**
 * Whether filters are few enough to be read.
 *
 * @param filters the values of each, by its name with its operator
 * @param issues receives what is too much
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

/** Whether a list of names is short enough to be read. */
export function isShortList(name: 'sort' | 'fields', text: string, issues: Issue[]): boolean {
  const most = name === 'sort' ? queryLimits.sortTerms : queryLimits.fields
  const count = countListed(text)
  if (count <= most) return true
  issues.push(tooMany(name, `${name} may name ${most} fields, not ${count}.`))
  return false
}

/**
 * The words to look for: duplicates dropped, the last one a prefix.
 *
 * @param issues receives that there are too many
 */
export function readWords(text: string, issues: Issue[]): readonly string[] {
  const { words: most, characters } = queryLimits
  if (text.length > characters) {
    issues.push({ code: 'TOO_LONG', message: `q may have ${characters} characters.`, parameter: 'q' })
    return []
  }
  const all = words(text)
  const different = new Set(all).size
  if (different > most) issues.push(tooMany('q', `q may have ${most} different words, not ${different}.`))
  if (different === all.length || different > most) return all
  // A word that comes whole and, at the end, as a prefix stays both.
  return [...new Set(all.slice(0, -1)), all.at(-1) as string]
}

/** How many names or values a text with commas lists. */
export function countListed(text: string): number {
  let count = 1
  for (let comma = text.indexOf(','); comma !== -1; comma = text.indexOf(',', comma + 1)) count++
  return count
}

function tooMany(parameter: string, message: string): Issue {
  return { code: 'TOO_MANY_ITEMS', message, parameter }
}
