/** Faults of what becomes of dependents (DEL-4, DEL-5). */
import type { Fault, PlantedAnswer } from '../../planted.ts'
import { answering, dataOf, filteredList, markOf, rowOf, showing, telling, watched, withStatus } from './watch.ts'

const isShelf = /^\/v3\/shelves\/[^/?]+$/

export const dependentFaults: readonly Fault[] = [
  {
    breaks: 'DEL-4/refused',
    says: 'A deletion that dependents forbid is answered 400.',
    plant: answering((answer, { method, path }) =>
      method === 'DELETE' && isShelf.test(path) && answer.status === 409 ? withStatus(answer, 400) : answer,
    ),
  },
  {
    breaks: 'DEL-4/errors',
    says: 'It does not say what is in the way.',
    plant: answering((answer, { method, path }) =>
      method === 'DELETE' && isShelf.test(path) && answer.status === 409
        ? telling(answer, { ...rowOf(answer), errors: [] })
        : answer,
    ),
  },
  {
    breaks: 'DEL-4/unchanged',
    says: 'It sets deleted_at before it looks for dependents, and leaves it.',
    plant(server) {
      const refused = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        const { method, path } = request
        if (method === 'DELETE' && isShelf.test(path) && answer.status === 409) refused.add(path)
        if (method !== 'GET' || !refused.has(path) || answer.status !== 200) return answer
        return telling(answer, { ...rowOf(answer), deleted_at: '2026-01-01T00:00:00.000Z' })
      }
    },
  },
  {
    breaks: 'DEL-4/then',
    says: 'It remembers for a while that a record had dependents.',
    plant(server) {
      const refused = new Map<string, PlantedAnswer>()
      return async (request) => {
        const { method, path } = request
        if (method !== 'DELETE' || !isShelf.test(path)) return server(request)
        const before = refused.get(path)
        refused.delete(path)
        const answer = before ?? (await server(request))
        if (before === undefined && answer.status === 409) refused.set(path, answer)
        return answer
      }
    },
  },
  {
    breaks: 'DEL-4/race',
    says: 'It deletes while a reference to the record is being made.',
    plant(server) {
      const beingMade = new Map<string, number>()
      const gone = new Set<string>()
      return async (request) => {
        const { method, path } = request
        if (method === 'GET' && gone.has(path)) return { status: 404, headers: {}, body: '' }
        if (method === 'DELETE' && (beingMade.get(path) ?? 0) > 0) {
          gone.add(path)
          return { status: 204, headers: {}, body: '' }
        }
        if (method !== 'POST' || path !== '/v3/items') return server(request)
        const parent = `/v3/shelves/${rowOf(request)['shelf_id']}`
        beingMade.set(parent, (beingMade.get(parent) ?? 0) + 1)
        const answer = await server(request)
        // As long as nobody knows yet that it is made.
        await new Promise((resolve) => setTimeout(resolve, 20))
        beingMade.set(parent, (beingMade.get(parent) ?? 0) - 1)
        return answer
      }
    },
  },
  {
    breaks: 'DEL-5/no-dangling',
    says: 'It leaves references to what is gone.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      const row = made.get(request.path)
      if (request.method !== 'GET' || row === undefined || !request.path.startsWith('/v3/pictures/')) return answer
      return deleted.has(`/v3/walls/${row['wall_id']}`) ? telling(answer, row, 200) : answer
    }),
  },
  {
    breaks: 'DEL-5/cascade',
    says: 'It takes two dependents along, and no more.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const [answer, list] = [await server(request), filteredList(request)]
      const data = dataOf(answer)
      if (list?.path !== '/v3/pictures' || data === undefined) return answer
      const taken = [...made.values()].filter(
        (row) => markOf(row) === list.value && deleted.has(`/v3/walls/${row['wall_id']}`),
      )
      return showing(answer, [...data, ...taken.slice(2)])
    }),
  },
  {
    breaks: 'DEL-5/own-variant',
    says: 'Dependents are taken along by the database, for good.',
    plant: answering((answer, { method, path }) => {
      const data = dataOf(answer)
      const isAsked = method === 'GET' && path.startsWith('/v3/pictures?') && path.includes('include_deleted=true')
      return isAsked && data !== undefined ? showing(answer, []) : answer
    }),
  },
  {
    breaks: 'DEL-5/clear',
    says: 'It clears more than the reference.',
    plant: answering((answer, { method, path }) => {
      const row = rowOf(answer)
      const isCleared = method === 'GET' && path.startsWith('/v3/frames/') && row['wall_id'] === null
      return isCleared ? telling(answer, { ...row, text: null }) : answer
    }),
  },
]
