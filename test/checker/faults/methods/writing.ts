/** Faults of what methods do. */
import type { Fault, PlantedAnswer, PlantedRequest, Server } from '../../planted.ts'
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
  sending,
  withJson,
  without,
} from '../../plants.ts'

/** It does what a parameter asks for. */
function obeying(method: string): Fault['plant'] {
  return asking((request) => {
    if (request.method !== method || !request.path.includes('?_method=DELETE')) return request
    return { ...request, method: 'DELETE', path: request.path.replace(/\?.*/, '') }
  })
}

/** The members that a record has before a request. */
async function before(server: Server, request: PlantedRequest): Promise<Record<string, unknown>> {
  return objectIn((await server(reading(request))).body) ?? {}
}

/** A request to a record is understood by what the record holds. */
function knowing(
  method: string,
  change: (body: Record<string, unknown>, held: Record<string, unknown>) => Record<string, unknown>,
): Fault['plant'] {
  return (server) => async (request) => {
    if (!of(method, isRecord)(request) || objectIn(request.body) === undefined) return server(request)
    const held = await before(server, request)
    return server(sending(request, (body) => change(body, held)))
  }
}

/** It answers with the record as it was before. */
function answeringOld(method: string): Fault['plant'] {
  return (server) => async (request) => {
    if (!of(method, isRecord)(request)) return server(request)
    const held = await before(server, request)
    const answer = await server(request)
    return withJson(answer, () => held)
  }
}

/** Whether a body is to be refused: what is said of it is another matter. */
function isMistaken({ price }: Record<string, unknown>): boolean {
  return typeof price === 'string'
}

/** It loses a member on its way into the database, and answers as if it had not. */
function losing(method: string, name: string): Fault['plant'] {
  return (server) => async (request) => {
    const sent = objectIn(request.body)
    if (request.method !== method || sent?.[name] === undefined || isMistaken(sent)) return server(request)
    const held = method === 'PUT' ? (await before(server, request))[name] : undefined
    const answer = await server(
      sending(request, ({ [name]: _, ...rest }) => (held === undefined ? rest : { ...rest, [name]: held })),
    )
    return withJson(answer, (body) => (name in body ? { ...body, [name]: sent[name] } : body))
  }
}

