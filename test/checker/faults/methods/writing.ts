/** Faults of what methods do. */
import { answering, on, withBody, withStatus } from '../../plant/answers.ts'
import { remembering } from '../../plant/memory.ts'
import { jsonOf, type Members, withField, withJson, withMembers, without } from '../../plant/messages.ts'
import { addressing, asking, othersArrive, readOf } from '../../plant/requests.ts'
import { all, always, at, has, isCollection, isNested, isRecord, not, of, pathOf, sends } from '../../plant/which.ts'
import type { Fault, PlantedAnswer } from '../../planted.ts'

/** It does what a parameter asks for. */
function obeying(method: string, other: string): Fault['plant'] {
  return asking(of(method, at(new RegExp(`_method=${other}`))), (request) => ({
    ...request,
    method: other,
    path: pathOf(request),
  }))
}

/** A request to a record is understood by what the record holds. */
function knowing(method: string, change: (body: Members, held: Members) => Members): Fault['plant'] {
  return (server) => async (request) => {
    if (!of(method, isRecord)(request)) return server(request)
    const held = jsonOf(await server(readOf(request)))
    return server(withJson((body) => change(body, held))(request))
  }
}

/** It answers with the record as it was before. */
function answeringOld(method: string): Fault['plant'] {
  return (server) => async (request) => {
    if (!of(method, isRecord)(request)) return server(request)
    const held = jsonOf(await server(readOf(request)))
    return on(200, withBody(held))(await server(request), request)
  }
}

/** Whether a body is to be refused: what is said of it is another matter. */
function isMistaken({ price }: Members): boolean {
  return typeof price === 'string'
}

/** It loses a member on its way into the database, and answers as if it had not. */
function losing(method: string, name: string): Fault['plant'] {
  return (server) => async (request) => {
    const { [name]: sent, ...rest } = jsonOf(request)
    if (request.method !== method || sent === undefined || isMistaken(jsonOf(request))) return server(request)
    const held = method === 'PUT' ? jsonOf(await server(readOf(request)))[name] : undefined
    const answer = await server(withJson(() => (held === undefined ? rest : { ...rest, [name]: held }))(request))
    return withJson((body) => (name in body ? { ...body, [name]: sent } : body))(answer)
  }
}

const isJsonPatch = has('content-type', 'application/json-patch+json')
const unheardOf = 'application/x-unheard-of'

