/** Faults of who, and what they may do. */
import { answering, on, withStatus } from '../plant/answers.ts'
import { isList, withData } from '../plant/lists.ts'
import { withField, without } from '../plant/messages.ts'
import { asCaller, asking, type Whose } from '../plant/requests.ts'
import {
  all,
  at,
  has,
  isAnonymous,
  isBulkDeletion,
  isCollection,
  isRead,
  isRecord,
  isRestore,
  isUnknown,
  not,
  of,
  type Which,
} from '../plant/which.ts'
import type { Fault } from '../planted.ts'
import { isDiary, ofOther, othersMay, ownRecordsFaults } from './own-records.ts'

const hasQuery = at(/\?/)
const isItem = all(at(/^\/v3\/items\//), isRecord)
const isSharedList = all(isList, not(isDiary))

/** Does it as the caller would, and answers as it should. */
function inSecret(which: Whose): Fault['plant'] {
  return (server, keys) => async (request) => {
    const answer = await server(request)
    if (which(request, keys)) await server(asCaller(request, keys))
    return answer
  }
}

/** It takes the other caller for nobody. */
function unknownOther(which: Which): Fault['plant'] {
  return asking(ofOther(all(which, not(isDiary))), without('authorization'))
}

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
    plant: asking(has('authorization', /^bearer /), without('authorization')),
  },
  {
    breaks: 'AUT-1/list',
    says: 'Lists are open to all.',
    plant: asking(all(isList, isAnonymous, not(hasQuery)), asCaller),
  },
  {
    breaks: 'AUT-1/record',
    says: 'Records are open to all.',
    plant: asking(of('GET', isAnonymous, isRecord), asCaller),
  },
  {
    breaks: 'AUT-1/creation',
    says: 'Everybody may create.',
    also: ['MET-9/other-caller'],
    plant: asking(of('POST', isAnonymous, isCollection), asCaller),
  },
  {
    breaks: 'AUT-1/altered-creation',
    says: 'It finds keys by their beginning where records are created.',
    plant: asking(
      (request, { key }) =>
        of('POST', isCollection)(request) &&
        request.headers['authorization']?.startsWith(`Bearer ${key.slice(0, 12)}`) === true &&
        request.headers['authorization'] !== `Bearer ${key}`,
      asCaller,
    ),
  },
  {
    breaks: 'AUT-1/creation-without-effect',
    says: 'It asks for the credential once it has created.',
    plant: inSecret(of('POST', isAnonymous, isCollection)),
  },
  {
    breaks: 'AUT-1/change',
    says: 'Everybody may change.',
    plant: asking(of('PATCH', isAnonymous), asCaller),
  },
  {
    breaks: 'AUT-1/deletion',
    says: 'Everybody may delete.',
    plant: asking(of('DELETE', isAnonymous, isRecord), asCaller),
  },
  {
    breaks: 'AUT-1/deletion',
    says: 'It asks for the credential once it has deleted.',
    plant: inSecret(of('DELETE', isAnonymous, isRecord)),
  },
  {
    breaks: 'AUT-1/wrong',
    says: 'It asks whether there is a credential, and not whether it is a good one.',
    plant: asking(of('GET', isUnknown, not(hasQuery)), asCaller),
  },
  {
    breaks: 'AUT-1/wrong-status',
    says: 'It takes a credential that is none for one without permission.',
    plant: answering(of('GET', isUnknown, not(hasQuery)), withStatus(403)),
  },
  {
    breaks: 'AUT-1/wrong-deletion',
    says: 'It asks for DELETE whether there is a credential, and not whether it is a good one.',
    plant: asking(of('DELETE', isUnknown), asCaller),
  },
  {
    breaks: 'AUT-1/altered',
    says: 'It finds keys by their beginning.',
    plant: asking(
      ({ method, headers }, { key }) =>
        method === 'GET' &&
        headers['authorization']?.startsWith(`Bearer ${key.slice(0, 12)}`) === true &&
        headers['authorization'].length === `Bearer ${key}`.length,
      asCaller,
    ),
  },
  {
    breaks: 'AUT-1/other-scheme',
    says: 'It takes no notice of the scheme.',
    plant: asking((request, { key }) => has('authorization', `Basic ${key}`)(request), asCaller),
  },
  {
    breaks: 'AUT-1/no-scheme',
    says: 'It needs no scheme.',
    plant: asking((request, { key }) => has('authorization', key)(request), asCaller),
  },
  {
    breaks: 'AUT-1/malformed',
    says: 'It takes the first of several credentials.',
    plant: asking((request, { key }) => has('authorization', `Bearer ${key}, Bearer ${key}`)(request), asCaller),
  },
  {
    breaks: 'AUT-1/malformed',
    says: 'It stumbles over letters that are not ASCII.',
    plant: answering(has('authorization', /[\x80-\xff]/), withStatus(500)),
  },
  {
    breaks: 'AUT-1/www-authenticate',
    says: 'A 401 does not say how to sign in.',
    plant: answering(isRead, without('www-authenticate')),
  },
  {
    breaks: 'AUT-1/creation-challenge',
    says: 'Lists are open to all, and a 401 does not say how to sign in.',
    also: ['AUT-1/list'],
    plant: (server, keys) => {
      const open = asking(all(isList, isAnonymous, not(hasQuery)), asCaller)(server, keys)
      return answering(of('POST', isCollection), without('www-authenticate'))(open, keys)
    },
  },
  {
    breaks: 'AUT-1/challenge',
    says: 'A browser asks for a password.',
    plant: answering(isRead, on(401, withField('www-authenticate', 'Basic realm="shop"'))),
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
    plant: answering(of('GET'), withField('set-cookie', 'session=1; HttpOnly')),
  },
  {
    breaks: 'AUT-2/unsigned-token',
    says: 'It believes tokens that say of themselves that they are not signed.',
    plant: asking(has('authorization', /^Bearer eyJhbGciOiJub25lIi/), asCaller),
  },
  {
    breaks: 'AUT-3/create',
    says: 'Everybody with a credential may create.',
    also: ['MET-9/other-caller'],
    plant: othersMay(of('POST', isCollection, not(isDiary))),
  },
  {
    breaks: 'AUT-3/read',
    says: 'Everybody with a credential may read.',
    plant: othersMay(of('GET', isItem)),
  },
  {
    breaks: 'AUT-3/update',
    says: 'Everybody with a credential may change.',
    plant: othersMay(of('PATCH', isItem)),
  },
  { breaks: 'AUT-3/replace', says: 'Everybody with a credential may replace.', plant: othersMay(of('PUT')) },
  {
    breaks: 'AUT-3/delete',
    says: 'Everybody with a credential may delete.',
    plant: othersMay(of('DELETE', isItem)),
  },
  {
    breaks: 'AUT-3/bulk-delete',
    says: 'Everybody with a credential may delete several at once.',
    plant: othersMay(isBulkDeletion),
  },
  {
    breaks: 'AUT-3/delete-by-filter',
    says: 'It deletes by a filter, and then asks who that was.',
    plant: inSecret(ofOther(of('DELETE', isCollection))),
  },
  {
    breaks: 'AUT-3/restore',
    says: 'Everybody with a credential may restore.',
    plant: othersMay(isRestore),
  },
  {
    breaks: 'AUT-4/create',
    says: 'Who may not create is answered 401.',
    plant: unknownOther(of('POST', isCollection)),
  },
  {
    breaks: 'AUT-4/read',
    says: 'Who may not read is answered 401.',
    also: ['JOB-4/others'],
    plant: unknownOther(of('GET', isRecord)),
  },
  { breaks: 'AUT-4/update', says: 'Who may not change is answered 401.', plant: unknownOther(of('PATCH')) },
  {
    breaks: 'AUT-4/delete',
    says: 'Who may not delete is answered 401.',
    plant: unknownOther(of('DELETE', isRecord)),
  },
  {
    breaks: 'AUT-4/list',
    says: 'Everybody with a credential sees all of a list.',
    also: ['QRY-6/forbidden', 'PAG-5/other-caller', 'JOB-4/not-listed'],
    plant: othersMay(isSharedList),
  },
  {
    breaks: 'AUT-4/list',
    says: 'It counts what the reader of a list may not see.',
    also: ['QRY-6/forbidden'],
    plant: (server, keys) =>
      answering(ofOther(isSharedList), withData([]))(othersMay(isSharedList)(server, keys), keys),
  },
  ...ownRecordsFaults,
]
