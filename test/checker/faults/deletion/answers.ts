/** Faults of how deletions are answered (DEL-2, DEL-3, DEL-8). */
import type { Fault, PlantedAnswer } from '../../planted.ts'
import { answering, rowOf, telling, watched, without, withStatus } from './watch.ts'

const isItem = /^\/v3\/items\/[^/?]+$/

export const answerFaults: readonly Fault[] = [
  {
    breaks: 'DEL-2/answer',
    says: 'A deletion is answered 201.',
    plant: answering((answer, { method, path }) =>
      method === 'DELETE' && isItem.test(path) && answer.status === 204 ? withStatus(answer, 201) : answer,
    ),
  },
  {
    breaks: 'DEL-2/no-body',
    says: 'It announces a body with 204.',
    plant: answering((answer, { method }) =>
      method === 'DELETE' && answer.status === 204
        ? { ...answer, headers: { ...answer.headers, 'content-length': '2' }, body: '{}' }
        : answer,
    ),
  },
  {
    breaks: 'DEL-2/summary',
    says: 'A deletion is answered with the whole record.',
    plant: watched((server, { made }) => async (request) => {
      const answer = await server(request)
      if (request.method !== 'DELETE' || answer.status !== 200 || !request.path.includes('/receipts/')) return answer
      return telling(answer, { ...made.get(request.path), ...rowOf(answer) })
    }),
  },
  {
    breaks: 'DEL-3/again',
    says: 'Deleting once more is answered 410.',
    plant: watched((server, { deleted }) => async (request) => {
      const answer = await server(request)
      const isAgain = request.method === 'DELETE' && answer.status === 404 && deleted.has(request.path)
      return isAgain ? withStatus(answer, 410) : answer
    }),
  },
  {
    breaks: 'DEL-3/never',
    says: 'An identifier that it has never given is malformed to it.',
    plant: answering((answer, { method, path }) =>
      method === 'DELETE' && answer.status === 404 && path.includes('/items/ffffffff-ffff-')
        ? withStatus(answer, 400)
        : answer,
    ),
  },
  {
    breaks: 'DEL-3/odd',
    says: 'Its database takes no NUL, and says so by 500.',
    plant: answering((answer, { method, path }) =>
      method === 'DELETE' && path.includes('%00') ? withStatus(answer, 500) : answer,
    ),
  },
  {
    breaks: 'DEL-3/at-once',
    says: 'Deletions that meet all think that they have deleted.',
    plant(server) {
      const underWay = new Map<string, Promise<PlantedAnswer>>()
      return async (request) => {
        const { method, path, headers } = request
        if (method !== 'DELETE' || headers['if-match'] !== undefined) return server(request)
        const first = underWay.get(path)
        if (first !== undefined) return first
        const answer = server(request)
        underWay.set(path, answer)
        try {
          return await answer
        } finally {
          underWay.delete(path)
        }
      }
    },
  },
  {
    breaks: 'DEL-8/body',
    says: 'A deletion that takes long is queued, not pending.',
    plant: answering((answer, { method }) =>
      method === 'DELETE' && answer.status === 202 ? telling(answer, { ...rowOf(answer), status: 'queued' }) : answer,
    ),
  },
  {
    breaks: 'DEL-8/location',
    says: 'A deletion that takes long has no Location.',
    plant: answering((answer, { method }) =>
      method === 'DELETE' && answer.status === 202 ? without(answer, 'location') : answer,
    ),
  },
  {
    breaks: 'DEL-8/retry-after',
    says: 'A deletion that takes long has no Retry-After.',
    plant: answering((answer, { method }) =>
      method === 'DELETE' && answer.status === 202 ? without(answer, 'retry-after') : answer,
    ),
  },
  {
    breaks: 'DEL-8/done',
    says: 'Jobs say that they have succeeded before they have begun.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      const { method, path } = request
      if (method !== 'GET' || !deleted.has(path) || !path.includes('/archives/')) return answer
      return telling(answer, made.get(path), 200)
    }),
  },
  {
    breaks: 'DEL-8/preferred',
    says: 'It takes no notice of Prefer: respond-async.',
    plant: (server) => (request) =>
      server(request.headers['prefer'] === 'respond-async' ? without(request, 'prefer') : request),
  },
]
