/** Faults of who owns what. */
import { answering, on } from '../plant/answers.ts'
import { isList, withList } from '../plant/lists.ts'
import { jsonOf, withMembers } from '../plant/messages.ts'
import { asCaller, asking, type Whose } from '../plant/requests.ts'
import { all, at, isRecord, of, sends, type Which } from '../plant/which.ts'
import type { Fault } from '../planted.ts'

/** Of some requests those that the other caller makes. */
export function ofOther(which: Which): Whose {
  return (request, { otherKey }) => request.headers['authorization'] === `Bearer ${otherKey}` && which(request)
}

/** The other caller may do what only the caller may. */
export function othersMay(which: Which): Fault['plant'] {
  return asking(ofOther(which), asCaller)
}

/** Whether it is about what everybody has of their own. */
export const isDiary = at(/^\/v3\/diaries/)

export const ownRecordsFaults: readonly Fault[] = [
  { breaks: 'AUT-4/own-list', says: 'Lists have the records of all.', plant: othersMay(all(isList, isDiary)) },
  {
    breaks: 'AUT-4/own-total',
    says: 'The total counts the records of all.',
    plant: (server, keys) => async (request) => {
      const answer = await server(request)
      if (!ofOther(isList)(request, keys) || answer.status !== 200) return answer
      const { pagination } = jsonOf(await server(asCaller(request, keys)))
      return withMembers({ pagination })(answer)
    },
  },
  {
    breaks: 'AUT-5/read',
    says: 'Who owns a diary reads all of them.',
    plant: othersMay(of('GET', isDiary, isRecord)),
  },
  {
    breaks: 'AUT-5/update',
    says: 'Who owns a diary writes in all of them.',
    plant: othersMay(of('PATCH', isDiary, sends(/text/))),
  },
  {
    breaks: 'AUT-5/delete',
    says: 'Who owns a diary deletes all of them.',
    plant: othersMay(of('DELETE', isDiary)),
  },
  {
    breaks: 'AUT-6/list-and-record',
    says: 'What somebody has made is not in their list.',
    plant: answering(
      ofOther(all(isList, isDiary)),
      withList((list) => {
        list.data = []
        list.pagination['total_count'] = 0
      }),
    ),
  },
  {
    breaks: 'AUT-7/set',
    says: 'Everything is owned by one.',
    plant: answering(of('POST', isDiary), on(201, withMembers({ owner_id: 'system' }))),
  },
  {
    breaks: 'AUT-7/sent',
    says: 'It believes who is sent as the owner.',
    plant: othersMay(of('POST', isDiary, sends(/owner_id/))),
  },
  {
    breaks: 'AUT-7/changed',
    says: 'Who owns a record can make it over.',
    plant: othersMay(of('PATCH', isDiary, sends(/owner_id/))),
  },
]
