/** One request while it is processed: its properties, and the data for its response, the log, metrics and traces. */
import { randomFillSync } from 'node:crypto'
import type { AddressPolicy } from 'resourced-contract/model/address-policy'
import { pathWithoutCredentials } from 'resourced-contract/model/credentials'
import type { Catalog } from 'resourced-contract/model/resource'
import { Fault, fault } from 'resourced-contract/spec/faults'
import { type Cors, withCors } from '../http/cors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { Preferred } from '../http/preferences.ts'
import type { ExportFiles } from '../jobs/export-files.ts'
import type { Runner } from '../jobs/runner.ts'
import type { Planning } from '../plan/planning.ts'
import type { Authenticate, Revocations } from '../policy/authenticate.ts'
import type { Caller } from '../policy/caller.ts'
import type { AuthenticateOwn } from '../policy/own-credentials.ts'
import { problem } from '../reply/problem.ts'
import type { ReplyContext } from '../reply/represent.ts'
import type { KnownQueries } from '../request/list-query.ts'
import type { AddressTarget, Found } from '../request/target.ts'
import { type Requester, type Storage, StorageFault } from '../storage/storage.ts'
import type { Choice } from '../versions/choose-version.ts'
import { addNotice, type Version, type VersionNotice, type Versions } from '../versions/versions.ts'
import type { Compressor } from './compressor.ts'
import type { Documents } from './documents.ts'
import type { MaintenanceWatch } from './maintenance.ts'
import { type Observe, Timing } from './observe/observe.ts'
import type { RequestSpan } from './observe/request-span.ts'
import type { AnswerPage } from './pages/page-server.ts'
import type { RateDecision, RateLimiter } from './rates/rate-limiter.ts'
import type { EventStreams } from './streams/event-streams.ts'

/** What all requests of an application share. */
export interface AppServices {
  /** The catalog of the current version, in whose terms records are stored. */
  readonly catalog: Catalog
  readonly versions: Versions
  readonly storage: Storage
  /** Runs background jobs. */
  readonly runner: Pick<Runner, 'wake'>
  readonly files: Pick<ExportFiles, 'pathOf' | 'has' | 'drop'>
  readonly authenticate: Authenticate
  /** Authenticates by a function of the application, before keys and tokens; `undefined`: there is none. */
  readonly authenticateOwn: AuthenticateOwn | undefined
  /** `undefined`: requests are not limited. */
  readonly rates: RateLimiter | undefined
  readonly revocations: Revocations
  /** Called when a key was revoked, before that is answered; `undefined`: no other worker has cached it. */
  readonly onRevoked: (() => Promise<void>) | undefined
  readonly maintenance: Pick<MaintenanceWatch, 'current'>
  /** The streams of events; `undefined`: no resource is declared with events. */
  readonly streams: EventStreams | undefined
  readonly documents: Documents
  readonly compressor: Compressor
  readonly pages: AnswerPage
  /** Reads the metrics of the server as text; `undefined`: none are collected. */
  readonly readMetrics: (() => Promise<string>) | undefined
  readonly knownQueries: KnownQueries
  readonly observe: Observe
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newRequestId: () => string
  /** The origins whose pages may read responses (OPT-3); `undefined`: none. */
  readonly cors: Cors | undefined
  /** Refuses requests that did not come over HTTPS (SEC-1). */
  readonly requireHttps: boolean
  /** Adds `Server-Timing` to responses (OPS-1). */
  readonly development: boolean
  readonly state: { stopping: boolean }
  /** Which URLs webhooks may have (EVT-10). */
  readonly webhookAddresses: AddressPolicy
  /** Counts running requests. */
  readonly running: { began(): void; ended(): void }
}

/** One request and everything that the pipeline found out about it. */
export class RequestContext implements Planning, ReplyContext, Requester {
  readonly app: AppServices
  readonly request: HttpRequest
  readonly requestId: string
  /** The path as sent. */
  readonly path: string
  /** The query string as sent, without `?`. */
  readonly query: string
  /** The path as logs and problems show it: a caller may have sent a key in place of an id. */
  readonly instance: string
  // Parts of the application that planning and replies use.
  readonly catalog: Catalog
  readonly cursorSecret: Uint8Array
  readonly files: AppServices['files']
  /** By `performance.now()`. */
  readonly started: number
  /** Set where something reports the stages: `Server-Timing`, or a trace. */
  timing: Timing | undefined

