/**
 * Repeats requests that got no response, or one that says "later". Every POST gets an `Idempotency-Key` (MET-9), so
 * that its repetitions create nothing twice.
 */
import { ProblemError } from './problem-error.ts'
import type { ClientRequest, ClientResponse, Send } from './send.ts'

/** How often and how long a request is repeated. */
export interface RetryOptions {
  /** The most attempts, the first one included; 6 by default. */
  readonly attempts?: number
  /** The most time from the first attempt to the last one, in milliseconds; 60,000 by default. */
  readonly time?: number
  /** The first pause, in milliseconds; 200 by default. Each pause is twice as long as the last, up to 5,000. */
  readonly pause?: number
}

const longestPause = 5000

/** Repeats the requests of another way to send. */
export function retrying(send: Send, { attempts = 6, time = 60_000, pause: first = 200 }: RetryOptions = {}): Send {
  return async (given) => {
    const request = withKey(given)
    const deadline = Date.now() + time
    let isRepeated = false
    for (let attempt = 1; ; attempt++) {
      let response: ClientResponse | undefined
      let failure: unknown
      try {
        response = await send(request)
      } catch (error) {
        request.signal?.throwIfAborted()
        // The response of something else than the interface would be the same again.
        if (error instanceof ProblemError) throw error
        failure = error
      }
      if (response !== undefined && !isTemporary(response)) return settled(request, response, isRepeated)
      const pause = pauseAfter(response, first * 2 ** (attempt - 1))
      if (attempt >= attempts || Date.now() + pause > deadline || !mayRepeat(request, response)) {
        return response ?? fail(request, failure)
      }
      isRepeated ||= response === undefined || isUncertain(response)
      await sleep(pause, request.signal)
    }
  }
}

function withKey(request: ClientRequest): ClientRequest {
  if (request.method !== 'POST' || 'idempotency-key' in request.headers) return request
  return { ...request, headers: { ...request.headers, 'idempotency-key': `"${uuid()}"` } }
}

/** Browsers have `crypto.randomUUID` on pages of HTTPS and of the same machine only. */
function uuid(): string {
  return crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** Whether the same request may succeed later. */
function isTemporary({ status, body }: ClientResponse): boolean {
  const { code } = Object(body)
  if (status === 409) return code === 'IDEMPOTENCY_KEY_IN_USE'
  // The same read would take as long again.
  return status === 429 || status === 502 || status === 504 || (status === 503 && code !== 'READ_TOO_LONG')
}

/** Whether the server may have carried the request out although the response says that it failed. */
function isUncertain({ status }: ClientResponse): boolean {
  return status === 502 || status === 504
}

/**
 * Whether a repetition does no harm. A second PATCH without `If-Match` could undo a change that somebody else made
 * after the first, so it is sent only if the server refused the first.
 */
function mayRepeat({ method, headers }: ClientRequest, response: ClientResponse | undefined): boolean {
  return method !== 'PATCH' || 'if-match' in headers || (response !== undefined && !isUncertain(response))
}

/** What a response means after attempts that got none. */
function settled(request: ClientRequest, response: ClientResponse, isRepeated: boolean): ClientResponse {
  if (!isRepeated) return response
  // An earlier attempt has deleted the record, or somebody else has: it is gone either way.
  if (request.method === 'DELETE' && response.status === 404) return { ...response, status: 204, body: undefined }
  return { ...response, isRepeated }
}

/** The pause before the next attempt, in milliseconds. Its random part keeps clients from returning together. */
function pauseAfter(response: ClientResponse | undefined, usual: number): number {
  const asked = retryAfter(response)
  const growing = Math.min(usual, longestPause)
  return asked === undefined ? growing * (0.5 + Math.random()) : asked + growing * Math.random()
}

/** `Retry-After` in milliseconds (RFC 9110 section 10.2.3): seconds, or a date. */
export function retryAfter(response: ClientResponse | undefined): number | undefined {
  const field = response?.headers.get('retry-after')
  if (!field) return undefined
  const milliseconds = /^\d+$/.test(field) ? Number(field) * 1000 : Date.parse(field) - Date.now()
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds)
}

function fail({ method, path }: ClientRequest, cause: unknown): never {
  const rest = method === 'GET' ? '' : ' The server may have carried it out: read before you repeat it.'
  const detail = `${method} ${path} got no response: ${cause instanceof Error ? cause.message : cause}.${rest}`
  throw new ProblemError(0, { code: 'NO_RESPONSE', detail }, undefined, cause)
}

/** Waits, unless the signal stops it. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
