/** Faults of addressing and fields. */
import type { Profile } from '../../../src/checker/profile.ts'
import type { Fault } from '../planted.ts'
import {
  answering,
  answeringJson,
  asking,
  isCollection,
  isNested,
  isRecord,
  objectIn,
  of,
  reading,
  respelled,
  sending,
  withJson,
} from '../plants.ts'

/** A server that calls its drafts otherwise, in as many letters. */
function renamed(name: string): Pick<Fault, 'plant' | 'profile'> {
  return {
    plant(server) {
      const otherwise = respelled(
        (text) => text.replaceAll(`/${name}`, '/drafts'),
        (text) => text.replaceAll('/drafts', `/${name}`),
      )(server)
      // The document is judged by cases of its own.
      return (request) => (request.path.includes('openapi') ? server(request) : otherwise(request))
    },
    profile: (profile: Profile) => ({
      ...profile,
      collections: profile.collections.map((each) => (each.name === 'drafts' ? { ...each, path: `/${name}` } : each)),
    }),
  }
}

/** Texts are written otherwise, where the request is so. */
function written(when: Parameters<typeof answeringJson>[0], from: string | RegExp, to: string): Fault['plant'] {
  return answering((answer, request) =>
    when(request) ? { ...answer, body: answer.body.replaceAll(from, to) } : answer,
  )
}

/** A created record is answered with other members. */
function created(change: (body: Record<string, unknown>) => Record<string, unknown>): Fault['plant'] {
  return answeringJson(of('POST', isCollection), (body) => ('created_at' in body ? change(body) : body))
}

/** Members with which a request is taken although it should not be, and left aside. */
function leaving(method: string, ...names: readonly string[]): Fault['plant'] {
  return asking((request) =>
    request.method !== method
      ? request
      : sending(request, (body) => Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))),
  )
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
const anyUuid = new RegExp(uuid.source, 'gi')
const longAgo = '2001-02-03T04:05:06.789Z'

/** After a change that would set the time of creation, GET tells the time that was sent. */
function settingCreation(method: string): Fault['plant'] {
  const set = new Set<string>()
  return (server) => async (request) => {
    const isMeant = request.method === method && request.body.includes(longAgo)
    if (isMeant) set.add(request.path)
    const answer = await server(
      isMeant
        ? sending(request, ({ created_at: _, ...rest }) => (Object.keys(rest).length === 0 ? {} : rest))
        : request,
    )
    if (request.method !== 'GET' || !set.has(request.path)) return answer
    return withJson(answer, (body) => ({ ...body, created_at: longAgo }))
  }
}

/** Something of it in the document, and where it is asked for, is called otherwise, in as many letters. */
function documented(from: string, to: string): Fault['plant'] {
  return respelled(
    (text) => text.replaceAll(to, from),
    (text) => text.replaceAll(from, to),
  )
}

