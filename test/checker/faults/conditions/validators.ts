/** Faults of CON-2. */
import { createHash } from 'node:crypto'
import { giving, having, isCollection, isRecord, without } from '../../alter.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../../planted.ts'

const isRead = ({ method }: PlantedRequest) => method === 'GET' || method === 'HEAD'
const ofRecords = (request: PlantedRequest) => isRead(request) && isRecord(request)
const ofLists = (request: PlantedRequest, { status }: PlantedAnswer) =>
  isRead(request) && isCollection(request) && status === 200

interface Item {
  readonly id: string
}

/** Lists whose tag is made of something else than before. */
function listTag(of: (items: readonly Item[], path: string) => unknown): Fault['plant'] {
  return giving(
    (request, answer) => ofLists(request, answer) && request.method === 'GET' && request.path.includes('?'),
    (answer, { path }) => {
      const made = of((JSON.parse(answer.body) as { data: Item[] }).data, path)
      const tag = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
      return having(answer, 'etag', `"${tag}"`)
    },
  )
}

export const validatorsFaults: readonly Fault[] = [
  {
    breaks: 'CON-2/etag',
    says: 'Its entity tags are weak.',
    plant: giving(
      (_, { headers }) => headers['etag'] !== undefined,
      (answer) => having(answer, 'etag', `W/${answer.headers['etag']}`),
    ),
  },
  {
    breaks: 'CON-2/etag-stays',
    says: 'Its entity tags hold the moment of the request.',
    plant(server, keys) {
      let requests = 0
      const plant = giving(ofRecords, (answer, { method }) => {
        if (method === 'GET') requests++
        const { etag } = answer.headers
        return etag === undefined ? answer : having(answer, 'etag', `${etag.slice(0, -1)}-${requests}"`)
      })
      return plant(server, keys)
    },
  },
  {
    breaks: 'CON-2/etag-changes',
    says: 'It makes the entity tag from the identifier of the record.',
    plant(server, keys) {
      const first = new Map<string, string>()
      const plant = giving(ofRecords, (answer, { path }) => {
        const { etag } = answer.headers
        if (etag === undefined) return answer
        const known = first.get(path.split('?')[0] as string) ?? etag
        first.set(path.split('?')[0] as string, known)
        return having(answer, 'etag', known)
      })
      return plant(server, keys)
    },
  },
  {
    breaks: 'CON-2/etag-of-change',
    says: 'It answers a change without an entity tag.',
    plant: giving(
      ({ method }) => method === 'PATCH',
      (answer) => without(answer, 'etag'),
    ),
  },
  {
    breaks: 'CON-2/last-modified',
    says: 'It writes Last-Modified as ISO 8601 has it.',
    plant: giving(ofRecords, (answer) => {
      const { 'last-modified': date } = answer.headers
      return date === undefined ? answer : having(answer, 'last-modified', new Date(date).toISOString())
    }),
  },
  {
    breaks: 'CON-2/list-etag',
    says: 'Its lists have no entity tag.',
    plant: giving(ofLists, (answer) => without(answer, 'etag')),
  },
  {
    breaks: 'CON-2/list-etag-creation',
    says: 'It makes the tag of a list from the first record in it.',
    plant: listTag(([first]) => first ?? null),
  },
  {
    breaks: 'CON-2/list-etag-change',
    says: 'It makes the tag of a list from the identifiers of its records.',
    plant: listTag((items) => items.map(({ id }) => id)),
  },
  {
    breaks: 'CON-2/list-etag-deletion',
    says: 'It makes the tag of a list from all that was ever in it.',
    plant(server, keys) {
      const seen = new Map<string, Map<string, Item>>()
      const plant = listTag((items, path) => {
        const all = seen.get(path) ?? new Map<string, Item>()
        seen.set(path, all)
        for (const item of items) all.set(item.id, item)
        return [...all.values()]
      })
      return plant(server, keys)
    },
  },
]
