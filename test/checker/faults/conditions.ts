/** Faults of conditions. */
import type { Fault, PlantedRequest } from '../planted.ts'

function without({ headers, ...request }: PlantedRequest, name: string): PlantedRequest {
  const { [name]: _, ...rest } = headers
  return { ...request, headers: rest }
}

export const conditionsFaults: readonly Fault[] = [
  {
    breaks: 'CON-2/etag',
    says: 'Its entity tags are weak.',
    plant: (server) => async (request) => {
      const answer = await server(request)
      const { etag } = answer.headers
      return etag === undefined ? answer : { ...answer, headers: { ...answer.headers, etag: `W/${etag}` } }
    },
  },
  {
    breaks: 'CON-3/stale-delete',
    says: 'DELETE takes no notice of If-Match.',
    plant: (server) => (request) => server(request.method === 'DELETE' ? without(request, 'if-match') : request),
  },
  {
    breaks: 'CON-4/not-modified',
    says: 'It takes no notice of If-None-Match.',
    plant: (server) => (request) => server(without(request, 'if-none-match')),
  },
  {
    breaks: 'CON-5/one-wins',
    says: 'It decides the condition before it waits for its turn to write.',
    plant(server) {
      const tags = new Map<string, string>()
      return async (request) => {
        if (request.method !== 'PATCH' || request.headers['if-match'] === undefined) return server(request)
        const current = await server({
          ...request,
          method: 'GET',
          body: '',
          headers: { authorization: request.headers['authorization'] ?? '' },
        })
        tags.set(request.path, current.headers['etag'] ?? '')
        if (request.headers['if-match'] !== current.headers['etag']) return server(request)
        await new Promise((resolve) => setTimeout(resolve, 30))
        return server(without(request, 'if-match'))
      }
    },
  },
]
