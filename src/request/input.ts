/** Everything that a request brings beside its path, read and still undecided. */
import { parseIdempotencyKey } from '../http/fields/idempotency-key.ts'
import type { HttpRequest } from '../http/message.ts'
import { type Conditions, readConditions } from '../http/preconditions.ts'
import type { Predicate } from '../model/predicate.ts'
import type { Catalog, Resource } from '../model/resource.ts'
import { fault, type Issue } from '../spec/faults.ts'
import { readBody } from './body.ts'
import { listQueryOf } from './known-queries.ts'
import { readParameters } from './parameters.ts'
import {
  type ListQuery,
  readDeletionFilter,
  readDescendants,
  readListQuery,
  readRecordQuery,
  refuseParameters,
} from './query.ts'
import { readQueryBody } from './query-body.ts'
import type { Target } from './target.ts'

/** What a request asks for, by what its address is and its method does. */
export type Input =
  | { readonly kind: 'read-page'; readonly query: ListQuery; readonly conditions: Conditions }
  | { readonly kind: 'read-record'; readonly fields: readonly string[] | undefined; readonly conditions: Conditions }
  | ({ readonly kind: 'create' | 'bulk-delete'; readonly body: unknown } & Keyed)
  | ({ readonly kind: 'export'; readonly body: unknown } & Keyed)
  | { readonly kind: 'replace' | 'merge' | 'patch'; readonly body: unknown; readonly conditions: Conditions }
  | { readonly kind: 'delete'; readonly conditions: Conditions; readonly descendants: boolean }
  | ({ readonly kind: 'restore'; readonly conditions: Conditions } & Keyed)
  | { readonly kind: 'delete-matching'; readonly filter: Predicate; readonly conditions: Conditions }
  /** What is not a record: a document, or a file. */
  | { readonly kind: 'document'; readonly conditions: Conditions }

/** What a POST brings so that it can be repeated (MET-9). */
interface Keyed {
  /** What the client calls this very request, however often it sends it. */
  readonly idempotencyKey: string | undefined
}

/**
 * Reads a request for an address that supports its method. What cannot be read is refused in the order of CON-6.
 *
 * @param query the query string, without `?` and without the version
 * @param vendorType a media type of bodies that means `application/json` too
 * @throws Fault MALFORMED_URL, 413, 415, MALFORMED_JSON, INVALID_IDEMPOTENCY_KEY, MALFORMED_CONDITION, INVALID_QUERY
 */
export async function readInput(
  catalog: Catalog,
  target: Target,
  request: HttpRequest,
  query: string,
  vendorType?: string,
): Promise<Input> {
  const { pageSize, bodyBytes } = catalog.limits
  const { method, headers } = request
  const reading = method === 'GET' || method === 'HEAD'
  if (target.kind === 'collection' && reading) {
    const conditions = readConditions(headers)
    return { kind: 'read-page', conditions, query: listQueryOf(target.resource, query, pageSize) }
  }
  const parameters = readParameters(query)
  if (target.kind === 'record' && reading) {
    const conditions = readConditions(headers)
    return { kind: 'read-record', fields: readRecordQuery(target.resource, parameters), conditions }
  }
  if (target.kind === 'restore' || method === 'GET' || method === 'HEAD' || method === 'DELETE') {
    const conditions = readConditions(headers)
    if (method === 'DELETE' && target.kind === 'collection') {
      return { kind: 'delete-matching', filter: readDeletionFilter(target.resource, parameters), conditions }
    }
    if (method === 'DELETE' && target.kind === 'record' && target.resource.name === 'api-keys') {
      return { kind: 'delete', conditions, descendants: readDescendants(parameters) }
    }
    refuseParameters(parameters)
    if (target.kind === 'restore')
      return { kind: 'restore', conditions, idempotencyKey: keyOf(headers['idempotency-key']) }
    return method === 'DELETE' ? { kind: 'delete', conditions, descendants: false } : { kind: 'document', conditions }
  }
  const { value: body, mediaType } = await readBody(request, bodyBytes, vendorType)
  const idempotencyKey = method === 'POST' ? keyOf(headers['idempotency-key']) : undefined
  const conditions = readConditions(headers)
  refuseParameters(parameters)
  if (method === 'QUERY' && target.kind === 'collection') {
    return { kind: 'read-page', conditions, query: queryOf(target.resource, body, pageSize) }
  }
  if (target.kind === 'exports') return { kind: 'export', body, idempotencyKey }
  if (target.kind === 'bulk-delete') return { kind: 'bulk-delete', body, idempotencyKey }
  if (method === 'POST') return { kind: 'create', body, idempotencyKey }
  if (method === 'PUT') return { kind: 'replace', body, conditions }
  return { kind: mediaType === 'application/json-patch+json' ? 'patch' : 'merge', body, conditions }
}

/** The query that is the body of a QUERY (MET-10). */
function queryOf(resource: Resource, body: unknown, pageSize: Catalog['limits']['pageSize']): ListQuery {
  const issues: Issue[] = []
  const parameters = readQueryBody(body, issues)
  return readListQuery(resource, parameters, pageSize, issues)
}

function keyOf(field: string | undefined): string | undefined {
  if (field === undefined) return undefined
  const read = parseIdempotencyKey(field)
  if ('key' in read) return read.key
  const { problem: message } = read
  const errors: Issue[] = [{ code: 'INVALID_IDEMPOTENCY_KEY', message, header: 'Idempotency-Key' }]
  throw fault('INVALID_IDEMPOTENCY_KEY', { errors })
}
