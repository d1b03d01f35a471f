/** Faults of deletions of many at once (DEL-9). */
import { answering, answerOf, on, withBody, withFirstError, withStatus } from '../../plant/answers.ts'
import { withList } from '../../plant/lists.ts'
import { collectionOf, markOf, watching } from '../../plant/memory.ts'
import { jsonOf, withMembers } from '../../plant/messages.ts'
import { asking } from '../../plant/requests.ts'
import { all, isBulkDeletion, sends } from '../../plant/which.ts'
import type { Fault, PlantedRequest } from '../../planted.ts'

/** The identifiers that a request lists. */
function idsIn(request: PlantedRequest): readonly unknown[] {
  const { ids } = jsonOf(request)
  return Array.isArray(ids) ? ids : []
}

/** The same request with other identifiers; as it is where it lists none. */
function listing(request: PlantedRequest, ids: readonly unknown[]): PlantedRequest {
  return idsIn(request).length === 0 ? request : withMembers({ ids })(request)
}

export const bulkFaults: readonly Fault[] = [
  {
    breaks: 'DEL-9/all',
    says: 'Bulk deletion forgets the last record.',
    plant: watching(({ made }) => (server) => {
      const forgotten = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        const { method, path } = request
        if (isBulkDeletion(request) && answer.status === 200)
          forgotten.add(`${collectionOf(path)}/${idsIn(request).at(-1)}`)
        return method === 'GET' && forgotten.has(path) ? withBody(made.get(path), 200)(answer) : answer
      }
    }),
  },
  {
    breaks: 'DEL-9/others-stay',
    says: 'Bulk deletion takes what has the same name along.',
    plant: watching(({ made }) => (server) => {
      const taken = new Set<unknown>()
      return async (request) => {
        const answer = await server(request)
        const { method, path } = request
        if (isBulkDeletion(request) && answer.status === 200) {
          for (const id of idsIn(request)) taken.add(markOf(made.get(`${collectionOf(path)}/${id}`)))
        }
        return method === 'GET' && taken.has(markOf(made.get(path)) ?? '') ? withStatus(404)(answer) : answer
      }
    }),
  },
  {
    breaks: 'DEL-9/status',
    says: 'Bulk deletion is answered 204.',
    plant: answering(
      isBulkDeletion,
      on(200, () => answerOf(204)),
    ),
  },
  {
    breaks: 'DEL-9/order',
    says: 'Bulk deletion tells what it has deleted in the order in which it was made.',
    plant: answering(
      isBulkDeletion,
      withList(({ data }) => data.sort((one, other) => String(one['id']).localeCompare(String(other['id'])))),
    ),
  },
  {
    breaks: 'DEL-9/members',
    says: 'Bulk deletion tells a status of each record.',
    plant: answering(
      isBulkDeletion,
      withList(({ data }) => {
        for (const row of data) row['status'] = 'deleted'
      }),
    ),
  },
  {
    breaks: 'DEL-9/all-or-nothing',
    says: 'Bulk deletion deletes what is there, and tells what is not.',
    plant: watching(({ made }) => (server) => async (request) => {
      const answer = await server(request)
      if (!isBulkDeletion(request) || answer.status !== 404) return answer
      const there = idsIn(request).filter((id) => made.has(`${collectionOf(request.path)}/${id}`))
      if (there.length > 0) await server(listing(request, there))
      return answer
    }),
  },
  {
    breaks: 'DEL-9/already-gone',
    says: 'Bulk deletion does not mind what is deleted already.',
    plant: watching(({ deleted }) => (server) => async (request) => {
      const answer = await server(request)
      const isGone = (id: unknown) => deleted.has(`${collectionOf(request.path)}/${id}`)
      if (!isBulkDeletion(request) || answer.status !== 404 || !idsIn(request).some(isGone)) return answer
      return server(
        listing(
          request,
          idsIn(request).filter((id) => !isGone(id)),
        ),
      )
    }),
  },
  {
    breaks: 'DEL-9/reasons',
    says: 'Bulk deletion stops at the first that cannot go.',
    plant: answering(isBulkDeletion, on(404, withFirstError)),
  },
  {
    breaks: 'DEL-9/dependents',
    says: 'Bulk deletion calls it a bad request where dependents are in the way.',
    plant: answering(isBulkDeletion, on(409, withStatus(400))),
  },
  {
    breaks: 'DEL-9/twice',
    says: 'Bulk deletion overlooks that an identifier is repeated.',
    plant: asking(isBulkDeletion, (request) => listing(request, [...new Set(idsIn(request))])),
  },
  {
    breaks: 'DEL-9/many',
    says: 'Of a long list bulk deletion takes the beginning.',
    plant: asking(
      (request) => idsIn(request).length > 1_000,
      (request) => listing(request, idsIn(request).slice(0, 1)),
    ),
  },
  {
    breaks: 'DEL-9/odd',
    says: 'Bulk deletion stumbles over null.',
    plant: answering((request) => isBulkDeletion(request) && idsIn(request).includes(null), withStatus(500)),
  },
  {
    breaks: 'DEL-9/at-once',
    says: 'Bulk deletions that meet both think that they have deleted all.',
    plant(server) {
      const underWay: PlantedRequest[] = []
      return async (request) => {
        if (!isBulkDeletion(request)) return server(request)
        const ids = new Set(idsIn(request))
        const first = underWay.find((each) => idsIn(each).some((id) => ids.has(id)))
        if (first !== undefined) {
          const data = [...ids].map((id) => ({ id, deleted_at: '2026-01-01T00:00:00.000Z' }))
          return answerOf(200, { data })
        }
        underWay.push(request)
        try {
          return await server(request)
        } finally {
          underWay.splice(underWay.indexOf(request), 1)
        }
      }
    },
  },
  {
    breaks: 'DEL-9/empty',
    says: 'Bulk deletion of nothing is answered 200.',
    plant: answering(all(isBulkDeletion, sends('{"ids":[]}')), withBody({ data: [] }, 200)),
  },
  {
    breaks: 'DEL-9/no-list',
    says: 'Bulk deletion takes null for no identifiers at all.',
    plant: answering(all(isBulkDeletion, sends('{"ids":null}')), withBody({ data: [] }, 200)),
  },
]