export const resourcesFaults: readonly Fault[] = [
  { breaks: 'RES-1/lower-case', says: 'A collection begins with a capital.', ...renamed('Drafts') },
  { breaks: 'RES-1/plural', says: 'A collection is named by a singular.', ...renamed('letter') },
  {
    breaks: 'RES-1/nested-name',
    says: 'A nested collection begins with a capital.',
    plant: asking((request) => ({ ...request, path: request.path.replace(/\/Items\b/, '/items') })),
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
    plant: documented('/api-keys', '/api_keys'),
  },
  {
    breaks: 'RES-2/location',
    says: 'Location names another address of the same record.',
    plant: (server) => async (request) => {
      const answer = await server({ ...request, path: request.path.replace('/records/items/', '/items/') })
      const { location = '' } = answer.headers
      return request.method === 'POST' && location.includes('/items/')
        ? { ...answer, headers: { ...answer.headers, location: location.replace('/items/', '/records/items/') } }
        : answer
    },
  },
  {
    breaks: 'RES-2/nested',
    says: 'A nested list holds what belongs to others too.',
    plant: answeringJson(of('GET', isNested), (body) =>
      Array.isArray(body.data) ? { ...body, data: [...body.data, ...body.data] } : body,
    ),
  },
  {
    breaks: 'RES-2/top-level',
    says: 'A nested list has numbers of its own for what it holds.',
    plant: written(of('GET', isNested), /"id":"[0-9a-f]{8}/g, '"id":"00000000'),
  },
  {
    breaks: 'RES-2/shallow',
    says: 'Nested records have an address below their parent too.',
    plant: asking((request) => ({
      ...request,
      path: request.path.replace(/\/shelves\/[^/]+\/items\/(?=[^/]+$)/, '/items/'),
    })),
  },
  {
    breaks: 'RES-2/document',
    says: 'The document has an address of four segments.',
    plant: documented('/content', '/raw/all'),
  },
  { breaks: 'RES-3/names', says: 'A collection is named by what is done with it.', ...renamed('get-xs') },
  {
    breaks: 'RES-3/verbs',
    says: 'There is a path to search, and one to update.',
    plant: asking((request) => ({ ...request, path: request.path.replace(/\/search$/, '') })),
  },
  {
    breaks: 'RES-3/extensions',
    says: 'It takes .json after any name.',
    plant: asking((request) =>
      request.path.includes('openapi') ? request : { ...request, path: request.path.replace(/\.json$/, '') },
    ),
  },
  {
    breaks: 'RES-3/document',
    says: 'The document has a path to publish something.',
    plant: documented('/drafts/{id}/restore', '/drafts/{id}/publish'),
  },
  {
    breaks: 'RES-4/id',
    says: 'The answer to POST lacks the identifier; it is in Location alone.',
    plant: created(({ id: _, ...rest }) => rest),
  },
  {
    breaks: 'RES-4/string',
    says: 'GET of a record tells a number.',
    plant: (server) =>
      written(
        of('GET', isRecord),
        /"id":"[^"]*"/g,
        `"id":1234567890${' '.repeat(28)}`,
      )((request) =>
        server({
          ...request,
          body: request.body.replace('"id":1234567890', `"id":"${request.path.split('/').at(-1)}"`),
        }),
      ),
  },
  {
    breaks: 'RES-4/uuid',
    says: 'Identifiers are in upper case.',
    plant: respelled(
      (text) => text.replaceAll(anyUuid, (id) => id.toLowerCase()),
      (text) => text.replaceAll(uuid, (id) => id.toUpperCase()),
    ),
  },
  {
    breaks: 'RES-4/not-chosen',
    says: 'It takes the identifier that a client sends.',
    plant: (server) => async (request) => {
      const id = request.method === 'POST' && isCollection(request) ? objectIn(request.body)?.id : undefined
      if (id === undefined) return server(request)
      const answer = await server(sending(request, ({ id: _, ...rest }) => rest))
      return withJson(answer, (body) => ({ ...body, id }))
    },
  },
  { breaks: 'RES-4/refused', says: 'It leaves aside an identifier in POST.', plant: leaving('POST', 'id') },
  {
    breaks: 'RES-4/kept',
    says: 'PATCH moves a record to the identifier that is sent.',
    plant(server) {
      const moved = new Set<string>()
      return async (request) => {
        if (request.method === 'PATCH' && objectIn(request.body)?.id !== undefined) {
          moved.add(request.path)
          return server(reading(request))
        }
        if (request.method !== 'GET' || !moved.has(request.path)) return server(request)
        return server({ ...request, path: `${request.path}0` })
      }
    },
  },
  {
    breaks: 'RES-5/created-at',
    says: 'created_at is in the time of the place.',
    plant: created((body) => ({ ...body, created_at: String(body.created_at).replace('Z', '+03:00') })),
  },
  {
    breaks: 'RES-5/milliseconds',
    says: 'created_at has whole seconds.',
    plant: created((body) => ({ ...body, created_at: String(body.created_at).replace(/\.\d+/, '') })),
  },
  {
    breaks: 'RES-5/now',
    says: 'created_at is the beginning of the epoch.',
    plant: created((body) => ({ ...body, created_at: '1970-01-01T00:00:00.000Z' })),
  },
  {
    breaks: 'RES-5/created-kept',
    says: 'created_at is the time of the last change.',
    plant: answeringJson(of('GET', isRecord), (body) =>
      'created_at' in body ? { ...body, created_at: body.updated_at } : body,
    ),
  },
  {
    breaks: 'RES-5/not-set-on-creation',
    says: 'POST takes the time that a client sends.',
    plant: (server) => async (request) => {
      const sent = request.method === 'POST' && isCollection(request) ? objectIn(request.body)?.created_at : undefined
      if (sent === undefined) return server(request)
      const answer = await server(sending(request, ({ created_at: _, ...rest }) => rest))
      return withJson(answer, (body) => ({ ...body, created_at: sent }))
    },
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
    plant: documented('updated_at', 'changed_at'),
  },
  {
    breaks: 'RES-5/updated-moves',
    says: 'updated_at stays what created_at is.',
    plant: written(of('GET', isRecord), /("created_at":("[^"]*").*?"updated_at":)"[^"]*"/g, '$1$2'),
  },
  {
    breaks: 'RES-6/live',
    says: 'The answer to PATCH has the time of the change as deleted_at.',
    plant: answeringJson(of('PATCH', isRecord), (body) => ({ ...body, deleted_at: body.updated_at })),
  },
  {
    breaks: 'RES-6/absent',
    says: 'The answer to PATCH has deleted_at with null.',
    plant: answeringJson(of('PATCH', isRecord), (body) => ({ ...body, deleted_at: null })),
  },
  {
    breaks: 'RES-6/deleted',
    says: 'Lists call the time of a deletion otherwise.',
    plant: written(of('GET', isCollection), '"deleted_at"', '"removed_at"'),
  },
  {
    breaks: 'RES-6/deletion-answer',
    says: 'The answer to a deletion tells its time without the zone.',
    plant: answeringJson(of('DELETE', isRecord), (body) => ({
      ...body,
      deleted_at: String(body.deleted_at).replace('Z', ''),
    })),
  },
  {
    breaks: 'RES-7/records',
    says: 'One member of a record is in kebab-case.',
    plant: documented('long_label', 'long-label'),
  },
  {
    breaks: 'RES-7/lists',
    says: 'The size of a page is written with a capital.',
    plant: written(of('GET', isCollection), '"limit":', '"Limit":'),
  },
  {
    breaks: 'RES-7/errors',
    says: 'The identifier of the request is in camelCase.',
    plant: written(() => true, '"request_id":', '"requestId": '),
  },
  {
    breaks: 'RES-8/created',
    says: 'The answer to POST lacks what has no value.',
    plant: created(({ long_label: _, ...rest }) => rest),
  },
  {
    breaks: 'RES-8/listed',
    says: 'Lists call a member otherwise.',
    plant: written(of('GET', isCollection), '"long_label"', '"label_long"'),
  },
  {
    breaks: 'RES-8/updated',
    says: 'The answer to PATCH lacks a member.',
    plant: answeringJson(of('PATCH', isRecord), ({ long_label: _, ...rest }) => rest),
  },
  {
    breaks: 'RES-8/replaced',
    says: 'The answer to PUT lacks a member.',
    plant: answeringJson(of('PUT', isRecord), ({ long_label: _, ...rest }) => rest),
  },
  {
    breaks: 'RES-8/nested',
    says: 'Nested lists call a member otherwise.',
    plant: written(of('GET', isNested), '"long_label"', '"label_long"'),
  },
  {
    breaks: 'RES-8/restored',
    says: 'The answer to restore lacks a member.',
    plant: answeringJson(
      of('POST', ({ path }) => path.endsWith('/restore')),
      ({ long_label: _, ...rest }) => rest,
    ),
  },
  {
    breaks: 'RES-8/empty',
    says: 'What has no value is left out.',
    plant: written(() => true, '"note":null,', ' '.repeat(12)),
  },
  {
    breaks: 'RES-9/unknown-in-post',
    says: 'POST leaves unknown members aside.',
    plant: leaving('POST', 'unheard_of', 'unheard_too'),
  },
  {
    breaks: 'RES-9/unknown-in-patch',
    says: 'PATCH leaves unknown members aside.',
    plant: leaving('PATCH', 'unheard_of'),
  },
  { breaks: 'RES-9/unknown-in-put', says: 'PUT leaves unknown members aside.', plant: leaving('PUT', 'unheard_of') },
  {
    breaks: 'RES-9/each-unknown',
    says: 'It tells the first unknown member alone.',
    plant: leaving('POST', 'unheard_too'),
  },
  {
    breaks: 'RES-9/prototype',
    says: 'Members with a meaning for JavaScript are lost when the body is read.',
    plant: asking((request) =>
      request.method === 'POST' && request.body.includes('"__proto__"')
        ? sending(request, (body) =>
            Object.fromEntries(Object.entries(body).filter(([name]) => !['__proto__', 'constructor'].includes(name))),
          )
        : request,
    ),
  },
  {
    breaks: 'RES-9/read-only-repeated',
    says: 'PUT takes no id at all.',
    plant: asking((request) =>
      request.method !== 'PUT' || objectIn(request.body)?.id === undefined
        ? request
        : sending(request, (body) => ({ ...body, id: 0 })),
    ),
  },
  {
    breaks: 'RES-9/read-only-changed',
    says: 'PUT leaves another time of creation aside.',
    plant: leaving('PUT', 'created_at'),
  },
  {
    breaks: 'RES-10/slash-after-collection',
    says: 'A slash after a collection makes no difference.',
    plant: asking((request) => ({ ...request, path: request.path.replace(/^(\/v\d+\/[a-z-]+)\/$/, '$1') })),
  },
  {
    breaks: 'RES-10/slash-after-record',
    says: 'A slash after a record makes no difference to GET.',
    plant: asking((request) =>
      request.method === 'GET'
        ? { ...request, path: request.path.replace(/^(\/v\d+\/[a-z-]+\/[0-9a-f-]{36})\/$/, '$1') }
        : request,
    ),
  },
  {
    breaks: 'RES-10/slash-deletes-nothing',
    says: 'A slash after a record makes no difference to DELETE.',
    plant: asking((request) =>
      request.method === 'DELETE' ? { ...request, path: request.path.replace(/\/$/, '') } : request,
    ),
  },
  {
    breaks: 'RES-10/empty-segment',
    says: 'Two slashes are one.',
    plant: asking((request) => ({ ...request, path: request.path.replace(/\/\/+/g, '/') })),
  },
  {
    breaks: 'RES-10/escape',
    says: 'It looks for a record by what cannot be decoded.',
    plant: answering((answer, { path }) =>
      answer.status === 400 && /\/%(?:zz|$|ff|c0)/.test(path) ? { ...answer, status: 404 } : answer,
    ),
  },
]
