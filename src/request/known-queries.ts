/** Queries of lists that were read before: the same text asks the same of the same resource. */
import type { Resource } from '../model/resource.ts'
import { readParameters } from './parameters.ts'
import { type ListQuery, readListQuery } from './query.ts'

// Texts come from callers: few and short ones are kept.
const most = 500
const longest = 500

const known = new WeakMap<Resource, Map<string, ListQuery>>()

/**
 * Reads the query string of a collection.
 *
 * @throws Fault MALFORMED_URL, INVALID_QUERY: what is refused is not kept
 */
export function listQueryOf(
  resource: Resource,
  query: string,
  pageSize: { readonly default: number; readonly max: number },
): ListQuery {
  const queries = known.get(resource) ?? new Map<string, ListQuery>()
  const before = queries.get(query)
  if (before !== undefined) return before
  const read = readListQuery(resource, readParameters(query), pageSize)
  if (query.length > longest) return read
  if (queries.size >= most) queries.clear()
  queries.set(query, read)
  known.set(resource, queries)
  return read
}
