/** Faults of CON-6. */
import { answering, on, withProblem } from '../../plant/answers.ts'
import { withField, without } from '../../plant/messages.ts'
import {
  all,
  has,
  isAnonymous,
  isCollection,
  isNowhere,
  isRecord,
  of,
  pathOf,
  sends,
  type Which,
} from '../../plant/which.ts'
import type { Fault, PlantedRequest } from '../../planted.ts'

/** It gives the refusal that a request would get if it did not deserve the other. */
function early(
  which: Which,
  mended: (request: PlantedRequest, credential: string) => PlantedRequest,
  ...statuses: readonly number[]
): Fault['plant'] {
  return (server) => {
    let credential = ''
    return async (request) => {
      const answer = await server(request)
      const { authorization = '' } = request.headers
      if (authorization !== '' && answer.status < 300) credential = authorization
      if (!which(request) || answer.status < 400) return answer
      const { status } = await server(mended(request, credential))
      return statuses.includes(status) ? withProblem(status)(answer) : answer
    }
  }
}

const isBroken = sends('{')
const known = (request: PlantedRequest, credential: string) => withField('authorization', credential)(request)
/** Only looked for: nobody is to do anything without a credential. */
const looked = (request: PlantedRequest, credential: string): PlantedRequest => ({
  ...without('content-length')(known(request, credential)),
  method: 'GET',
  body: '',
})
const whole = (request: PlantedRequest): PlantedRequest => ({ ...request, body: '{}' })

const fault = (breaks: Fault['breaks'], says: string, plant: Fault['plant']): Fault => ({ breaks, says, plant })

export const orderFaults: readonly Fault[] = [
  fault(
    'CON-6/401-before-404',
    'It looks for the path before it asks who is there.',
    early(all(isAnonymous, isNowhere), known, 404),
  ),
  fault(
    'CON-6/401-before-405',
    'It looks at the method before it asks who is there.',
    early(of('POST', isAnonymous, isRecord), known, 405),
  ),
  fault(
    'CON-6/401-before-400',
    'It reads the body before it asks who is there.',
    early(of('POST', isAnonymous, isBroken), known, 400),
  ),
  fault(
    'CON-6/401-before-missing',
    'It looks for the record before it asks who is there.',
    early(all(isAnonymous, isRecord), looked, 404),
  ),
  fault(
    'CON-6/404-before-400',
    'It reads the body before it looks for the path.',
    early(
      all(isNowhere, isBroken),
      (request) => ({ ...request, path: request.path.replace('no-such-thing', 'shelves') }),
      400,
    ),
  ),
  fault(
    'CON-6/405-before-400',
    'It reads the body before it looks at the method.',
    early(
      of('POST', isRecord, isBroken),
      (request) => ({ ...request, path: pathOf(request).replace(/\/[^/]+$/, '') }),
      400,
    ),
  ),
  fault(
    'CON-6/415-before-400',
    'It reads the body before it looks at its type.',
    early(all(has('content-type', 'text/plain'), isBroken), withField('content-type', 'application/json'), 400),
  ),
  fault(
    'CON-6/400-before-403',
    'It looks at permissions before it reads the body.',
    early(of('POST', isCollection, isBroken), whole, 403),
  ),
  {
    breaks: 'CON-6/403-before-404',
    says: 'It looks for the record before it looks at permissions.',
    plant(server) {
      const gone = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        if (of('DELETE', isRecord)(request) && answer.status < 300) gone.add(pathOf(request))
        return answer.status === 403 && gone.has(pathOf(request)) ? withProblem(404)(answer) : answer
      }
    },
  },
  fault(
    'CON-6/404-before-412',
    'It decides conditions where nothing is, too.',
    answering(has('if-match', /^"[^"]*"$/), on(404, withProblem(412))),
  ),
  fault(
    'CON-6/412-before-400',
    'It validates before it decides the condition.',
    answering(sends(/"much"/), on(412, withProblem(400))),
  ),
  fault(
    'CON-6/400-before-409',
    'It looks for other records before it validates.',
    answering(of('PATCH', sends(/"sku":"/)), on(400, withProblem(409))),
  ),
]
