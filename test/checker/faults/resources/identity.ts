/** Faults of addresses, identifiers and times of creation. */
import type { Profile } from '../../../../packages/check/src/profile/profile.ts'
import { answering, creating, on } from '../../plant/answers.ts'
import { withList } from '../../plant/lists.ts'
import { jsonOf, withField, withJson, withMembers, withoutMembers } from '../../plant/messages.ts'
import { addressing, asking, readOf } from '../../plant/requests.ts'
import { naming, spelling, writing } from '../../plant/texts.ts'
import { always, at, isCollection, isDocument, isNested, isRecord, not, of, sends } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

/** A server that calls its drafts otherwise, in as many letters. */
function renamed(name: string): Pick<Fault, 'plant' | 'profile'> {
  return {
    plant(server, keys) {
      const otherwise = spelling(
        (text) => text.replaceAll(`/${name}`, '/drafts'),
        (text) => text.replaceAll('/drafts', `/${name}`),
      )(server, keys)
      // The document, which is not looked at, goes on with the old name.
      return (request) => (isDocument(request) ? server(request) : otherwise(request))
    },
    profile: ({ document: _, ...profile }: Profile) => ({
      ...profile,
      collections: profile.collections.map((each) => (each.name === 'drafts' ? { ...each, path: `/${name}` } : each)),
    }),
  }
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
const anyUuid = new RegExp(uuid.source, 'gi')
const longAgo = '2001-02-03T04:05:06.789Z'

/** After a change that would set the time of creation, GET tells the time that was sent. */
function settingCreation(method: string): Fault['plant'] {
  return (server) => {
    const set = new Set<string>()
    return async (request) => {
      const isMeant = request.method === method && request.body.includes(longAgo)
      if (isMeant) set.add(request.path)
      const answer = await server(isMeant ? withoutMembers('created_at')(request) : request)
      if (request.method !== 'GET' || !set.has(request.path)) return answer
      return on(200, withMembers({ created_at: longAgo }))(answer, request)
    }
  }
}

/** A creation is answered with a member as it was sent, which the record does not get. */
function takingFromPost(name: string): Fault['plant'] {
  return (server) => async (request) => {
    const { [name]: sent } = jsonOf(request)
    if (!of('POST', isCollection)(request) || sent === undefined) return server(request)
    return on(201, withMembers({ [name]: sent }))(await server(withoutMembers(name)(request)), request)
  }
}

export const identityFaults: readonly Fault[] = [
  { breaks: 'RES-1/lower-case', says: 'A collection begins with a capital.', ...renamed('Drafts') },
  { breaks: 'RES-1/plural', says: 'A collection is named by a singular.', ...renamed('letter') },
  {
    breaks: 'RES-1/nested-name',
    says: 'A nested collection begins with a capital.',
    plant: addressing(always, /\/Items\b/, '/items'),
    profile: (profile) => ({
      ...profile,
      collections: profile.collections.map((each) =>
        each.name === 'shelves' ? { ...each, children: { Items: 'items' } } : each,
      ),
    }),
  },
  {
    breaks: 'RES-1/document',
    says: 'Words of an address are joined by underscores.',
    plant: naming('/api-keys', '/api_keys'),
  },
  {
    breaks: 'RES-2/location',
    says: 'Location names another address of the same record.',
    plant: (server, keys) =>
      answering(
        of('POST'),
        withField('location', (path) => path.replace('/items/', '/records/items/')),
      )(addressing(always, '/records/items/', '/items/')(server, keys), keys),
  },
  {
    breaks: 'RES-2/nested',
    says: 'A nested list holds what belongs to others too.',
    plant: answering(
      of('GET', isNested),
      withList(({ data }) => {
        if (data.length === 1) data.push({ ...data[0], id: '01900000-0000-7000-8000-000000000000' })
      }),
    ),
  },
  {
    breaks: 'RES-2/top-level',
    says: 'A nested list has numbers of its own for what it holds.',
    plant(server) {
      // Lists that were asked for before are looked at for what was deleted from them.
      const known = new Set<string>()
      return async (request) => {
        const answer = await server(request)
        if (!of('GET', isNested)(request) || known.has(request.path)) return answer
        known.add(request.path)
        return { ...answer, body: answer.body.replace(/"id":"[0-9a-f]{8}(?=.*"total_count":1[,}])/s, '"id":"00000000') }
      }
    },
  },
  {
    breaks: 'RES-2/shallow',
    says: 'Nested records have an address below their parent too.',
    plant: addressing(always, /\/shelves\/[^/]+\/items\/(?=[^/]+$)/, '/items/'),
  },
  {
    breaks: 'RES-2/document',
    says: 'The document has an address of four segments.',
    plant: naming('/content', '/raw/all'),
  },
  { breaks: 'RES-3/names', says: 'A collection is named by what is done with it.', ...renamed('get-xs') },
  {
    breaks: 'RES-3/verbs',
    says: 'There is a path to search, and one to update.',
    plant: addressing(always, /\/search$/, ''),
  },
  {
    breaks: 'RES-3/extensions',
    says: 'It takes .json after any name.',
    plant: addressing(not(isDocument), /\.json$/, ''),
  },
  {
    breaks: 'RES-3/document',
    says: 'The document has a path to publish something.',
    plant: naming('/drafts/{id}/restore', '/drafts/{id}/publish'),
  },
  {
    breaks: 'RES-4/id',
    says: 'The answer to POST lacks the identifier; it is in Location alone.',
    plant: creating(withoutMembers('id')),
  },
  {
    breaks: 'RES-4/string',
    says: 'GET of a record tells a number.',
    plant: (server, keys) =>
      writing(
        of('GET', isRecord, at(/^\/v3\//)),
        /"id":"[^"]*"/g,
        `"id":1234567890${' '.repeat(28)}`,
      )(
        asking(sends(/"id":1234567890/), (request) => withMembers({ id: request.path.split('/').at(-1) })(request))(
          server,
          keys,
        ),
        keys,
      ),
  },
  {
    breaks: 'RES-4/uuid',
    says: 'Identifiers are in upper case.',
    plant: spelling(
      (text) => text.replaceAll(anyUuid, (id) => id.toLowerCase()),
      (text) => text.replaceAll(uuid, (id) => id.toUpperCase()),
    ),
  },
  {
    breaks: 'RES-4/not-chosen',
    says: 'It takes the identifier that a client sends.',
    plant: takingFromPost('id'),
  },
  {
    breaks: 'RES-4/refused',
    says: 'It leaves aside an identifier in POST.',
    plant: asking(of('POST'), withoutMembers('id')),
  },
  {
    breaks: 'RES-4/kept',
    says: 'PATCH moves a record to the identifier that is sent.',
    plant(server) {
      const moved = new Set<string>()
      return async (request) => {
        if (request.method === 'PATCH' && 'id' in jsonOf(request)) {
          moved.add(request.path)
          return server(readOf(request))
        }
        if (request.method !== 'GET' || !moved.has(request.path)) return server(request)
        return server({ ...request, path: `${request.path}0` })
      }
    },
  },
  {
    breaks: 'RES-5/created-at',
    says: 'created_at is in the time of the place.',
    plant: creating(
      withJson((body) => {
        const there = new Date(Date.parse(String(body['created_at'])) + 3 * 3_600_000)
        return { ...body, created_at: there.toISOString().replace('Z', '+03:00') }
      }),
    ),
  },
  {
    breaks: 'RES-5/milliseconds',
    says: 'created_at has whole seconds.',
    plant: creating(withJson((body) => ({ ...body, created_at: String(body['created_at']).replace(/\.\d+/, '') }))),
  },
  {
    breaks: 'RES-5/now',
    says: 'created_at is the beginning of the epoch.',
    plant: creating(withMembers({ created_at: '1970-01-01T00:00:00.000Z' })),
  },
  {
    breaks: 'RES-5/created-kept',
    says: 'created_at is the time of the last change.',
    plant: writing(
      of('GET', isRecord, at(/\/items\//)),
      /("created_at":)"[^"]*"(.*?"updated_at":)("[^"]*")/g,
      '$1$3$2$3',
    ),
  },
  {
    breaks: 'RES-5/not-set-on-creation',
    says: 'POST takes the time that a client sends.',
    plant: takingFromPost('created_at'),
  },
  {
    breaks: 'RES-5/not-set-by-patch',
    says: 'PATCH takes the time that a client sends.',
    plant: settingCreation('PATCH'),
  },
  { breaks: 'RES-5/not-set-by-put', says: 'PUT takes the time that a client sends.', plant: settingCreation('PUT') },
  {
    breaks: 'RES-5/updated-at',
    says: 'It calls the time of the last change otherwise.',
    plant: naming('updated_at', 'changed_at'),
  },
  {
    breaks: 'RES-5/updated-moves',
    says: 'updated_at stays what created_at is.',
    plant: writing(of('GET', isRecord), /("created_at":("[^"]*").*?"updated_at":)"[^"]*"/g, '$1$2'),
  },
]