const isJsonPatch = ({ headers }: PlantedRequest) => headers['content-type'] === 'application/json-patch+json'
const unsupportedType: PlantedAnswer = { status: 415, headers: { 'content-type': 'application/json' }, body: '{}' }
export const writingFaults: readonly Fault[] = [
  { breaks: 'MET-1/get', says: 'GET does what the parameter _method says.', plant: obeying('GET') },
  { breaks: 'MET-1/head', says: 'HEAD does what the parameter _method says.', plant: obeying('HEAD') },
  {
    breaks: 'MET-1/override',
    says: 'GET does what X-HTTP-Method-Override says.',
    plant: asking((request) => {
      const method = request.headers['x-http-method-override']
      return request.method === 'GET' && method !== undefined ? { ...request, method } : request
    }),
  },
  {
    breaks: 'MET-1/list',
    says: 'GET with a body creates.',
    plant: asking((request) =>
      request.method === 'GET' && request.path.includes('_method=POST')
        ? { ...request, method: 'POST', path: request.path.replace(/\?.*/, '') }
        : request,
    ),
  },
  {
    breaks: 'MET-2/created',
    says: 'POST is answered 200.',
    plant(server) {
      // What was there before is a matter of deletion.
      const skus = new Set<unknown>()
      return async (request) => {
        const answer = await server(request)
        const isPlain = request.headers.prefer === undefined && request.headers['idempotency-key'] === undefined
        if (request.method !== 'POST' || answer.status !== 201 || !isPlain) return answer
        const sku = objectIn(request.body)?.sku
        const isNew = sku === undefined || !skus.has(sku)
        skus.add(sku)
        return isNew ? { ...answer, status: 200 } : answer
      }
    },
  },
  {
    breaks: 'MET-2/whole',
    says: 'The answer to POST is written before the record has all its values.',
    plant: answeringJson(of('POST', isCollection), (body) => ('note' in body ? { ...body, note: null } : body)),
  },
  { breaks: 'MET-2/kept', says: 'POST loses the note.', plant: losing('POST', 'note') },
  {
    breaks: 'MET-2/location',
    says: 'The answer to POST has no Location.',
    plant: answering((answer, { method, headers }) =>
      method === 'POST' && answer.status === 201 && headers.prefer === undefined ? without(answer, 'location') : answer,
    ),
  },
  {
    breaks: 'MET-2/location-leads',
    says: 'Location names the host that the server has within its own network.',
    plant: answering((answer) =>
      answer.headers.location?.startsWith('/v3/items/') === true
        ? { ...answer, headers: { ...answer.headers, location: `http://127.0.0.1:9${answer.headers.location}` } }
        : answer,
    ),
  },
  {
    breaks: 'MET-2/again',
    says: 'Two POSTs alike that come at once are taken for one.',
    plant(server) {
      const waiting = new Map<string, unknown[]>()
      const first = new Map<string, Promise<PlantedAnswer>>()
      return async (request) => {
        const { sku, ...sent } = objectIn(request.body) ?? {}
        const isSubject = of('POST', isCollection)(request) && sku !== undefined
        if (!isSubject || request.headers['idempotency-key'] !== undefined) return server(request)
        const name = JSON.stringify(sent)
        const skus = waiting.get(name) ?? []
        waiting.set(name, skus)
        skus.push(sku)
        await new Promise((resolve) => setTimeout(resolve, 20))
        waiting.delete(name)
        if (skus.length !== 2 || new Set(skus).size !== 2) return server(request)
        const known = first.get(name)
        if (known !== undefined) return known
        const answer = server(request).finally(() => first.delete(name))
        first.set(name, answer)
        return answer
      }
    },
  },
  {
    breaks: 'MET-2/nested',
    says: 'Nested collections take no POST.',
    plant: (server) => (request) =>
      of('POST', isNested)(request) ? server({ ...request, path: `${request.path}/none` }) : server(request),
  },
  {
    breaks: 'MET-3/status',
    says: 'PUT is answered 201, although nothing was created.',
    plant: answering((answer, request) =>
      of('PUT', isRecord)(request) && answer.status === 200 ? { ...answer, status: 201 } : answer,
    ),
  },
  { breaks: 'MET-3/answer', says: 'PUT answers with what was there before.', plant: answeringOld('PUT') },
  { breaks: 'MET-3/kept', says: 'PUT loses the price.', plant: losing('PUT', 'price') },
  {
    breaks: 'MET-3/clears',
    says: 'PUT leaves as it is what it does not get.',
    plant: knowing('PUT', (body, { color }) => ({ color, ...body })),
  },
  {
    breaks: 'MET-3/required',
    says: 'PUT takes what a record must have from the one that is there.',
    plant: knowing('PUT', (body, { sku }) => (isMistaken(body) ? body : { sku, ...body })),
  },
  {
    breaks: 'MET-3/twice',
    says: 'PUT sent again adds to the price.',
    plant(server) {
      const last = new Map<string, string>()
      return (request) => {
        if (!of('PUT', isRecord)(request)) return server(request)
        const isAgain = last.get(request.path) === request.body
        last.set(request.path, request.body)
        return server(isAgain ? sending(request, (body) => ({ ...body, price: Number(body.price) + 1 })) : request)
      }
    },
  },
  {
    breaks: 'MET-4/status',
    says: 'PATCH is answered 202, although it is done.',
    plant: answering((answer, request) =>
      of('PATCH', isRecord)(request) && answer.status === 200 && request.headers.prefer === undefined
        ? { ...answer, status: 202 }
        : answer,
    ),
  },
  { breaks: 'MET-4/answer', says: 'PATCH answers with what was there before.', plant: answeringOld('PATCH') },
  { breaks: 'MET-4/kept', says: 'PATCH loses the price.', plant: losing('PATCH', 'price') },
  {
    breaks: 'MET-4/others',
    says: 'PATCH clears the note where it does not get it.',
    plant: asking((request) =>
      of('PATCH', isRecord)(request) && objectIn(request.body)?.price !== undefined
        ? sending(request, (body) => ({ note: null, ...body }))
        : request,
    ),
  },
  {
    breaks: 'MET-4/merge-patch',
    says: 'PATCH does not know application/merge-patch+json.',
    plant: (server) => async (request) =>
      request.headers['content-type'] === 'application/merge-patch+json' ? unsupportedType : server(request),
  },
  {
    breaks: 'MET-4/null',
    says: 'PATCH takes null for what was not sent.',
    plant: asking((request) =>
      request.method === 'PATCH'
        ? sending(request, (body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)))
        : request,
    ),
  },
  {
    breaks: 'MET-4/nested',
    says: 'PATCH puts an object in place of the old one.',
    plant: knowing('PATCH', (body, { size }) =>
      body.size === undefined ? body : { ...body, size: { ...emptied(size), ...(body.size as object) } },
    ),
  },
  {
    breaks: 'MET-4/json-patch',
    says: 'PATCH does not know application/json-patch+json.',
    plant: (server) => async (request) => (isJsonPatch(request) ? unsupportedType : server(request)),
  },
  {
    breaks: 'MET-4/json-patch-test',
    says: 'A JSON Patch is carried out as far as it goes.',
    plant: (server) => async (request) => {
      if (!isJsonPatch(request) || !request.body.includes('"test"')) return server(request)
      const [first] = JSON.parse(request.body)
      await server({ ...without(request, 'content-length'), body: JSON.stringify([first]) })
      return server(request)
    },
  },
  {
    breaks: 'MET-5/no-other',
    says: 'DELETE takes a list of identifiers in its body.',
    plant: (server) => async (request) => {
      const ids = request.method === 'DELETE' ? objectIn(request.body)?.ids : undefined
      for (const id of Array.isArray(ids) ? ids : []) {
        const path = request.path.replace(/[^/]+$/, String(id))
        await server({ ...reading(request), method: 'DELETE', path })
      }
      return server(request)
    },
  },
]

function emptied(value: unknown): Record<string, null> {
  return Object.fromEntries(Object.keys(value ?? {}).map((name) => [name, null]))
}
