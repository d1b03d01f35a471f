/** Requests of a test as HTTP has them, without a socket. */

import type { Fault } from 'resourced-contract/spec/faults'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { CallerInput } from '../policy/own-credentials.ts'
import { toFetchHandler } from '../server/fetch/fetch.ts'

/** A request of a test. */
export interface TestRequest {
  /** `GET` by default, or `POST` for a request with a body. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Text and bytes are sent as they are, every other value as JSON. */
  readonly body?: unknown
  /** The caller, without a credential; by default, the header fields say who is calling. */
  readonly as?: CallerInput
}

/** A response, completely read. */
export interface TestResponse {
  readonly status: number
  /** Header fields by lower-case name: `response.headers.etag`. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text; empty if there is none. */
  readonly text: string
  /** The parsed body if it is JSON, else the text; `undefined` if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}

/** What a request needs of an application. */
interface TestedApp {
  respond(request: HttpRequest): Promise<HttpResponse>
  refuse(error: Fault): HttpResponse
}

/** Sends a request through `toFetchHandler`, which checks it as it checks those of a server. */
export async function sendRequest(
  app: TestedApp,
  path: string,
  { body, headers: fields, method = body === undefined ? 'GET' : 'POST' }: Omit<TestRequest, 'as'>,
): Promise<TestResponse> {
  const headers = new Headers(fields)
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  if (body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json')
  const content = isRaw || body === undefined ? body : JSON.stringify(body)
  const respond = toFetchHandler(app, { address: () => '127.0.0.1' })
  const url = new URL(path, 'https://localhost')
  const response = await respond(new Request(url, { method, headers, body: content as string | undefined }))
  const text = await response.text()
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(response.headers.get('Content-Type') ?? '')
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    body: text === '' ? undefined : isJson && response.status !== 206 ? JSON.parse(text) : text,
  }
}
