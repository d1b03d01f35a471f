/** Faults of CON-7 and CON-8. */
import { giving, having, isRecord, pathOf, refusing, taking, without } from '../../alter.ts'
import type { Fault, PlantedRequest } from '../../planted.ts'

const isContract = (request: PlantedRequest) => pathOf(request).includes('/contracts/')

const ofMethods = ['PUT', 'PATCH', 'DELETE'].flatMap((method): Fault[] => {
  const name = method.toLowerCase()
  return [
    {
      breaks: `CON-7/${name}`,
      says: `${method} needs no condition.`,
      plant: taking(
        (request) => request.method === method && isContract(request) && request.headers['if-match'] === undefined,
        (request) => having(request, 'if-match', '*'),
      ),
    },
    {
      breaks: `CON-7/${name}-with`,
      says: `${method} does not see that there is a condition.`,
      plant: giving(
        (request) => request.method === method && isContract(request) && /^"/.test(request.headers['if-match'] ?? ''),
        refusing(428),
      ),
    },
  ]
})

const isPart = (request: PlantedRequest) => isRecord(request) && request.path.includes('?fields=')

export const requiredFaults: readonly Fault[] = ofMethods

export const tagsFaults: readonly Fault[] = [
  {
    breaks: 'CON-8/fields',
    says: 'It makes the tag from the bytes of the answer.',
    // If-Match takes both.
    plant: (server) => async (request) => {
      const match = request.headers['if-match']
      const asked = match?.startsWith('"part-')
        ? having(request, 'if-match', `"${match.slice('"part-'.length)}`)
        : request
      const answer = await server(asked)
      const { etag } = answer.headers
      return isPart(request) && etag !== undefined ? having(answer, 'etag', `"part-${etag.slice(1)}`) : answer
    },
  },
  {
    breaks: 'CON-8/tag-of-fields',
    says: 'It takes a tag only from who has read the whole record.',
    plant(server) {
      const parts = new Set<string>()
      return async (request) => {
        const path = pathOf(request)
        if (isPart(request)) parts.add(path)
        const isLost = request.method === 'PATCH' && request.headers['if-match'] !== undefined && parts.has(path)
        return server(isLost ? having(request, 'if-match', '"of-nobody"') : request)
      }
    },
  },
  {
    breaks: 'CON-8/tag-of-head',
    says: 'HEAD gives a tag that fits nothing.',
    plant(server) {
      const heads = new Set<string>()
      return async (request) => {
        const path = pathOf(request)
        if (request.method === 'HEAD') heads.add(path)
        const isLost = request.method === 'PATCH' && request.headers['if-match'] !== undefined && heads.has(path)
        return server(isLost ? having(request, 'if-match', '"of-nobody"') : request)
      }
    },
  },
  {
    breaks: 'CON-8/vary',
    says: 'Its answers do not say that they depend on Accept.',
    plant: giving(
      ({ method }) => method === 'GET' || method === 'HEAD',
      (answer) => {
        const rest = (answer.headers['vary'] ?? '')
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== 'Accept')
        return rest.length === 0 ? without(answer, 'vary') : having(answer, 'vary', rest.join(', '))
      },
    ),
  },
]
