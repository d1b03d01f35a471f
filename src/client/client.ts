/**
 * The client of an interface: methods for each collection, over any way to send a request. Today that is the
 * application itself, in process (`app.as`).
 */

import type { JsonObject } from './interface-types.ts'

/** A request of the client. */
export interface ClientRequest {
  readonly method: string
  /** The path after the version, such as `/tasks/{id}`, percent-encoded, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, or nothing. */
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
}

/** A response, completely read. */
export interface ClientResponse {
  readonly status: number
  /** `ETag`, if there is one. */
  readonly etag: string | undefined
  /** The parsed body; `undefined`: there is none. */
  readonly body: unknown
}

/** Sends a request. */
export type Send = (request: ClientRequest) => Promise<ClientResponse>

/** A page of a collection. */
export interface Page {
  readonly data: readonly JsonObject[]
  readonly pagination: JsonObject
}

/** Options of every call. */
export interface CallOptions {
  /** Stops a read for whose result nobody waits any more. */
  readonly signal?: AbortSignal
}

/** Options of a change. */
export interface ChangeOptions extends CallOptions {
  /** The entity tag that the record must still have (412 otherwise); see `etagOf`. */
  readonly ifMatch?: string | undefined
}

/** Options of a creation. */
export interface CreateOptions extends CallOptions {
  /** A repetition with the same key gets the first response, and creates nothing. */
  readonly idempotencyKey?: string
}

/** Query parameters, such as `{ status: 'open', 'due_on[lt]': '2027-01-01', sort: '-due_on' }`. */
export type Query = Readonly<Record<string, string | number | boolean | readonly (string | number | boolean)[]>>

/** The calls of a collection. Each rejects with `ProblemError` if it is refused or fails. */
export interface Collection {
  list(query?: Query, options?: CallOptions): Promise<Page>
  get(id: string, options?: CallOptions): Promise<JsonObject>
  create(record: object, options?: CreateOptions): Promise<JsonObject>
  /** Changes the given fields (JSON Merge Patch): `null` removes a value. */
  update(id: string, changes: object, options?: ChangeOptions): Promise<JsonObject>
  /** Replaces the whole record. */
  replace(id: string, record: object, options?: ChangeOptions): Promise<JsonObject>
  /** @returns what the response says: nothing, a summary, or the job that deletes */
  delete(id: string, options?: ChangeOptions): Promise<JsonObject | undefined>
  restore(id: string, options?: CallOptions): Promise<JsonObject>
}

/** The collections of an interface, by their names: `client.tasks.list()`, `client['api-keys'].list()`. */
export interface Client {
  readonly [collection: string]: Collection
}

/** One entry of `errors` in a problem. */
export interface ProblemEntry {
  readonly code: string
  readonly message: string
  /** The JSON Pointer of the value in the body that is wrong. */
  readonly pointer?: string
  readonly parameter?: string
  readonly header?: string
}

/** A request that was refused or failed (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly status: number
  /** The error code, such as `NOT_FOUND`: see the reference of error codes. */
  readonly code: string
  readonly errors: readonly ProblemEntry[]
  readonly requestId: string | undefined

  constructor(status: number, body: unknown) {
    const { code = 'UNKNOWN', title = '', detail = title, errors = [], request_id } = Object(body)
    super(`${status} ${code}: ${detail}`)
    this.status = status
    this.code = code
    this.errors = errors
    this.requestId = request_id
  }
}

const tags = new WeakMap<object, string>()

/**
 * The entity tag of a record that a client returned; `undefined`: the response had none.
 *
 * @example
 * const task = await client.tasks.get(id)
 * await client.tasks.update(id, { status: 'done' }, { ifMatch: etagOf(task) })
 */
export function etagOf(record: object): string | undefined {
  return tags.get(record)
}

/** Makes a client. */
export function makeClient(send: Send): Client {
  const collections = new Map<string, Collection>()
  return new Proxy<Client>(Object.create(null), {
    get(_, name) {
      // An object with a method `then` would be awaited like a promise.
      if (typeof name !== 'string' || name === 'then') return undefined
      const found = collections.get(name) ?? collectionOf(send, name)
      collections.set(name, found)
      return found
    },
  })
}

const json = 'application/json'
const mergePatch = 'application/merge-patch+json'

interface Call extends ChangeOptions, CreateOptions {
  readonly type?: string
  readonly body?: object
}

function collectionOf(send: Send, name: string): Collection {
  const call = async <T = JsonObject>(method: string, path: string, options: Call = {}): Promise<T> => {
    const { type = json, body, ifMatch, idempotencyKey, signal } = options
    const headers = {
      ...(body !== undefined && { 'content-type': type }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    }
    const text = body === undefined ? undefined : JSON.stringify(body)
    const request = { method, path: `/${encodeURIComponent(name)}${path}`, headers, body: text, signal }
    const { status, etag, body: answer } = await send(request)
    if (status >= 300) throw new ProblemError(status, answer)
    if (etag !== undefined && typeof answer === 'object' && answer !== null) tags.set(answer, etag)
    return answer as T
  }
  return {
    list: (query, options) => call<Page>('GET', queryOf(query), options),
    get: (id, options) => call('GET', pathOf(id), options),
    create: (body, options) => call('POST', '', { ...options, body }),
    update: (id, body, options) => call('PATCH', pathOf(id), { ...options, body, type: mergePatch }),
    replace: (id, body, options) => call('PUT', pathOf(id), { ...options, body }),
    delete: (id, options) => call<JsonObject | undefined>('DELETE', pathOf(id), options),
    restore: (id, options) => call('POST', `${pathOf(id)}/restore`, options),
  }
}

function pathOf(id: string): string {
  return `/${encodeURIComponent(id)}`
}

function queryOf(query: Query = {}): string {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => `${encodeURIComponent(name)}=${encodeURIComponent(each)}`),
  )
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}
