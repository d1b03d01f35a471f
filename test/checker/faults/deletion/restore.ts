/** Faults of restore, grace and unique values (DEL-6, DEL-7, DEL-11). */
import { answering, answerOf, on, withBody, withProblem, withStatus } from '../../plant/answers.ts'
import { listIn, onEmpty, withList, withMore } from '../../plant/lists.ts'
import { collectionOf, filteredList, ghostsIn, markOf, sharing, watching } from '../../plant/memory.ts'
import { jsonOf, withMembers } from '../../plant/messages.ts'
import { all, always, at, isRestore, of } from '../../plant/which.ts'
import type { Fault, PlantedRequest } from '../../planted.ts'

const isRestoreOfItem = all(isRestore, at(/^\/v3\/items\//))
const isCreationOfItem = of('POST', at('/v3/items'))

/** The path of the record that is restored. */
function restoreOf(request: PlantedRequest): string | undefined {
  return isRestore(request) ? collectionOf(request.path) : undefined
}

/** A restore that should have been refused with a code. */
function pretending(isIt: (code: unknown) => boolean): Fault['plant'] {
  return watching(({ made }) =>
    answering(
      isRestore,
      on(409, (answer, request) =>
        isIt(jsonOf(answer)['code']) ? withBody(made.get(collectionOf(request.path)) ?? {}, 200)(answer) : answer,
      ),
    ),
  )
}

const refused = withProblem(409, 'DUPLICATE_VALUE')(answerOf(409))

export const restoreFaults: readonly Fault[] = [
  {
    breaks: 'DEL-6/restored',
    says: 'Restore answers with a record that has lost its price.',
    plant: answering(isRestoreOfItem, on(200, withMembers({ price: null }))),
  },
  {
    breaks: 'DEL-6/live-again',
    says: 'Records that were restored without a condition are not found.',
    plant(server) {
      const lost = new Set<string>()
      return async (request) => {
        const [answer, path] = [await server(request), restoreOf(request)]
        const isIt = path?.startsWith('/v3/items/') && request.headers['if-match'] === undefined
        if (path !== undefined && isIt && answer.status === 200) lost.add(path)
        return request.method === 'GET' && lost.has(request.path) ? withStatus(404)(answer) : answer
      }
    },
  },
  {
    breaks: 'DEL-6/listed',
    says: 'Lists go on without restored records once they have been shown without them.',
    plant: watching(({ made, deleted }) => {
      const missed = new Set<string>()
      return answering(always, (answer, request) => {
        const list = filteredList(request)
        if (list === undefined || listIn(answer) === undefined) return answer
        for (const path of deleted) if (markOf(made.get(path)) === list.value) missed.add(path)
        return withList((all) => {
          all.data = all.data.filter(({ id }) => !missed.has(`${list.path}/${id}`))
        })(answer)
      })
    }),
  },
  {
    breaks: 'DEL-6/never',
    says: 'Restore of what never was is a conflict.',
    plant: answering(isRestoreOfItem, on(404, withStatus(409))),
  },
  {
    breaks: 'DEL-6/live',
    says: 'Restore of a live record is answered 200.',
    plant: pretending((code) => code === 'NOT_DELETED'),
  },
  {
    breaks: 'DEL-6/once',
    says: 'Restores that meet all think that they have restored.',
    plant: sharing(restoreOf),
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
    plant: watching(({ made, restored }) =>
      answering(
        of('GET', at(/^\/v3\/pictures\//), ({ path }) => restored.has(`/v3/walls/${made.get(path)?.['wall_id']}`)),
        withStatus(404),
      ),
    ),
  },
  {
    breaks: 'DEL-6/only-that',
    says: 'Restore brings back all that refers to the record, whenever it was deleted.',
    plant: watching(({ made, deleted, restored }) =>
      answering(
        of('GET', ({ path }) => deleted.has(path) && restored.has(`/v3/walls/${made.get(path)?.['wall_id']}`)),
        (answer, request) => withBody(made.get(request.path), 200)(answer),
      ),
    ),
  },
  {
    breaks: 'DEL-7/restore',
    says: 'Restore says of what is gone for good that it cannot be restored, by 409.',
    plant: watching(({ deleted }) =>
      answering(
        of('POST', at(/^\/v3\/drafts\//), (request) => deleted.has(restoreOf(request) ?? '')),
        on(404, withStatus(409)),
      ),
    ),
  },
  {
    breaks: 'DEL-7/gone',
    says: 'Deleted records are shown until the purge comes by.',
    plant: watching((watch) =>
      answering(
        at(/^\/v3\/drafts\?text=[^&]*&include_deleted=true$/),
        onEmpty((answer, { path }) =>
          withMore(ghostsIn(watch).filter(({ text }) => path.includes(`?text=${text}&`)))(answer),
        ),
      ),
    ),
  },
  {
    breaks: 'DEL-7/live',
    says: 'The purge removes what was once deleted, restored or not.',
    plant: watching(({ made, restored }) =>
      answering(
        of('GET', at(/^\/v3\/drafts\//), ({ path }) => restored.has(path)),
        (answer, request) => {
          const age = Date.now() - Date.parse(String(made.get(request.path)?.['created_at']))
          return age > 1_000 ? withStatus(404)(answer) : answer
        },
      ),
    ),
  },
  {
    breaks: 'DEL-11/free-again',
    says: 'Deleted records keep their unique values.',
    plant: watching((watch) => (server) => async (request) => {
      const { sku } = jsonOf(request)
      const isKept = ghostsIn(watch).some((ghost) => ghost['sku'] === sku)
      return isCreationOfItem(request) && sku !== undefined && isKept ? refused : server(request)
    }),
  },
  {
    breaks: 'DEL-11/taken',
    says: 'Unique values may be had twice.',
    plant: (server) => async (request) => {
      const answer = await server(request)
      if (!isCreationOfItem(request) || answer.status !== 409 || jsonOf(answer)['code'] !== 'DUPLICATE_VALUE')
        return answer
      return server(withMembers({ sku: `${jsonOf(request)['sku']}-${Math.random()}` })(request))
    },
  },
  {
    breaks: 'DEL-11/at-once',
    says: 'It looks whether a unique value is free, and writes later.',
    plant(server) {
      const underWay = new Map<unknown, number>()
      return async (request) => {
        const { sku } = jsonOf(request)
        if (!isCreationOfItem(request) || sku === undefined) return server(request)
        const others = underWay.get(sku) ?? 0
        underWay.set(sku, others + 1)
        const answer = await server(request)
        underWay.set(sku, (underWay.get(sku) ?? 1) - 1)
        if (others === 0 || answer.status !== 409) return answer
        return server(withMembers({ sku: `${sku}-${others}` })(request))
      }
    },
  },
]
