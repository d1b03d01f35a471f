/** Faults of restore, grace and unique values (DEL-6, DEL-7, DEL-11). */
import type { Fault, PlantedAnswer, PlantedRequest } from '../../planted.ts'
import { answering, dataOf, filteredList, markOf, rowOf, showing, telling, watched, withStatus } from './watch.ts'

function restoreOf({ method, path }: PlantedRequest): string | undefined {
  return method === 'POST' && path.endsWith('/restore') ? path.slice(0, -'/restore'.length) : undefined
}

/** A restore that should have been refused with a code. */
function pretending(isIt: (code: unknown) => boolean): Fault['plant'] {
  return watched((server, { made }) => async (request) => {
    const [answer, path] = [await server(request), restoreOf(request)]
    const isRefused = path !== undefined && answer.status === 409 && isIt(rowOf(answer)['code'])
    return isRefused ? telling(answer, made.get(path) ?? {}, 200) : answer
  })
}

const refused: PlantedAnswer = {
  status: 409,
  headers: { 'content-type': 'application/problem+json' },
  body: '{"code":"DUPLICATE_VALUE","detail":"It is taken."}',
}

export const restoreFaults: readonly Fault[] = [
  {
    breaks: 'DEL-6/restored',
    says: 'Restore answers with a record that has lost its price.',
    plant: answering((answer, request) =>
      restoreOf(request)?.startsWith('/v3/items/') && answer.status === 200
        ? telling(answer, { ...rowOf(answer), price: null })
        : answer,
    ),
  },
  {
    breaks: 'DEL-6/live-again',
    says: 'Records that were restored without a condition are not found.',
    plant: watched((server) => {
      const lost = new Set<string>()
      return async (request) => {
        const [answer, path] = [await server(request), restoreOf(request)]
        const isIt = path?.startsWith('/v3/items/') && request.headers['if-match'] === undefined
        if (path !== undefined && isIt && answer.status === 200) lost.add(path)
        return request.method === 'GET' && lost.has(request.path) ? withStatus(answer, 404) : answer
      }
    }),
  },
  {
    breaks: 'DEL-6/listed',
    says: 'Lists go on without restored records once they have been shown without them.',
    plant: watched((server, { made, deleted }) => {
      const missed = new Set<string>()
      return async (request) => {
        const [answer, list] = [await server(request), filteredList(request)]
        const data = dataOf(answer)
        if (list === undefined || data === undefined) return answer
        for (const path of deleted.keys()) if (markOf(made.get(path)) === list.value) missed.add(path)
        return showing(
          answer,
          data.filter(({ id }) => !missed.has(`${list.path}/${id}`)),
        )
      }
    }),
  },
  {
    breaks: 'DEL-6/never',
    says: 'Restore of what never was is a conflict.',
    plant: answering((answer, request) =>
      restoreOf(request)?.startsWith('/v3/items/') && answer.status === 404 ? withStatus(answer, 409) : answer,
    ),
  },
  {
    breaks: 'DEL-6/live',
    says: 'Restore of a live record is answered 200.',
    plant: pretending((code) => code === 'NOT_DELETED'),
  },
  {
    breaks: 'DEL-6/once',
    says: 'Restores that meet all think that they have restored.',
    plant(server) {
      const underWay = new Map<string, Promise<PlantedAnswer>>()
      return async (request) => {
        const path = restoreOf(request)
        if (path === undefined) return server(request)
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
    breaks: 'DEL-6/unique-taken',
    says: 'Restore does not look whether a unique value was taken meanwhile.',
    plant: pretending((code) => code === 'DUPLICATE_VALUE'),
  },
  {
    breaks: 'DEL-6/parent-gone',
    says: 'Restore does not look what the record refers to.',
    plant: pretending((code) => code !== 'DUPLICATE_VALUE' && code !== 'NOT_DELETED'),
  },
  {
    breaks: 'DEL-6/brings-back',
    says: 'Restore brings back the record alone.',
    plant: watched((server, { made, restored }) => async (request) => {
      const answer = await server(request)
      const { method, path } = request
      const isTaken = method === 'GET' && restored.has(`/v3/walls/${made.get(path)?.['wall_id']}`)
      return isTaken && path.startsWith('/v3/pictures/') ? withStatus(answer, 404) : answer
    }),
  },
  {
    breaks: 'DEL-6/only-that',
    says: 'Restore brings back all that refers to the record, whenever it was deleted.',
    plant: watched((server, { made, deleted, restored }) => async (request) => {
      const answer = await server(request)
      const { method, path } = request
      const isBack = restored.has(`/v3/walls/${made.get(path)?.['wall_id']}`) && deleted.has(path)
      return method === 'GET' && isBack ? telling(answer, made.get(path), 200) : answer
    }),
  },
  {
    breaks: 'DEL-7/restore',
    says: 'Restore says of what is gone for good that it cannot be restored, by 409.',
    plant: watched((server, { deleted }) => async (request) => {
      const [answer, path] = [await server(request), restoreOf(request)]
      const isExpired = path?.startsWith('/v3/drafts/') && deleted.has(path) && answer.status === 404
      return isExpired ? withStatus(answer, 409) : answer
    }),
  },
  {
    breaks: 'DEL-7/gone',
    says: 'Deleted records are shown until the purge comes by.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      const [found, data] = [/^\/v3\/drafts\?text=([^&]*)&include_deleted=true$/.exec(request.path), dataOf(answer)]
      if (found === null || data === undefined || data.length > 0) return answer
      const ghosts = [...deleted.keys()].map((path) => made.get(path)).filter((row) => row?.['text'] === found[1])
      return showing(answer, ghosts)
    }),
  },
  {
    breaks: 'DEL-7/live',
    says: 'The purge removes what was once deleted, restored or not.',
    plant: watched((server, { made, restored }) => async (request) => {
      const answer = await server(request)
      const { method, path } = request
      const age = Date.now() - Date.parse(String(made.get(path)?.['created_at']))
      const isPurged = method === 'GET' && path.startsWith('/v3/drafts/') && restored.has(path) && age > 1_000
      return isPurged ? withStatus(answer, 404) : answer
    }),
  },
  {
    breaks: 'DEL-11/free-again',
    says: 'Deleted records keep their unique values.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const { sku } = rowOf(request)
      const isKept = request.method === 'POST' && request.path === '/v3/items' && sku !== undefined
      if (isKept && [...deleted.keys()].some((path) => made.get(path)?.['sku'] === sku)) return refused
      return server(request)
    }),
  },
  {
    breaks: 'DEL-11/taken',
    says: 'Unique values may be had twice.',
    plant: (server) => async (request) => {
      const answer = await server(request)
      const isTaken = request.method === 'POST' && request.path === '/v3/items' && answer.status === 409
      if (!isTaken || rowOf(answer)['code'] !== 'DUPLICATE_VALUE') return answer
      const row = rowOf(request)
      return server({ ...request, body: JSON.stringify({ ...row, sku: `${row['sku']}-${Math.random()}` }) })
    },
  },
  {
    breaks: 'DEL-11/at-once',
    says: 'It looks whether a unique value is free, and writes later.',
    plant(server) {
      const underWay = new Map<unknown, number>()
      return async (request) => {
        const row = rowOf(request)
        const { sku } = row
        if (request.method !== 'POST' || request.path !== '/v3/items' || sku === undefined) return server(request)
        const others = underWay.get(sku) ?? 0
        underWay.set(sku, others + 1)
        const answer = await server(request)
        underWay.set(sku, (underWay.get(sku) ?? 1) - 1)
        if (others === 0 || answer.status !== 409) return answer
        return server({ ...request, body: JSON.stringify({ ...row, sku: `${sku}-${others}` }) })
      }
    },
  },
]
