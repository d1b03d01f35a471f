/**
 * Sends requests to the interface. A refused credential asks for a new one and goes on; 429, 503 and lost connections
 * pause all requests and are tried again; everything else that is not a success is thrown as a `Problem`. The client
 * sends each attempt.
 */
import { type ClientResponse, fetchSend, retryAfter } from 'resourced-client/parts'
import { type PageSettings, rootUrl, type VersionSetting } from './page-settings.ts'
import { pause, pauseEnd } from './pauses.ts'
import { Problem, unreachable } from './problem.ts'
import { logRequest } from './request-log.ts'
import { freshCredential, session, signedInAgain } from './session.ts'

/** A request of a view. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'QUERY'
  /** The path after the version, such as `/tasks`; with `root`, the path after the page's folder: `/health/ready`. */
  readonly path: string
  /** Such a request is about the server itself: 503 is its response, and it is never held or repeated. */
  readonly root?: boolean
  readonly query?: URLSearchParams | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** The credential to try in place of the session's; a refusal is thrown. */
  readonly credential?: string
  /** Whether the body of a success is the `Response` itself, unread: for files, and for what is not JSON. */
  readonly stream?: boolean
}

/** A successful response. */
export interface ApiResponse<Body = unknown> {
  readonly status: number
  readonly headers: ClientResponse['headers']
  readonly etag: string | undefined
  /** Parsed JSON; `undefined`: there is none. */
  readonly body: Body
}

/** Sends requests of one version. */
export type Send = <Body = unknown>(request: ApiRequest) => Promise<ApiResponse<Body>>

/** How often a request is sent again after 429 or 503. */
const mostRetries = 5
/** How often a request is sent again that got no response. */
const mostUnanswered = 3
/** How long a response may take, in milliseconds: large changes take minutes. */
const longestResponse = 600_000
/** The longest pause, in milliseconds, that is waited for without asking. */
const longestPause = 90_000

/** Refusals of one request that say nothing about the next one. */
const unpaused = new Set(['READ_TOO_LONG', 'TOO_MANY_STREAMS'])

export function makeSend(versioning: Versioning): Send {
  return async <Body>(request: ApiRequest) => {
    const { person } = session.current()
    let isRenewed = false
    for (let tries = 1; ; tries += 1) {
      if (request.root !== true) await pauseEnd(request.signal)
      const credential = request.credential ?? (await freshCredential())
      if (person !== session.current().person) throw droppedRequest()
      const answer = await attempt(request, credential, versioning)
      const { status, headers } = answer
      if ((status >= 200 && status < 300) || status === 304) {
        return { status, headers, etag: headers.get('etag') ?? undefined, body: answer.body as Body }
      }
      const problem = problemOf(answer, request)
      if (status === 401 && request.credential === undefined) {
        await signedInAgain(credential, !isRenewed, request.signal)
        isRenewed = true
        continue
      }
      if (problem.code === 'VERSION_RETIRED') versioning.onRetired?.()
      const milliseconds = pauseAfter(answer, request, tries)
      if (milliseconds === undefined || unpaused.has(problem.code)) throw problem
      pause(status === 429 ? rateOf(headers) : problem.detail.replace(/\.$/, ''), milliseconds)
    }
  }
}

/** How requests say which version they are of. */
export interface Versioning {
  /** The name of the interface, which is part of its media types. */
  readonly name: string
  readonly version: VersionSetting
  readonly carrier: PageSettings['carrier']
  /** Is told when the server says that the version was retired. */
  readonly onRetired?: () => void
}

/** @returns status 0 if no response of the interface arrived whole */
async function attempt(
  request: ApiRequest,
  credential: string | undefined,
  { name, version, carrier }: Versioning,
): Promise<ClientResponse> {
  const { method = 'GET', path, root = false, signal, stream = false } = request
  const headers: Record<string, string> = { ...request.headers }
  if (!root && carrier === 'header') headers['API-Version'] = version.name
  if (!root && carrier === 'media-type') {
    // A stream has no version of its own: the second type names it.
    const accepted = [headers['Accept'], `application/vnd.${name}.${version.name}+json`]
    headers['Accept'] = accepted.filter(Boolean).join(', ')
  }
  const body = request.body === undefined ? undefined : JSON.stringify(request.body)
  if (body !== undefined) headers['Content-Type'] ??= 'application/json'
  const query = new URLSearchParams(request.query)
  if (!root && carrier === 'query') query.set('version', version.name)
  const search = query.size === 0 ? '' : `?${query}`
  let ended = (_: number) => {}
  const send = fetchSend({
    url: new URL(root ? '' : version.base, rootUrl),
    timeout: longestResponse,
    fetch(url, init) {
      ended = logRequest({ method, url, headers, body })
      const sent = new Headers(init.headers)
      if (credential !== undefined) sent.set('Authorization', `Bearer ${credential}`)
      return fetch(url, { ...init, headers: sent, credentials: 'omit', cache: 'no-store' })
    },
  })
  try {
    const response = await send({ method, path: path + search, headers, body, signal, stream })
    ended(response.status)
    return response
  } catch (error) {
    ended(0)
    if (signal?.aborted) throw error
    return { status: 0, headers: new Headers(), text: '', body: undefined }
  }
}

function problemOf(response: ClientResponse, request: ApiRequest): Problem {
  if (response.status === 0) return unreachable(!isRepeatable(request))
  return new Problem(response.status, response.body, response)
}

/** The problem of a request that was waiting when another caller signed in. */
function droppedRequest(): Problem {
  return new Problem(0, { code: 'OTHER_CALLER', detail: 'Somebody else has signed in. This was not sent.' })
}

/** Whether it does no harm to send a request twice (MET-1, MET-9). */
function isRepeatable({ method = 'GET', headers }: ApiRequest): boolean {
  return method === 'GET' || method === 'QUERY' || headers?.['Idempotency-Key'] !== undefined
}

/** How long to wait before a request is sent again, in milliseconds; `undefined`: it is not sent again. */
function pauseAfter(response: ClientResponse, request: ApiRequest, tries: number): number | undefined {
  const { status } = response
  // Who tries a credential is told at once.
  if (request.root === true || request.credential !== undefined) return undefined
  if (status === 0) return isRepeatable(request) && tries <= mostUnanswered ? 1000 * 2 ** tries : undefined
  if ((status !== 429 && status !== 503) || tries > mostRetries) return undefined
  const milliseconds = (retryAfter(response) ?? Number.NaN) + Math.random() * 250
  return milliseconds <= longestPause ? milliseconds : undefined
}

const periods: Readonly<Record<string, string>> = { 1: 'a second', 60: 'a minute', 3600: 'an hour' }

/** The rate that is used up, in words (LIM-2). */
function rateOf(headers: ClientResponse['headers']): string {
  const usedUp = /("[^"]*");r=0/.exec(headers.get('RateLimit') ?? '')?.[1] ?? ''
  const policy = headers
    .get('RateLimit-Policy')
    ?.split(', ')
    .find((each) => each.startsWith(usedUp))
  const [, quota, seconds = ''] = /;q=(\d+);w=(\d+)/.exec(policy ?? '') ?? []
  if (quota === undefined) return 'The server allows no more requests for now'
  return `The server allows ${Number(quota).toLocaleString()} requests ${periods[seconds] ?? `in ${seconds} s`}`
}
