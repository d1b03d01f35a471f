/** Faults of what becomes of dependents (DEL-4, DEL-5). */
import { answering, answerOf, on, withBody, withStatus } from '../../plant/answers.ts'
import { withData, withMore } from '../../plant/lists.ts'
import { filteredList, markOf, watching } from '../../plant/memory.ts'
import { jsonOf, withJson, withMembers } from '../../plant/messages.ts'
import { othersArrive } from '../../plant/requests.ts'
import { at, of } from '../../plant/which.ts'
import type { Fault, PlantedAnswer } from '../../planted.ts'

const isShelf = at(/^\/v3\/shelves\/[^/?]+$/)

export const dependentFaults: readonly Fault[] = [
  {
    breaks: 'DEL-4/refused',
    says: 'A deletion that dependents forbid is answered 500.',
    plant: answering(of('DELETE', isShelf), on(409, withStatus(500))),
  },
  {
    breaks: 'DEL-4/status',
    says: 'A deletion that dependents forbid is answered 400.',
    plant: answering(of('DELETE', isShelf), on(409, withStatus(400))),
  },
  {
    breaks: 'DEL-4/errors',
    says: 'It does not say what is in the way.',
    plant: answering(of('DELETE', isShelf), on(409, withMembers({ errors: [] }))),
  },
  {
    breaks: 'DEL-4/unchanged',
    says: 'It sets deleted_at before it looks for dependents, and leaves it.',
    plant(server) {
      const refused = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        const { method, path } = request
        if (method === 'DELETE' && isShelf(request) && answer.status === 409) refused.add(path)
        if (method !== 'GET' || !refused.has(path) || answer.status !== 200) return answer
        return withMembers({ deleted_at: '2026-01-01T00:00:00.000Z' })(answer)
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
        if (method !== 'DELETE' || !isShelf(request)) return server(request)
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
        if (method === 'GET' && gone.has(path)) return answerOf(404)
        if (method === 'DELETE' && (beingMade.get(path) ?? 0) > 0) {
          gone.add(path)
          return answerOf(204)
        }
        if (method !== 'POST' || path !== '/v3/items') return server(request)
        const parent = `/v3/shelves/${jsonOf(request)['shelf_id']}`
        beingMade.set(parent, (beingMade.get(parent) ?? 0) + 1)
        const answer = await server(request)
        // Nobody knows yet that it is made.
        await othersArrive()
        beingMade.set(parent, (beingMade.get(parent) ?? 0) - 1)
        return answer
      }
    },
  },
  {
    breaks: 'DEL-5/no-dangling',
    says: 'It leaves references to what is gone.',
    plant: watching(({ made, deleted }) =>
      answering(of('GET', at(/^\/v3\/pictures\//)), (answer, request) => {
        const row = made.get(request.path)
        return deleted.has(`/v3/walls/${row?.['wall_id']}`) ? withBody(row, 200)(answer) : answer
      }),
    ),
  },
  {
    breaks: 'DEL-5/cascade',
    says: 'It takes two dependents along, and no more.',
    plant: watching(({ made, deleted }) =>
      answering(at(/^\/v3\/pictures\?/), (answer, request) => {
        const list = filteredList(request)
        const taken = [...made.values()].filter(
          (row) => markOf(row) === list?.value && deleted.has(`/v3/walls/${row['wall_id']}`),
        )
        return list === undefined ? answer : withMore(taken.slice(2))(answer)
      }),
    ),
  },
  {
    breaks: 'DEL-5/own-variant',
    says: 'Dependents are taken along by the database, for good.',
    plant: answering(of('GET', at(/^\/v3\/pictures\?.*include_deleted=true/)), withData([])),
  },
  {
    breaks: 'DEL-5/clear',
    says: 'It clears more than the reference.',
    plant: answering(
      of('GET', at(/^\/v3\/frames\//)),
      withJson((row) => (row['wall_id'] === null ? { ...row, text: null } : row)),
    ),
  },
]
