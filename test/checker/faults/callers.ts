/** Faults of who, and what they may do. */

import type { Fault, PlantedRequest } from '../planted.ts'
import { isDiary, isOther, othersMay, ownRecordsFaults } from './own-records.ts'
import { answering, asCaller, asking, isList, isRecord, lacking, saying, type Which, without } from './words.ts'

const isAnonymous = ({ headers }: PlantedRequest) => headers['authorization'] === undefined
const isWrong = ({ headers }: PlantedRequest) => /^Bearer x+$/.test(headers['authorization'] ?? '')
const says = (request: PlantedRequest, text: string) => request.headers['authorization'] === text

/** Does it as the caller would, and answers as it should. */
function inSecret(which: Which): Fault['plant'] {
  return (server, keys) => async (request) => {
    const answer = await server(request)
    if (which(request, keys)) await server(asCaller(request, keys))
    return answer
  }
}

/** It takes the other caller for nobody. */
function unknownOther(which: Which): Fault['plant'] {
  return asking(
    (request, keys) => isOther(request, keys) && !isDiary(request) && which(request, keys),
    (request) => without(request, 'authorization'),
  )
}

const method = (name: string) => (request: PlantedRequest) => request.method === name
const isItem = (request: PlantedRequest) => request.path.startsWith('/v3/items/') && isRecord(request)

