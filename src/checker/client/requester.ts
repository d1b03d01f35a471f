/** Sends JSON requests with one credential, outside of cases: for discovery, censuses and cleanup. */
import type { Client } from './client.ts'
import type { Exchange, Fields } from './exchange.ts'

/** Who sends requests, and through which client. */
export interface Requester {
  readonly client: Client
  /** Header fields of the caller's credential; empty if there is none. */
  readonly credential: Fields
  /** After it is aborted, nothing more is sent. */
  readonly signal?: AbortSignal | undefined
}

/** Parts of a request beside its method and address. */
export interface RequestParts {
  /** A JSON value. */
  readonly body?: unknown
  readonly fields?: Fields
  /** Send it without the credential. */
  readonly anonymous?: boolean
}

/** Sends a request. Never fails: if no response arrives, the exchange says why. */
export async function request(
  { client, credential, signal }: Requester,
  method: string,
  url: string,
  { body, fields = [], anonymous = false }: RequestParts = {},
): Promise<Exchange> {
  const type: Fields = body === undefined ? [] : [['Content-Type', 'application/json']]
  const accept: Fields = fields.some(([name]) => name === 'Accept') ? [] : [['Accept', 'application/json']]
  const all = [...(anonymous ? [] : credential), ...accept, ...type, ...fields]
  const asked = { method, url, fields: all, body: body === undefined ? undefined : JSON.stringify(body) }
  if (signal?.aborted) return { step: '', asked, failure: 'stopped', milliseconds: 0 }
  return client.send('', asked)
}
