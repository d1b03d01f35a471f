/** Everything that a request brings beside its path, read and still undecided. */

import type { HttpRequest } from '../http/message.ts'
import { type Conditions, readConditions } from '../http/preconditions.ts'
import type { Catalog } from '../model/resource.ts'
import { readBody } from './body.ts'
import { listQueryOf } from './known-queries.ts'
import { readParameters } from './parameters.ts'
import { type ListQuery, readRecordQuery, refuseParameters } from './query.ts'
import type { Target } from './target.ts'

/** What a request asks for, by what its address is and its method does. */
export type Input =
  | { readonly kind: 'read-page'; readonly query: ListQuery; readonly conditions: Conditions }
  | { readonly kind: 'read-record'; readonly fields: readonly string[] | undefined; readonly conditions: Conditions }
  | { readonly kind: 'create'; readonly body: unknown }
  | { readonly kind: 'replace' | 'merge'; readonly body: unknown; readonly conditions: Conditions }
  | { readonly kind: 'delete'; readonly conditions: Conditions }
  | { readonly kind: 'document' }

/**
 * Reads a request for an address that supports its method. What cannot be read is refused in the order of CON-6.
 *
 * @param query the query string, without `?`
 * @throws Fault MALFORMED_URL, 413, 415, MALFORMED_JSON, MALFORMED_CONDITION, INVALID_QUERY
 */
export async function readInput(catalog: Catalog, target: Target, request: HttpRequest, query: string): Promise<Input> {
  const { pageSize, bodyBytes } = catalog.limits
  const { method, headers } = request
  const reading = method === 'GET' || method === 'HEAD'
  if (target.kind === 'collection' && reading) {
    return {
      kind: 'read-page',
      conditions: readConditions(headers),
      query: listQueryOf(target.resource, query, pageSize),
    }
  }
  const parameters = readParameters(query)
  const body =
    method === 'POST' || method === 'PUT' || method === 'PATCH' ? await readBody(request, bodyBytes) : undefined
  const conditions = readConditions(headers)
  if (target.kind === 'record' && reading) {
    return { kind: 'read-record', fields: readRecordQuery(target.resource, parameters), conditions }
  }
  refuseParameters(parameters)
  if (method === 'POST') return { kind: 'create', body }
  if (method === 'PUT') return { kind: 'replace', body, conditions }
  if (method === 'PATCH') return { kind: 'merge', body, conditions }
  return method === 'DELETE' ? { kind: 'delete', conditions } : { kind: 'document' }
}
