/**
 * Sends requests to the interface. A refused credential asks for a new one and goes on; 429, 503 and lost connections
 * pause all requests and are tried again; everything else that is not a success is thrown as a `Problem`.
 */
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
  /** Whether the body of a success is given as a `ReadableStream` of bytes, for files. */
  readonly stream?: boolean
}

/** A successful response. */
export interface ApiResponse<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly etag: string | undefined
  /** Parsed JSON; text of other types; `undefined`: there is none. */
  readonly body: Body
}

/** Sends requests of one version. */
export type Send = <Body = unknown>(request: ApiRequest) => Promise<ApiResponse<Body>>

/** How often a request is sent again after 429 or 503. */
const mostRetries = 5
/** How often a request is sent again that got no response. */
const mostUnanswered = 3
/** The longest pause, in milliseconds, that is waited for without asking. */
const longestPause = 90_000

export function makeSend(versioning: Versioning): Send {
  return async <Body>(request: ApiRequest) => {
    const { person } = session.current()
    let isRenewed = false
    for (let tries = 1; ; tries += 1) {
      if (request.root !== true) await pauseEnd(request.signal)
      const credential = request.credential ?? (await freshCredential())
      if (person !== session.current().person) throw droppedRequest()
      const answer = await exchange(request, credential, versioning)
      const { status } = answer
      if ((status >= 200 && status < 300) || status === 304) return answer as ApiResponse<Body>
      const problem = problemOf(answer, request)
      if (status === 401 && request.credential === undefined) {
        await signedInAgain(credential, !isRenewed, request.signal)
        isRenewed = true
        continue
      }
      if (problem.code === 'VERSION_RETIRED') versioning.onRetired?.()
      const milliseconds = pauseAfter(answer, request, tries)
      if (milliseconds === undefined || problem.code === 'READ_TOO_LONG') throw problem
      pause(status === 429 ? rateOf(answer.headers) : problem.detail.replace(/\.$/, ''), milliseconds)
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

/** @returns status 0 if no response arrived whole */
async function exchange(
  request: ApiRequest,
  credential: string | undefined,
  versioning: Versioning,
): Promise<ApiResponse> {
  const { name, version, carrier } = versioning
  const { method = 'GET', path, root = false, signal } = request
  const base = root || version.base === '' ? '' : `${version.base}/`
  const url = new URL(`${base}${path.slice(1)}`, rootUrl)
  for (const [parameter, value] of request.query ?? []) url.searchParams.append(parameter, value)
  if (!root && carrier === 'query') url.searchParams.set('version', version.name)
  const headers: Record<string, string> = { ...request.headers }
  if (!root && carrier === 'header') headers['API-Version'] = version.name
  if (!root && carrier === 'media-type') headers['Accept'] = `application/vnd.${name}.${version.name}+json`
  const body = request.body === undefined ? undefined : JSON.stringify(request.body)
  if (body !== undefined) headers['Content-Type'] ??= 'application/json'
  const ended = logRequest({ method, url: url.href, headers, body })
  try {
    const response = await fetch(url, {
      method,
      headers: credential === undefined ? headers : { ...headers, Authorization: `Bearer ${credential}` },
      body: body ?? null,
      signal: signal ?? null,
      credentials: 'omit',
      cache: 'no-store',
    })
    const answer = await readResponse(response, request.stream)
    ended(response.status)
    return answer
  } catch (error) {
    ended(0)
    if (signal?.aborted) throw error
    return { status: 0, headers: new Headers(), etag: undefined, body: undefined }
  }
}

/** @throws Error if the response ends too early, or if a proxy or a network's sign-in page has answered */
async function readResponse(response: Response, stream = false): Promise<ApiResponse> {
  const { status, headers } = response
  return {
    status,
    headers,
    etag: headers.get('ETag') ?? undefined,
    body: stream && response.ok ? response.body : await bodyOf(response),
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  const type = response.headers.get('Content-Type') ?? ''
  if (response.ok && type.startsWith('text/html')) throw new Error('The interface has no such responses.')
  return text === '' ? undefined : /[/+]json/.test(type) ? JSON.parse(text) : text
}

function problemOf({ status, body }: ApiResponse, request: ApiRequest): Problem {
  if (status === 0) return unreachable(!isRepeatable(request))
  // A proxy in between may answer with a page of its own.
  return new Problem(status, typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {})
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
function pauseAfter({ status, headers }: ApiResponse, request: ApiRequest, tries: number): number | undefined {
  // Who tries a credential is told at once.
  if (request.root === true || request.credential !== undefined) return undefined
  if (status === 0) return isRepeatable(request) && tries <= mostUnanswered ? 1000 * 2 ** tries : undefined
  if ((status !== 429 && status !== 503) || tries > mostRetries) return undefined
  const milliseconds = Number(headers.get('Retry-After') ?? Number.NaN) * 1000 + Math.random() * 250
  return milliseconds <= longestPause ? milliseconds : undefined
}

const periods: Readonly<Record<string, string>> = { 1: 'a second', 60: 'a minute', 3600: 'an hour' }

/** The rate that is used up, in words (LIM-2). */
function rateOf(headers: Headers): string {
  const usedUp = /("[^"]*");r=0/.exec(headers.get('RateLimit') ?? '')?.[1] ?? ''
  const policy = headers
    .get('RateLimit-Policy')
    ?.split(', ')
    .find((each) => each.startsWith(usedUp))
  const [, quota, seconds = ''] = /;q=(\d+);w=(\d+)/.exec(policy ?? '') ?? []
  if (quota === undefined) return 'The server allows no more requests for now'
  return `The server allows ${Number(quota).toLocaleString()} requests ${periods[seconds] ?? `in ${seconds} s`}`
}
