/** The end of every request: common header fields, and the report to its observers. */
import { randomUUID } from 'node:crypto'
import { pathWithoutCredentials } from 'resourced-contract/model/credentials'
import type { Fault } from 'resourced-contract/spec/faults'
import { type Cors, withCors } from '../http/cors.ts'
import { type HttpRequest, type HttpResponse, splitTarget } from '../http/message.ts'
import { problem } from '../reply/problem.ts'
import { addNotice } from '../versions/versions.ts'
import type { Answered, Reached } from './stages.ts'
import { isRefusedRead, toFault } from './to-fault.ts'

/** The problem for a thrown value of any kind (ERR-4). Failures of the server are reported with their cause. */
export function problemOf({ app, requestId, instance }: Reached, error: unknown): HttpResponse {
  const refusal = toFault(error)
  // Limits, overload and maintenance refuse requests on purpose, and an abandoned request has no client.
  const isMeant = (refusal === error && refusal.status === 503) || isRefusedRead(error)
  if (refusal.status >= 500 && !isMeant) app.observe({ kind: 'failure', requestId, error })
  return problem(refusal, { instance, requestId, catalog: app.catalog })
}

/** Adds the header fields that every response has, and reports the request as answered. */
export function finish({ reached, response: made }: Answered): HttpResponse {
  const { app, request, requestId, instance: path, started, timing, span, route, version, caller, rate } = reached
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
  app.observe({ kind: 'request', requestId, method, path, version, route, status, code, caller: caller?.id, duration })
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
