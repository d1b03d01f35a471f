/** Faults of deletions of many at once (DEL-9). */
import type { Fault, PlantedRequest } from '../../planted.ts'
import {
  answering,
  collectionOf,
  dataOf,
  idsIn,
  isBulk,
  markOf,
  rowOf,
  showing,
  telling,
  watched,
  withStatus,
} from './watch.ts'

function listing(request: PlantedRequest, ids: readonly unknown[]): PlantedRequest {
  return { ...request, body: JSON.stringify({ ids }) }
}

export const bulkFaults: readonly Fault[] = [
  {
    breaks: 'DEL-9/all',
    says: 'Bulk deletion forgets the last record.',
    plant: watched((server, { made }) => {
      const forgotten = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        const { method, path } = request
        if (isBulk(request) && answer.status === 200) forgotten.add(`${collectionOf(path)}/${idsIn(request).at(-1)}`)
        return method === 'GET' && forgotten.has(path) ? telling(answer, made.get(path), 200) : answer
      }
    }),
  },
  {
    breaks: 'DEL-9/others-stay',
    says: 'Bulk deletion takes what has the same name along.',
    plant: watched((server, { made }) => {
      const taken = new Set<unknown>()
      return async (request) => {
        const answer = await server(request)
        const { method, path } = request
        if (isBulk(request) && answer.status === 200) {
          for (const id of idsIn(request)) taken.add(markOf(made.get(`${collectionOf(path)}/${id}`)))
        }
        return method === 'GET' && taken.has(markOf(made.get(path)) ?? '') ? withStatus(answer, 404) : answer
      }
    }),
  },
  {
    breaks: 'DEL-9/status',
    says: 'Bulk deletion is answered 204.',
    plant: answering((answer, request) =>
      isBulk(request) && answer.status === 200 ? { status: 204, headers: {}, body: '' } : answer,
    ),
  },
  {
    breaks: 'DEL-9/order',
    says: 'Bulk deletion tells what it has deleted in the order in which it was made.',
    plant: answering((answer, request) => {
      const data = dataOf(answer)
      if (!isBulk(request) || data === undefined) return answer
      return showing(
        answer,
        data.toSorted((a, b) => String(a['id']).localeCompare(String(b['id']))),
      )
    }),
  },
  {
    breaks: 'DEL-9/members',
    says: 'Bulk deletion tells a status of each record.',
    plant: answering((answer, request) => {
      const data = dataOf(answer)
      if (!isBulk(request) || data === undefined) return answer
      return showing(
        answer,
        data.map((row) => ({ ...row, status: 'deleted' })),
      )
    }),
  },
  {
    breaks: 'DEL-9/all-or-nothing',
    says: 'Bulk deletion deletes what is there, and tells what is not.',
    plant: watched((server, { made }) => async (request) => {
      const answer = await server(request)
      if (!isBulk(request) || answer.status !== 404) return answer
      const there = idsIn(request).filter((id) => made.has(`${collectionOf(request.path)}/${id}`))
      if (there.length > 0) await server(listing(request, there))
      return answer
    }),
  },
  {
    breaks: 'DEL-9/already-gone',
    says: 'Bulk deletion does not mind what is deleted already.',
    plant: watched((server, { deleted }) => async (request) => {
      const answer = await server(request)
      const isGone = (id: unknown) => deleted.has(`${collectionOf(request.path)}/${id}`)
      if (!isBulk(request) || answer.status !== 404 || !idsIn(request).some(isGone)) return answer
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
    plant: answering((answer, request) => {
      if (!isBulk(request) || answer.status !== 404) return answer
      const { errors, ...rest } = rowOf(answer) as { errors?: readonly unknown[] }
      return telling(answer, { ...rest, errors: errors?.slice(0, 1) })
    }),
  },
  {
    breaks: 'DEL-9/dependents',
    says: 'Bulk deletion calls it a bad request where dependents are in the way.',
    plant: answering((answer, request) =>
      isBulk(request) && answer.status === 409 ? withStatus(answer, 400) : answer,
    ),
  },
  {
    breaks: 'DEL-9/twice',
    says: 'Bulk deletion overlooks that an identifier is repeated.',
    plant: (server) => (request) =>
      server(isBulk(request) && idsIn(request).length > 0 ? listing(request, [...new Set(idsIn(request))]) : request),
  },
  {
    breaks: 'DEL-9/many',
    says: 'Of a long list bulk deletion takes the beginning.',
    plant: (server) => (request) =>
      server(idsIn(request).length > 1_000 ? listing(request, idsIn(request).slice(0, 1)) : request),
  },
  {
    breaks: 'DEL-9/odd',
    says: 'Bulk deletion stumbles over null.',
    plant: answering((answer, request) =>
      isBulk(request) && idsIn(request).includes(null) ? withStatus(answer, 500) : answer,
    ),
  },
  {
    breaks: 'DEL-9/at-once',
    says: 'Bulk deletions that meet both think that they have deleted all.',
    plant(server) {
      const underWay: PlantedRequest[] = []
      return async (request) => {
        if (!isBulk(request)) return server(request)
        const ids = new Set(idsIn(request))
        const first = underWay.find((each) => idsIn(each).some((id) => ids.has(id)))
        if (first !== undefined) {
          const data = [...ids].map((id) => ({ id, deleted_at: '2026-01-01T00:00:00.000Z' }))
          return telling({ status: 200, headers: {}, body: '' }, { data })
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
    plant: answering((answer, request) =>
      isBulk(request) && request.body === '{"ids":[]}' ? telling(answer, { data: [] }, 200) : answer,
    ),
  },
  {
    breaks: 'DEL-9/no-list',
    says: 'Bulk deletion takes null for no identifiers at all.',
    plant: answering((answer, request) =>
      isBulk(request) && request.body === '{"ids":null}' ? telling(answer, { data: [] }, 200) : answer,
    ),
  },
]
