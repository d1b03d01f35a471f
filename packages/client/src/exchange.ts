/** One exchange with the server: paths, queries, problems, and the entity tags that travel with records. */
import type { JsonObject } from './interface-types.ts'
import { ProblemError } from './problem-error.ts'
import type { CallOptions, ClientResponse, Send } from './send.ts'

/** The parts of a request besides its method and its path. */
export interface CallParts extends CallOptions {
  readonly body?: object | undefined
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly stream?: boolean
}

const tags = new WeakMap<object, string>()

/**
 * The entity tag of a record that a client returned; `undefined`: the response had none, such as for the records of a
 * list. A copy of a record has no tag.
 *
 * @example
 * const task = await client.tasks.get(id)
 * await client.tasks.update(id, { status: 'done' }, { ifMatch: etagOf(task) })
 */
export function etagOf(record: object): string | undefined {
  return tags.get(record)
}

/** Gives a record its entity tag, where a response contains more than the record. */
export function setEtag(record: object, etag: string): void {
  tags.set(record, etag)
}

/**
 * Sends a request and returns the successful response. The entity tag travels with the parsed body.
 *
 * @throws ProblemError if the request is refused or fails
 */
export async function exchange(send: Send, method: string, path: string, parts: CallParts = {}) {
  const { body, signal, stream } = parts
  const entries = Object.entries({ 'content-type': body && 'application/json', ...parts.headers })
  const response = await send({
    ...{ method, path, signal, body: body && JSON.stringify(body) },
    headers: Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    ...(stream && { stream }),
  })
  if (response.status >= 300) throw new ProblemError(response.status, response.body, response)
  const etag = response.headers.get('etag')
  if (etag && typeof response.body === 'object' && response.body) setEtag(response.body, etag)
  return response as ClientResponse & { readonly body: JsonObject | undefined }
}

/** A segment of a path. */
export function segment(name: string): string {
  // URLs drop `.` and `../../server/src`. Encoded once more, they name nothing, like every other unknown id.
  return `/${encodeURIComponent(/^\.\.?$/.test(name) ? name.replaceAll('.', '%2E') : name)}`
}

/** Servers refuse longer addresses (LIM-3): a query that would make one, such as of many ids, is a body (MET-10). */
const longestPath = 7_000

/** Reads an address with a query. */
export function readQuery(send: Send, path: string, query: object = {}, options?: CallOptions) {
  const address = path + queryOf(query)
  if (address.length <= longestPath) return exchange(send, 'GET', address, options)
  const isSet = (value: unknown) => value !== undefined
  // Parameters that are `undefined` are no members of a JSON text, but values in arrays would be null.
  const members = Object.entries(query).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.filter(isSet) : value,
  ])
  return exchange(send, 'QUERY', path, { ...options, body: Object.fromEntries(members) })
}

/** Parameters that list names. */
const nameLists = /^(?:sort|include|fields(?:\[.*\])?|include\[.*\]\[sort\])$/

/**
 * A query; empty without parameters. Lists of names are joined, other lists repeat their parameter, and objects are
 * JSON.
 */
export function queryOf(query: object = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (!Array.isArray(value) ? [value] : nameLists.test(name) ? [value.join()] : value)
      .filter((each) => each !== undefined)
      .map((each) => [name, typeof each === 'object' ? JSON.stringify(each) : String(each)]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}
