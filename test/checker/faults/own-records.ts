/** Faults of who owns what. */
import type { Fault, Keys, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { answering, asCaller, asking, isList, isRecord, saying, type Which } from './words.ts'

/** Whether the other caller asks. */
export const isOther = ({ headers }: PlantedRequest, { otherKey }: Keys) =>
  headers['authorization'] === `Bearer ${otherKey}`

/** Whether it is about what everybody has of their own. */
export const isDiary = ({ path }: PlantedRequest) => path.startsWith('/v3/diaries')
const isTaken = ({ status }: PlantedAnswer) => status < 300

/** The other caller may do what only the caller may. */
export function othersMay(which: Which): Fault['plant'] {
  return asking((request, keys) => isOther(request, keys) && which(request, keys), asCaller)
}

export const ownRecordsFaults: readonly Fault[] = [
  {
    breaks: 'AUT-4/own-list',
    says: 'Lists have the records of all.',
    plant: othersMay((request) => request.method === 'GET' && isList(request) && isDiary(request)),
  },
  {
    breaks: 'AUT-4/own-total',
    says: 'The total counts the records of all.',
    plant: (server, keys) => async (request) => {
      const answer = await server(request)
      if (!isOther(request, keys) || request.method !== 'GET' || !isList(request) || !isTaken(answer)) return answer
      const { pagination } = JSON.parse((await server(asCaller(request, keys))).body)
      return saying(answer, (body: object) => ({ ...body, pagination }))
    },
  },
  {
    breaks: 'AUT-5/read',
    says: 'Who owns a diary reads all of them.',
    plant: othersMay((request) => request.method === 'GET' && isDiary(request) && isRecord(request)),
  },
  {
    breaks: 'AUT-5/update',
    says: 'Who owns a diary writes in all of them.',
    plant: othersMay((request) => request.method === 'PATCH' && isDiary(request) && request.body.includes('text')),
  },
  {
    breaks: 'AUT-5/delete',
    says: 'Who owns a diary deletes all of them.',
    plant: othersMay((request) => request.method === 'DELETE' && isDiary(request)),
  },
  {
    breaks: 'AUT-6/list-and-record',
    says: 'What somebody has made is not in their list.',
    plant: (server, keys) => async (request) => {
      const answer = await server(request)
      if (!isOther(request, keys) || request.method !== 'GET' || !isList(request) || !isDiary(request)) return answer
      return saying(answer, (body: { pagination: object }) => ({
        ...body,
        data: [],
        pagination: { ...body.pagination, total_count: 0 },
      }))
    },
  },
  {
    breaks: 'AUT-7/set',
    says: 'Everything is owned by one.',
    plant: answering(
      (request) => request.method === 'POST' && isDiary(request),
      (answer) => (isTaken(answer) ? saying(answer, (body: object) => ({ ...body, owner_id: 'system' })) : answer),
    ),
  },
  {
    breaks: 'AUT-7/sent',
    says: 'It believes who is sent as the owner.',
    plant: othersMay((request) => request.method === 'POST' && isDiary(request) && request.body.includes('owner_id')),
  },
  {
    breaks: 'AUT-7/changed',
    says: 'Who owns a record can make it over.',
    plant: othersMay((request) => request.method === 'PATCH' && isDiary(request) && request.body.includes('owner_id')),
  },
]
