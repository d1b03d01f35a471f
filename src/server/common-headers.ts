/** What every answer says, whatever it is; and the answers to requests that are refused unread. */
import { type Cors, withCors } from '../http/cors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { pathWithoutCredentials } from '../model/credentials.ts'
import { problem } from '../reply/problem.ts'
import type { Fault } from '../spec/faults.ts'

type Asked = Pick<HttpRequest, 'headers' | 'secure'>

/** What is the same for every answer. */
interface Common {
  readonly cors: Cors | undefined
  readonly newRequestId: () => string
}

/** Adds to an answer what every answer says. */
export function withCommonHeaders(
  { cors }: Pick<Common, 'cors'>,
  request: Asked,
  requestId: string,
  answer: HttpResponse,
): HttpResponse {
  const response =
    cors === undefined ? answer : { ...answer, headers: withCors(answer.headers, cors, request.headers['origin']) }
  response.headers['X-Content-Type-Options'] = 'nosniff'
  response.headers['X-Request-Id'] = requestId
  if (request.secure) response.headers['Strict-Transport-Security'] = 'max-age=31536000'
  return response
}

/** What is asked, without its query: queries hold what people search for. */
export function splitTarget(target: string): { path: string; query: string } {
  const question = target.indexOf('?')
  if (question === -1) return { path: target, query: '' }
  return { path: target.slice(0, question), query: target.slice(question + 1) }
}

const unreadable: Asked = { headers: {}, secure: false }

/**
 * The answer to what was refused before it was read.
 *
 * @param request what is known of it; nothing where it could not be read
 */
export function refusal(app: Common, error: Fault, request?: Asked & Pick<HttpRequest, 'target'>): HttpResponse {
  const requestId = app.newRequestId()
  const instance = request === undefined ? undefined : pathWithoutCredentials(splitTarget(request.target).path)
  return withCommonHeaders(app, request ?? unreadable, requestId, problem(error, { instance, requestId }))
}
