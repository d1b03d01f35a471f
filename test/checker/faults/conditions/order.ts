/** Faults of CON-6. */
import { isCollection, isNowhere, isRecord, pathOf, refusing } from '../../alter.ts'
import type { Fault, PlantedRequest, Server } from '../../planted.ts'

/** It gives the refusal that a request would get if it did not deserve the other. */
function early(
  which: (request: PlantedRequest) => boolean,
  mended: (request: PlantedRequest, credential: string) => PlantedRequest,
  ...statuses: readonly number[]
): Fault['plant'] {
  return (server: Server) => {
    let credential = ''
    return async (request) => {
      const answer = await server(request)
      const { authorization = '' } = request.headers
      if (authorization !== '' && answer.status < 300) credential = authorization
      if (!which(request) || answer.status < 400) return answer
      const { status } = await server(mended(request, credential))
      return statuses.includes(status) ? refusing(status)(answer) : answer
    }
  }
}

const isUnknown = ({ headers }: PlantedRequest) => headers['authorization'] === undefined
const isBroken = ({ body }: PlantedRequest) => body === '{'
const known = (request: PlantedRequest, authorization: string): PlantedRequest => ({
  ...request,
  headers: { ...request.headers, authorization },
})
const whole = (request: PlantedRequest): PlantedRequest => ({ ...request, body: '{}' })

const fault = (breaks: Fault['breaks'], says: string, plant: Fault['plant']): Fault => ({ breaks, says, plant })

export const orderFaults: readonly Fault[] = [
  fault(
    'CON-6/401-before-404',
    'It looks for the path before it asks who is there.',
    early((request) => isUnknown(request) && isNowhere(request), known, 404),
  ),
  fault(
    'CON-6/401-before-405',
    'It looks at the method before it asks who is there.',
    early((request) => isUnknown(request) && request.method === 'PUT' && isCollection(request), known, 405),
  ),
  fault(
    'CON-6/401-before-400',
    'It reads the body before it asks who is there.',
    early((request) => isUnknown(request) && request.method === 'POST' && isBroken(request), known, 400),
  ),
  fault(
    'CON-6/401-before-missing',
    'It looks for the record before it asks who is there.',
    early((request) => isUnknown(request) && isRecord(request), known, 404),
  ),
  fault(
    'CON-6/404-before-400',
    'It reads the body before it looks for the path.',
    early(
      (request) => isNowhere(request) && isBroken(request),
      (request) => ({ ...request, path: request.path.replace('no-such-thing', 'shelves') }),
      400,
    ),
  ),
  fault(
    'CON-6/405-before-400',
    'It reads the body before it looks at the method.',
    early(
      (request) => request.method === 'POST' && isRecord(request) && isBroken(request),
      (request) => ({ ...request, path: pathOf(request).replace(/\/[^/]+$/, '') }),
      400,
    ),
  ),
  fault(
    'CON-6/415-before-400',
    'It reads the body before it looks at its type.',
    early(
      (request) => request.headers['content-type'] === 'text/plain' && isBroken(request),
      (request) => ({ ...request, headers: { ...request.headers, 'content-type': 'application/json' } }),
      400,
    ),
  ),
  fault(
    'CON-6/400-before-403',
    'It looks at permissions before it reads the body.',
    early((request) => request.method === 'POST' && isCollection(request) && isBroken(request), whole, 403),
  ),
  {
    breaks: 'CON-6/403-before-404',
    says: 'It looks for the record before it looks at permissions.',
    plant(server) {
      const gone = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        if (request.method === 'DELETE' && answer.status < 300) gone.add(pathOf(request))
        return answer.status === 403 && gone.has(pathOf(request)) ? refusing(404)(answer) : answer
      }
    },
  },
  {
    breaks: 'CON-6/404-before-412',
    says: 'It decides conditions where nothing is, too.',
    plant: (server) => async (request) => {
      const answer = await server(request)
      return answer.status === 404 && request.headers['if-match'] === '"of-another"' ? refusing(412)(answer) : answer
    },
  },
  {
    breaks: 'CON-6/412-before-400',
    says: 'It validates before it decides the condition.',
    plant: (server) => async (request) => {
      const answer = await server(request)
      return answer.status === 412 && request.body.includes('"much"') ? refusing(400)(answer) : answer
    },
  },
  {
    breaks: 'CON-6/400-before-409',
    says: 'It looks for other records before it validates.',
    plant: (server) => async (request) => {
      const answer = await server(request)
      const isTaken = request.method === 'PATCH' && /-taken"/.test(request.body)
      return answer.status === 400 && isTaken ? refusing(409)(answer) : answer
    },
  },
]