export const callersFaults: readonly Fault[] = [
  {
    breaks: 'AUT-1/bearer',
    says: 'It takes keys from a field of its own.',
    keyIn: 'x-api-key',
    plant: (server) => (request) => {
      const { 'x-api-key': key, authorization: _, ...headers } = request.headers
      return server({
        ...request,
        headers: key === undefined ? headers : { ...headers, authorization: `Bearer ${key}` },
      })
    },
  },
  {
    breaks: 'AUT-1/scheme-in-any-case',
    says: 'It wants the name of the scheme with a capital letter.',
    plant: asking(
      ({ headers }) => headers['authorization']?.startsWith('bearer ') === true,
      (request) => without(request, 'authorization'),
    ),
  },
  {
    breaks: 'AUT-1/list',
    says: 'Lists are open to all.',
    plant: asking(
      (request) => isAnonymous(request) && request.method === 'GET' && isList(request) && !request.path.includes('?'),
      asCaller,
    ),
  },
  {
    breaks: 'AUT-1/record',
    says: 'Records are open to all.',
    plant: asking((request) => isAnonymous(request) && request.method === 'GET' && isRecord(request), asCaller),
  },
  {
    breaks: 'AUT-1/creation',
    says: 'Everybody may create.',
    plant: asking((request) => isAnonymous(request) && request.method === 'POST' && isList(request), asCaller),
  },
  {
    breaks: 'AUT-1/creation-without-effect',
    says: 'It asks for the credential once it has created.',
    plant: inSecret((request) => isAnonymous(request) && request.method === 'POST' && isList(request)),
  },
  {
    breaks: 'AUT-1/change',
    says: 'Everybody may change.',
    plant: asking((request) => isAnonymous(request) && request.method === 'PATCH', asCaller),
  },
  {
    breaks: 'AUT-1/deletion',
    says: 'Everybody may delete.',
    plant: asking((request) => isAnonymous(request) && request.method === 'DELETE' && isRecord(request), asCaller),
  },
  {
    breaks: 'AUT-1/deletion',
    says: 'It asks for the credential once it has deleted.',
    plant: inSecret((request) => isAnonymous(request) && request.method === 'DELETE' && isRecord(request)),
  },
  {
    breaks: 'AUT-1/wrong',
    says: 'It asks whether there is a credential, and not whether it is a good one.',
    plant: asking((request) => isWrong(request) && request.method === 'GET' && !request.path.includes('?'), asCaller),
  },
  {
    breaks: 'AUT-1/wrong-deletion',
    says: 'It asks for DELETE whether there is a credential, and not whether it is a good one.',
    plant: asking((request) => isWrong(request) && request.method === 'DELETE', asCaller),
  },
  {
    breaks: 'AUT-1/altered',
    says: 'It finds keys by their beginning.',
    plant: asking(
      ({ headers }, { key }) =>
        headers['authorization']?.startsWith(`Bearer ${key.slice(0, 12)}`) === true &&
        headers['authorization'].length === `Bearer ${key}`.length,
      asCaller,
    ),
  },
  {
    breaks: 'AUT-1/other-scheme',
    says: 'It takes no notice of the scheme.',
    plant: asking((request, { key }) => says(request, `Basic ${key}`), asCaller),
  },
  {
    breaks: 'AUT-1/no-scheme',
    says: 'It needs no scheme.',
    plant: asking((request, { key }) => says(request, key), asCaller),
  },
  {
    breaks: 'AUT-1/malformed',
    says: 'It takes the first of several credentials.',
    plant: asking((request, { key }) => says(request, `Bearer ${key}, Bearer ${key}`), asCaller),
  },
  {
    breaks: 'AUT-1/malformed',
    says: 'It stumbles over letters that are not ASCII.',
    plant: answering(
      ({ headers }) => /[\x80-\xff]/.test(headers['authorization'] ?? ''),
      (answer) => ({ ...answer, status: 500 }),
    ),
  },
  {
    breaks: 'AUT-1/www-authenticate',
    says: 'A 401 does not say how to sign in.',
    plant: answering(
      ({ method }) => method === 'GET' || method === 'HEAD',
      (answer) => lacking(answer, 'www-authenticate'),
    ),
  },
  {
    breaks: 'AUT-1/challenge',
    says: 'A browser asks for a password.',
    plant: answering(
      ({ method }) => method === 'GET' || method === 'HEAD',
      (answer) =>
        answer.status === 401
          ? { ...answer, headers: { ...answer.headers, 'www-authenticate': 'Basic realm="shop"' } }
          : answer,
    ),
  },
  {
    breaks: 'AUT-1/kept-connection',
    says: 'It knows again who has asked before on a connection.',
    plant(server) {
      const known = new WeakMap<object, string>()
      return (request) => {
        const { authorization = known.get(request.connection), accept } = request.headers
        // What asks for no media type is a request in bytes.
        if (accept !== undefined || authorization === undefined) return server(request)
        known.set(request.connection, authorization)
        return server({ ...request, headers: { ...request.headers, authorization } })
      }
    },
  },
  {
    breaks: 'AUT-1/no-cookie',
    says: 'It begins a session.',
    plant: answering(
      ({ method }) => method === 'GET',
      (answer) => ({ ...answer, headers: { ...answer.headers, 'set-cookie': 'session=1; HttpOnly' } }),
    ),
  },
  {
    breaks: 'AUT-2/unsigned-token',
    says: 'It believes tokens that say of themselves that they are not signed.',
    plant: asking(
      ({ headers }) => headers['authorization']?.startsWith('Bearer eyJhbGciOiJub25lIi') === true,
      asCaller,
    ),
  },
  {
    breaks: 'AUT-3/create',
    says: 'Everybody with a credential may create.',
    plant: othersMay((request) => request.method === 'POST' && isList(request) && !isDiary(request)),
  },
  {
    breaks: 'AUT-3/read',
    says: 'Everybody with a credential may read.',
    plant: othersMay((request) => request.method === 'GET' && isItem(request)),
  },
  {
    breaks: 'AUT-3/update',
    says: 'Everybody with a credential may change.',
    plant: othersMay((request) => request.method === 'PATCH' && isItem(request)),
  },
  { breaks: 'AUT-3/replace', says: 'Everybody with a credential may replace.', plant: othersMay(method('PUT')) },
  {
    breaks: 'AUT-3/delete',
    says: 'Everybody with a credential may delete.',
    plant: othersMay((request) => request.method === 'DELETE' && isItem(request)),
  },
  {
    breaks: 'AUT-3/bulk-delete',
    says: 'Everybody with a credential may delete several at once.',
    plant: othersMay(({ path }) => path.endsWith('/bulk-delete')),
  },
  {
    breaks: 'AUT-3/delete-by-filter',
    says: 'It deletes by a filter, and then asks who that was.',
    plant: (server, keys) => async (request) => {
      const answer = await server(request)
      if (isOther(request, keys) && request.method === 'DELETE' && isList(request))
        await server(asCaller(request, keys))
      return answer
    },
  },
  {
    breaks: 'AUT-3/restore',
    says: 'Everybody with a credential may restore.',
    plant: othersMay(({ path }) => path.endsWith('/restore')),
  },
  {
    breaks: 'AUT-4/create',
    says: 'Who may not create is answered 401.',
    plant: unknownOther((request) => request.method === 'POST' && isList(request)),
  },
  {
    breaks: 'AUT-4/read',
    says: 'Who may not read is answered 401.',
    plant: unknownOther((request) => request.method === 'GET' && isRecord(request)),
  },
  { breaks: 'AUT-4/update', says: 'Who may not change is answered 401.', plant: unknownOther(method('PATCH')) },
  {
    breaks: 'AUT-4/delete',
    says: 'Who may not delete is answered 401.',
    plant: unknownOther((request) => request.method === 'DELETE' && isRecord(request)),
  },
  {
    breaks: 'AUT-4/list',
    says: 'Everybody with a credential sees all of a list.',
    plant: othersMay((request) => request.method === 'GET' && isList(request) && !isDiary(request)),
  },
  {
    breaks: 'AUT-4/list',
    says: 'It counts what the reader of a list may not see.',
    plant: (server, keys) => async (request) => {
      if (!isOther(request, keys) || request.method !== 'GET' || !isList(request) || isDiary(request))
        return server(request)
      return saying(await server(asCaller(request, keys)), (body: { pagination: object }) => ({ ...body, data: [] }))
    },
  },
  ...ownRecordsFaults,
]