  /** The version that the request names; set by the gate `locate`, as the next three are. */
  choice!: Choice
  found!: Found
  /** The catalog of the version. */
  versionCatalog!: Catalog
  /** The beginning of paths, before the collection: `/v1`. */
  basePath = ''
  /** The address, once it is known to exist and to support the method; set by the gate `requireAddress`. */
  target!: AddressTarget
  /** Set by the gate `authenticate`. */
  caller!: Caller
  /** The caller of a call in process. */
  givenCaller: Caller | undefined
  /** The moment by which the version is judged, in milliseconds since 1970; 0 for a version without an end. */
  versionMoment = 0
  /** Revocations of API keys that were running when this request came. */
  earlierRevocations: ReturnType<Revocations['running']>
  /** Ends the revocation that this request is, if it is one. */
  endRevocation: (() => void) | undefined
  /** The moment at which the request was planned, in milliseconds since 1970. */
  now = 0
  /** What the client prefers, as far as the address follows it. */
  preferred: Preferred = { return: undefined, asynchronously: false, most: undefined }
  /** Whether the response is a stream of events; set by the gate `requireAcceptable`. */
  isStream = false
  /** `Preference-Applied`. */
  applied: string | undefined

  // The rest is reported. Nothing of it is set for callers who are not authenticated, except route and version.
  callerId: string | undefined
  /** The template that the path fits, such as `/v1/tasks/{id}`. */
  route: string | undefined
  version: Version | undefined
  versionNotice: VersionNotice | undefined
  /** Set by the gate `countRequest`. */
  rate: RateDecision | undefined
  /** The error code of the response. */
  code: string | undefined

  constructor(app: AppServices, request: HttpRequest) {
    this.started = performance.now()
    this.app = app
    this.request = request
    this.requestId = app.newRequestId()
    const { path, query } = splitTarget(request.target)
    this.path = path
    this.query = query
    this.instance = pathWithoutCredentials(path)
    this.catalog = app.catalog
    this.cursorSecret = app.storage.cursorSecret
    this.files = app.files
    this.timing = app.development ? new Timing(this.started) : undefined
  }

  /** See `Planning`. */
  get webhookAddresses(): AddressPolicy {
    return this.app.webhookAddresses
  }

  /** See `HttpRequest`. */
  get abandoned(): HttpRequest['abandoned'] {
    return this.request.abandoned
  }

  /** The problem for a thrown value of any kind (ERR-4). Failures of the server are reported with their cause. */
  problemOf(error: unknown): HttpResponse {
    const refusal = toFault(error)
    // Limits, overload and maintenance refuse requests on purpose, and an abandoned request has no client.
    const isMeant = (refusal === error && refusal.status === 503) || isRefusedRead(error)
    if (refusal.status >= 500 && !isMeant) this.app.observe({ kind: 'failure', requestId: this.requestId, error })
    this.code = refusal.code
    return problem(refusal, this)
  }

  /** Adds the header fields that every response has, and reports the request as answered. */
  finish(made: HttpResponse, span: RequestSpan | undefined): HttpResponse {
    const { app, request, requestId, timing, versionNotice, version, route, rate, code, callerId: caller } = this
    if (versionNotice !== undefined) addNotice(made, versionNotice)
    const response = withCommonHeaders(app.cors, request, requestId, made)
    if (rate !== undefined) {
      response.headers['RateLimit-Policy'] = rate.policy
      response.headers['RateLimit'] = rate.limits
    }
    if (timing !== undefined && app.development) response.headers['Server-Timing'] = timing.format()
    const { method } = request
    const { status } = response
    span?.end({ route, status, code, stages: timing?.stages ?? [] })
    const duration = performance.now() - this.started
    const path = this.instance
    app.observe({ kind: 'request', requestId, method, path, version, route, status, code, caller, duration })
    return response
  }
}

type Sender = Pick<HttpRequest, 'headers' | 'secure'>