export const writingFaults: readonly Fault[] = [
  {
    breaks: 'MET-1/get',
    says: 'GET does what the parameter _method says.',
    plant: obeying('GET', 'DELETE'),
  },
  {
    breaks: 'MET-1/head',
    says: 'HEAD does what the parameter _method says.',
    plant: obeying('HEAD', 'DELETE'),
  },
  {
    breaks: 'MET-1/override',
    says: 'GET does what X-HTTP-Method-Override says.',
    plant: asking(of('GET', has('x-http-method-override')), (request) => ({
      ...request,
      method: request.headers['x-http-method-override'] ?? '',
    })),
  },
  {
    breaks: 'MET-1/list',
    says: 'GET with a body creates.',
    plant: obeying('GET', 'POST'),
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
        const sku = jsonOf(request)['sku']
        const isNew = sku === undefined || !skus.has(sku)
        skus.add(sku)
        return isNew ? { ...answer, status: 200 } : answer
      }
    },
  },
  {
    breaks: 'MET-2/whole',
    says: 'The answer to POST is written before the record has all its values.',
    plant: answering(
      of('POST', isCollection),
      withJson((body) => ('note' in body ? { ...body, note: null } : body)),
    ),
  },
  { breaks: 'MET-2/kept', says: 'POST loses the note.', plant: losing('POST', 'note') },
  {
    breaks: 'MET-2/location',
    says: 'The answer to POST has no Location.',
    plant: answering(of('POST', not(has('prefer'))), on(201, without('location'))),
  },
  {
    breaks: 'MET-2/location-leads',
    says: 'Location names the host that the server has within its own network.',
    plant: answering(
      always,
      withField('location', (path) => path.replace(/^(?=\/v3\/items\/)/, 'http://127.0.0.1:9')),
    ),
  },
  {
    breaks: 'MET-2/again',
    says: 'Two POSTs alike that come at once are taken for one.',
    plant(server) {
      const waiting = new Map<string, { readonly skus: unknown[]; answer?: Promise<PlantedAnswer> }>()
      return async (request) => {
        const { sku, ...sent } = jsonOf(request)
        const isSubject = of('POST', isCollection)(request) && sku !== undefined
        if (!isSubject || request.headers['idempotency-key'] !== undefined) return server(request)
        const name = JSON.stringify(sent)
        const alike = waiting.get(name) ?? { skus: [] }
        waiting.set(name, alike)
        alike.skus.push(sku)
        await othersArrive()
        if (waiting.get(name) === alike) waiting.delete(name)
        if (alike.skus.length !== 2 || new Set(alike.skus).size !== 2) return server(request)
        // The first may be answered before the second has waited.
        alike.answer ??= server(request)
        return alike.answer
      }
    },
  },
  {
    breaks: 'MET-2/nested',
    says: 'Nested collections take no POST.',
    plant: addressing(of('POST', isNested), /$/, '/none'),
  },
  {
    breaks: 'MET-3/status',
    says: 'PUT is answered 201, although nothing was created.',
    plant: answering(of('PUT', isRecord), on(200, withStatus(201))),
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
    plant: remembering(() => {
      const last = new Map<string, string>()
      return asking(of('PUT', isRecord), (request) => {
        const isAgain = last.get(request.path) === request.body
        last.set(request.path, request.body)
        return isAgain ? withMembers({ price: Number(jsonOf(request)['price']) + 1 })(request) : request
      })
    }),
  },
  {
    breaks: 'MET-4/status',
    says: 'PATCH is answered 202, although it is done.',
    plant: answering(of('PATCH', isRecord, not(has('prefer'))), on(200, withStatus(202))),
  },
  { breaks: 'MET-4/answer', says: 'PATCH answers with what was there before.', plant: answeringOld('PATCH') },
  { breaks: 'MET-4/kept', says: 'PATCH loses the price.', plant: losing('PATCH', 'price') },
  {
    breaks: 'MET-4/others',
    says: 'PATCH clears the note where it does not get it.',
    plant: asking(
      of('PATCH', isRecord),
      withJson((body) => ('price' in body ? { note: null, ...body } : body)),
    ),
  },
  {
    breaks: 'MET-4/merge-patch',
    says: 'PATCH does not know application/merge-patch+json.',
    plant: asking(has('content-type', 'application/merge-patch+json'), withField('content-type', unheardOf)),
  },
  {
    breaks: 'MET-4/null',
    says: 'PATCH takes null for what was not sent.',
    plant: asking(
      of('PATCH'),
      withJson((body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))),
    ),
  },
  {
    breaks: 'MET-4/nested',
    says: 'PATCH puts an object in place of the old one.',
    plant: knowing('PATCH', (body, { size }) =>
      body['size'] === undefined ? body : { ...body, size: { ...emptied(size), ...(body['size'] as object) } },
    ),
  },
  {
    breaks: 'MET-4/json-patch',
    says: 'PATCH does not know application/json-patch+json.',
    plant: asking(isJsonPatch, withField('content-type', unheardOf)),
  },
  {
    breaks: 'MET-4/json-patch-test',
    says: 'A JSON Patch is carried out as far as it goes.',
    plant: (server) => async (request) => {
      if (!all(isJsonPatch, sends(/"test"/))(request)) return server(request)
      const [first] = JSON.parse(request.body)
      await server({ ...request, body: JSON.stringify([first]) })
      return server(request)
    },
  },
  {
    breaks: 'MET-5/no-other',
    says: 'DELETE takes a list of identifiers in its body.',
    plant: (server) => async (request) => {
      const ids = request.method === 'DELETE' ? jsonOf(request)['ids'] : undefined
      for (const id of Array.isArray(ids) ? ids : []) {
        const path = request.path.replace(/[^/]+$/, String(id))
        await server({ ...readOf(request), method: 'DELETE', path })
      }
      return server(request)
    },
  },
]

function emptied(value: unknown): Record<string, null> {
  return Object.fromEntries(Object.keys(value ?? {}).map((name) => [name, null]))
}
