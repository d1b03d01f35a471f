/** Faults of deletion by filter (DEL-10). */
import type { Fault, PlantedAnswer, PlantedRequest } from '../../planted.ts'
import { answering, telling, watched, without, withStatus } from './watch.ts'

function isFiltered({ method, path }: PlantedRequest): boolean {
  return method === 'DELETE' && path.startsWith('/v3/items?')
}

export const filterFaults: readonly Fault[] = [
  {
    breaks: 'DEL-10/matching',
    says: 'Deletion by filter counts what it would delete, and deletes nothing.',
    plant:
      (server) =>
      async (request): Promise<PlantedAnswer> => {
        const isIt = isFiltered(request) && request.headers['prefer']?.includes('max-affected=2')
        return isIt ? telling({ status: 200, headers: {}, body: '' }, { deleted_count: 2 }) : server(request)
      },
  },
  {
    breaks: 'DEL-10/others-stay',
    says: 'Deletion by filter takes what the filter does not find.',
    plant: watched((server, { made }) => {
      const taken = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        if (isFiltered(request) && answer.status === 200) {
          for (const [path, { name }] of made) if (name === 'left alone') taken.add(path)
        }
        return request.method === 'GET' && taken.has(request.path) ? withStatus(answer, 404) : answer
      }
    }),
  },
  {
    breaks: 'DEL-10/number',
    says: 'Deletion by filter does not tell how many went.',
    plant: answering((answer, request) =>
      isFiltered(request) && answer.status === 200 ? telling(answer, { deleted: true }) : answer,
    ),
  },
  {
    breaks: 'DEL-10/maximum',
    says: 'Deletion by filter takes no notice of max-affected.',
    plant: (server) => (request) => server(isFiltered(request) ? without(request, 'prefer') : request),
  },
  {
    breaks: 'DEL-10/not-offered',
    says: 'DELETE of a collection is answered 404.',
    plant: answering((answer, { method, path }) =>
      method === 'DELETE' && path.startsWith('/v3/shelves?') && answer.status === 405
        ? withStatus(answer, 404)
        : answer,
    ),
  },
]
