/** The ids of a bulk deletion, as its body lists them (DEL-9). */
import type { Issue } from '../spec/faults.ts'
import { isObject } from './merge-patch.ts'

/** One answer names no more unknown keys than this. */
const mostUnknown = 100

/** The ids, or everything that is wrong with the body. */
export type BulkIds = { readonly ids: readonly string[] } | { readonly issues: readonly Issue[] }

/**
 * Reads `{ "ids": ["…", …] }`.
 *
 * @param most how many there may be
 *
 * @example
 * readBulkIds({ ids: ['a', 'a'] }, 1000) // { issues: [{ code: 'INVALID_VALUE', pointer: '/ids/1', … }] }
 */
export function readBulkIds(body: unknown, most: number): BulkIds {
  if (!isObject(body)) {
    return { issues: [{ code: 'INVALID_TYPE', message: 'The body must be a JSON object with ids.', pointer: '' }] }
  }
  const unknown = Object.keys(body).filter((name) => name !== 'ids')
  const issues: Issue[] = unknown.slice(0, mostUnknown).map((name) => ({
    code: 'UNKNOWN_FIELD',
    message: `${name} means nothing here: send ids alone.`,
    pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  }))
  const ids: unknown = body['ids']
  if (!Array.isArray(ids)) {
    issues.push({ code: 'REQUIRED', message: 'ids must be an array of ids.', pointer: '/ids' })
    return { issues }
  }
  if (ids.length === 0) issues.push({ code: 'TOO_FEW_ITEMS', message: 'ids must name a record.', pointer: '/ids' })
  if (ids.length > most) {
    const message = `ids may have ${most} items, not ${ids.length}; delete the others by another request.`
    issues.push({ code: 'TOO_MANY_ITEMS', message, pointer: '/ids' })
    return { issues }
  }
  const places = new Map<unknown, number>()
  for (const [index, id] of ids.entries()) {
    const pointer = `/ids/${index}`
    const before = places.get(id)
    if (typeof id !== 'string') issues.push({ code: 'INVALID_TYPE', message: 'An id is a string.', pointer })
    else if (before !== undefined) {
      issues.push({ code: 'INVALID_VALUE', message: `It repeats /ids/${before}; name each record once.`, pointer })
    }
    places.set(id, before ?? index)
  }
  return issues.length > 0 ? { issues } : { ids: ids as string[] }
}
