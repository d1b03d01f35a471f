/** The end of every request: problems, common header fields, and the report to its observers. */
import { randomUUID } from 'node:crypto'
import { pathWithoutCredentials } from 'resourced-contract/model/text'
import { Fault, fault } from 'resourced-contract/spec/faults'
import { type Cors, withCors } from '../http/cors.ts'
import { type HttpRequest, type HttpResponse, splitTarget } from '../http/message.ts'
import { refusedCredential } from '../policy/authenticate.ts'
import { problem } from '../reply/problem.ts'
import { StorageFault } from '../storage/storage.ts'
import { addNotice } from '../versions/versions.ts'
import type { Answered, Reached } from './stages.ts'

/** The problem for a thrown value of any kind (ERR-4). Failures of the server are reported with their cause. */
export function problemOf({ app, caller, requestId, instance }: Reached, error: unknown): HttpResponse {
  const found = toFault(error)
  // The key of a tenant that is gone is gone too.
  const isOfGone = found.code === 'UNKNOWN_TENANT' && caller?.tenant !== undefined
  const refusal = isOfGone ? toFault(refusedCredential({ credential: 'key', reason: 'revoked' })) : found
  // Limits, overload and maintenance refuse requests on purpose, and an abandoned request has no client.
  const isMeant = (refusal === error && refusal.status === 503) || isRefusedRead(error)
  if (refusal.status >= 500 && !isMeant) app.observe({ kind: 'failure', requestId, error })
  return problem(refusal, { instance, requestId, catalog: app.catalog })
}

/** Adds the header fields that every response has, and reports the request as answered. */
export function finish({ reached, response: made }: Answered): HttpResponse {
  const {
    app,
    request,
    requestId,
    instance: path,
    started,
    timing,
    span,
    route,
    version,
    caller,
    rate,
    tenant,
  } = reached
  if (reached.versionNotice !== undefined) addNotice(made, reached.versionNotice)
  const response = withCommonHeaders(app.cors, request, requestId, made)
  if (rate !== undefined) {
    response.headers['RateLimit-Policy'] = rate.policy
    response.headers['RateLimit'] = rate.limits
  }
  if (timing !== undefined && app.development) response.headers['Server-Timing'] = timing.format()
  const { method } = request
  const { status, code } = response
  span?.end({ route, status, code, stages: timing?.stages ?? [] })
  const duration = performance.now() - started
  const of = typeof tenant === 'string' ? tenant : undefined
  // biome-ignore format: what arrived, what was answered, and by whom it was asked
  app.observe({
    kind: 'request', requestId, method, path, version, route, status, code, duration, tenant: of, caller: caller?.id,
  })
  return response
}

type Sender = Pick<HttpRequest, 'headers' | 'secure'>

const unreadable: Sender = { headers: {}, secure: false }

/**
 * Makes the response to a request that never reaches the pipeline.
 *
 * @param request what is known of it; `undefined` if it could not be parsed
 */
export function earlyRefusal(
  cors: Cors | undefined,
  error: Fault,
  request?: Sender & Pick<HttpRequest, 'target'>,
): HttpResponse {
  const requestId = randomUUID()
  // Without the query, which holds what people search for.
  const instance = request === undefined ? undefined : pathWithoutCredentials(splitTarget(request.target).path)
  return withCommonHeaders(cors, request ?? unreadable, requestId, problem(error, { instance, requestId }))
}

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
  // It was deleted after the request had found it.
  if (error.kind === 'missing') return fault('UNKNOWN_TENANT')
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

/** Whether a read was stopped or refused although the database works. */
function isRefusedRead(error: unknown): boolean {
  return error instanceof StorageFault && ['abandoned', 'too-long', 'crowded'].includes(error.kind)
}
