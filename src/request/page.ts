/** Which page is asked for: three styles that never mix (PAG-1, PAG-2). */
import type { Issue } from '../spec/faults.ts'

/** The page asked for; a cursor is still sealed. */
export type PageRequest =
  | { readonly style: 'page'; readonly page: number; readonly perPage: number }
  | { readonly style: 'offset'; readonly offset: number; readonly limit: number }
  | { readonly style: 'cursor'; readonly limit: number; readonly cursor: string | undefined }

const styles = {
  page: ['page', 'per_page'],
  offset: ['offset', 'limit'],
  cursor: ['cursor', 'limit'],
} as const

/**
 * Reads the page parameters. With none, or `limit` alone, it is the first page of the cursor style.
 *
 * @param given the parameters that may come once, by name
 * @param issues receives what is wrong
 */
export function readPageRequest(
  given: ReadonlyMap<string, string>,
  size: { readonly default: number; readonly max: number },
  issues: Issue[],
): PageRequest {
  const named = ['page', 'per_page', 'offset', 'limit', 'cursor'].filter((name) => given.has(name))
  const style = given.has('page') || given.has('per_page') ? 'page' : given.has('offset') ? 'offset' : 'cursor'
  const allowed: readonly string[] = styles[style]
  for (const name of named.filter((each) => !allowed.includes(each))) {
    const message = `${name} does not go with ${named.filter((each) => each !== name).join(' and ')}: use page and per_page, offset and limit, or cursor and limit.`
    issues.push({ code: 'INVALID_PAGE', message, parameter: name })
  }
  const whole = (name: string, fallback: number, least: number, most: number): number => {
    const text = given.get(name)
    if (text === undefined) return fallback
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
    issues.push({ code: 'INVALID_PAGE', message: `${name} takes a whole number ${bounds}.`, parameter: name })
    return fallback
  }
  if (style === 'page') {
    const perPage = whole('per_page', size.default, 1, size.max)
    const page = whole('page', 1, 1, Number.MAX_SAFE_INTEGER)
    if (page > Number.MAX_SAFE_INTEGER / perPage) {
      issues.push({ code: 'INVALID_PAGE', message: 'page is too large a number.', parameter: 'page' })
    }
    return { style, page, perPage }
  }
  const limit = whole('limit', size.default, 1, size.max)
  if (style === 'offset') return { style, offset: whole('offset', 0, 0, Number.MAX_SAFE_INTEGER), limit }
  return { style, limit, cursor: given.get('cursor') }
}