function withCommonHeaders(
  cors: Cors | undefined,
  { headers, secure }: Sender,
  requestId: string,
  made: HttpResponse,
): HttpResponse {
  const response = cors === undefined ? made : { ...made, headers: withCors(made.headers, cors, headers['origin']) }
  response.headers['X-Content-Type-Options'] = 'nosniff'
  response.headers['X-Request-Id'] = requestId
  if (secure) response.headers['Strict-Transport-Security'] = 'max-age=31536000'
  return response
}

function splitTarget(target: string): { path: string; query: string } {
  const question = target.indexOf('?')
  if (question === -1) return { path: target, query: '' }
  return { path: target.slice(0, question), query: target.slice(question + 1) }
}

const unreadable: Sender = { headers: {}, secure: false }

/**
 * Makes the response to a request that never reaches the pipeline.
 *
 * @param request what is known of it; `undefined` if it could not be parsed
 */
export function earlyRefusal(
  { cors, newRequestId }: Pick<AppServices, 'cors' | 'newRequestId'>,
  error: Fault,
  request?: Sender & Pick<HttpRequest, 'target'>,
): HttpResponse {
  const requestId = newRequestId()
  // Without the query, which holds what people search for.
  const instance = request === undefined ? undefined : pathWithoutCredentials(splitTarget(request.target).path)
  return withCommonHeaders(cors, request ?? unreadable, requestId, problem(error, { instance, requestId }))
}

/** Whether a read was stopped or refused although the database works. */
function isRefusedRead(error: unknown): boolean {
  return error instanceof StorageFault && ['abandoned', 'too-long', 'crowded'].includes(error.kind)
}

/** Makes the fault that the caller gets for any error, without internal details (ERR-4). */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (!(error instanceof StorageFault))
    return fault('INTERNAL_ERROR', { detail: 'The log has the reason under this request_id.' })
  if (error.kind === 'too-long') {
    // A client that repeats the request then waits as long as the default limit: half of its time is no work.
    const detail = 'The database was stopped before it had the result. Ask for less, or for what an index finds.'
    return fault('READ_TOO_LONG', { detail, headers: { 'Retry-After': '10' } })
  }
  if (error.kind === 'crowded') {
    const detail = 'Too many slow reads are waiting. Wait for the responses to your own, then try again.'
    return fault('OVERLOADED', { detail, headers: { 'Retry-After': '2' } })
  }
  if (error.kind === 'busy' || error.kind === 'abandoned')
    return fault('OVERLOADED', { detail: 'Try again shortly.', headers: { 'Retry-After': '1' } })
  if (error.kind === 'uncertain') {
    return fault('STORAGE_FAILED', {
      detail:
        'The connection to the database was lost while the change was being kept: it was made, or it was not. ' +
        'Read before you repeat it, or repeat it with If-Match or the same Idempotency-Key.',
    })
  }
  return fault('STORAGE_FAILED', { detail: 'Nothing was changed. The log has the reason under this request_id.' })
}

/** Made together, ids cost half as much: every request needs one. */
const batch = 256

const digits = Buffer.from('0123456789abcdef')
const dash = 0x2d

/**
 * Makes a function that returns a new request id at each call: a random UUID (RFC 9562 section 5.4). A counter would
 * show each caller how many requests others send.
 *
 * @example
 * requestIds()() // '632b4a29-17a1-4175-955b-a044a4e278c0'
 */
export function requestIds(): () => string {
  const random = new Uint8Array(batch * 16)
  const written = Buffer.alloc(batch * 36)
  let ids = ''
  let next = 0
  return () => {
    if (next === ids.length) {
      ids = write(randomFillSync(random), written)
      next = 0
    }
    const id = ids.slice(next, next + 36)
    next += 36
    return id
  }
}

/** Writes each 16 bytes as a UUID of version 4, one after the other. */
function write(random: Uint8Array, written: Buffer): string {
  let end = 0
  for (let index = 0; index < random.length; index++) {
    const place = index % 16
    const byte = random[index]!
    if (place === 4 || place === 6 || place === 8 || place === 10) written[end++] = dash
    const value = place === 6 ? 0x40 | (byte & 0x0f) : place === 8 ? 0x80 | (byte & 0x3f) : byte
    written[end++] = digits[value >> 4]!
    written[end++] = digits[value & 0x0f]!
  }
  return written.toString('latin1')
}
