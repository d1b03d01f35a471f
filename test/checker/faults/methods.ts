/** Faults of methods. */
import type { Fault, PlantedAnswer, PlantedRequest, Server } from '../planted.ts'
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
} from '../plants.ts'

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

/** It loses a member on its way into the database, and answers as if it had not. */
function losing(method: string, name: string): Fault['plant'] {
  return (server) => async (request) => {
    const sent = objectIn(request.body)
    // What a case needs to be there before it begins has a note, and is kept.
    if (request.method !== method || sent?.[name] === undefined || sent.note !== undefined) {
      return server(request)
    }
    const held = method === 'PUT' ? (await before(server, request))[name] : undefined
    const answer = await server(
      sending(request, ({ [name]: _, ...rest }) => (held === undefined ? rest : { ...rest, [name]: held })),
    )
    return withJson(answer, (body) => (name in body ? { ...body, [name]: sent[name] } : body))
  }
}

/** What was never there: for it a request is answered otherwise. */
function forUnmade(method: string, change: (answer: PlantedAnswer) => PlantedAnswer): Fault['plant'] {
  return (server) => {
    const made = new Set<string>()
    return async (request) => {
      const answer = await server(request)
      if (answer.headers.location !== undefined) made.add(answer.headers.location)
      return of(method, isRecord)(request) && answer.status === 404 && !made.has(request.path) ? change(answer) : answer
    }
  }
}

/** It answers some POSTs with Idempotency-Key itself: with an answer that it remembers by a name. */
function remembering(nameOf: (request: PlantedRequest, key: string) => string): Fault['plant'] {
  return (server) => {
    const answers = new Map<string, PlantedAnswer>()
    return async (request) => {
      const key = request.headers['idempotency-key']
      if (key === undefined) return server(request)
      const name = nameOf(request, key)
      const known = answers.get(name)
      if (known !== undefined) return known
      const answer = await server(request)
      if (answer.status === 201) answers.set(name, answer)
      return answer
    }
  }
}

const isJsonPatch = ({ headers }: PlantedRequest) => headers['content-type'] === 'application/json-patch+json'
const unsupportedType: PlantedAnswer = { status: 415, headers: { 'content-type': 'application/json' }, body: '{}' }
const isPostToRecord = of('POST', isRecord)
const prefers = (text: string) => (request: PlantedRequest) => request.headers.prefer === text

export const methodsFaults: readonly Fault[] = [
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
    plant: answering((answer, request) =>
      request.method === 'POST' && answer.status === 201 && answer.headers['preference-applied'] === undefined
        ? { ...answer, status: 200 }
        : answer,
    ),
  },
  {
    breaks: 'MET-2/whole',
    says: 'The answer to POST is written before the record has all its values.',
    plant: answeringJson(of('POST', isCollection), (body) => ('price' in body ? { ...body, price: null } : body)),
  },
  { breaks: 'MET-2/kept', says: 'POST loses the color.', plant: losing('POST', 'color') },
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
      const running = new Map<string, Promise<PlantedAnswer>>()
      return async (request) => {
        const { sku, ...sent } = objectIn(request.body) ?? {}
        const isSubject = of('POST', isCollection)(request) && sku !== undefined
        if (!isSubject || request.headers['idempotency-key'] !== undefined) return server(request)
        const name = JSON.stringify(sent)
        const known = running.get(name)
        if (known !== undefined) return known
        const answer = server(request).finally(() => running.delete(name))
        running.set(name, answer)
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
    plant: knowing('PUT', (body, { sku }) => ({ sku, ...body })),
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
  {
    breaks: 'MET-6/status',
    says: 'A method that an address does not have is answered 404.',
    plant: answering((answer, request) => (isPostToRecord(request) ? { ...answer, status: 404 } : answer)),
  },
  {
    breaks: 'MET-6/allow',
    says: 'A 405 comes without Allow.',
    plant: answering((answer, request) => (isPostToRecord(request) ? without(answer, 'allow') : answer)),
  },
  {
    breaks: 'MET-6/allow-true',
    says: 'Allow of a 405 is the same for all addresses.',
    plant: answering((answer, request) =>
      isPostToRecord(request) ? { ...answer, headers: { ...answer.headers, allow: 'GET, HEAD, POST' } } : answer,
    ),
  },
  {
    breaks: 'MET-7/put',
    says: 'PUT makes a record where there is none.',
    plant: forUnmade('PUT', (answer) => ({ ...answer, status: 201 })),
  },
  {
    breaks: 'MET-7/patch',
    says: 'PATCH of what is not there is a success.',
    plant: forUnmade('PATCH', (answer) => ({ ...answer, status: 204, body: '' })),
  },
  {
    breaks: 'MET-7/delete',
    says: 'DELETE of what is not there is a conflict.',
    plant: forUnmade('DELETE', (answer) => ({ ...answer, status: 409 })),
  },
  {
    breaks: 'MET-8/minimal',
    says: 'PATCH takes no notice of Prefer: return=minimal.',
    plant: asking((request) =>
      request.method === 'PATCH' && prefers('return=minimal')(request) ? without(request, 'prefer') : request,
    ),
  },
  {
    breaks: 'MET-8/applied',
    says: 'It does not say that it gave less back.',
    plant: answering((answer, request) =>
      request.method === 'PATCH' && prefers('return=minimal')(request) ? without(answer, 'preference-applied') : answer,
    ),
  },
  {
    breaks: 'MET-8/minimal-creation',
    says: 'POST takes no notice of Prefer: return=minimal.',
    plant: asking((request) => (of('POST', isCollection)(request) ? without(request, 'prefer') : request)),
  },
  {
    breaks: 'MET-8/representation',
    says: 'It does not say that it gave the record back because it was asked to.',
    plant: answering((answer, request) =>
      request.method === 'PATCH' && prefers('return=representation')(request)
        ? without(answer, 'preference-applied')
        : answer,
    ),
  },
  {
    breaks: 'MET-8/unknown',
    says: 'It refuses preferences that it does not know.',
    plant: asking((request) =>
      request.headers.prefer?.startsWith('x-unheard-of')
        ? { ...request, headers: { ...request.headers, prefer: 'handling=strict, x-unheard-of' } }
        : request,
    ),
  },
  {
    breaks: 'MET-8/strict',
    says: 'It takes no notice of handling=strict.',
    plant: asking((request) =>
      prefers('handling=strict, x-unheard-of=1')(request) ? without(request, 'prefer') : request,
    ),
  },
  {
    breaks: 'MET-9/replay',
    says: 'It takes no notice of Idempotency-Key.',
    plant: asking((request) => without(request, 'idempotency-key')),
  },
  {
    breaks: 'MET-9/same-answer',
    says: 'A repeated POST is answered 200.',
    plant(server) {
      const keys = new Set<string>()
      return async (request) => {
        const key = request.headers['idempotency-key']
        const answer = await server(request)
        if (key === undefined || answer.status !== 201) return answer
        if (keys.has(key)) return { ...answer, status: 200 }
        keys.add(key)
        return answer
      }
    },
  },
  {
    breaks: 'MET-9/other-payload',
    says: 'The first answer comes again whatever the payload.',
    plant: remembering(({ headers }, key) => `${key} ${headers.authorization}`),
  },
  {
    breaks: 'MET-9/other-key',
    says: 'It compares the first characters of keys.',
    plant: asking((request) => {
      const key = request.headers['idempotency-key']
      if (key === undefined) return request
      return {
        ...request,
        headers: { ...request.headers, 'idempotency-key': `${key.slice(0, 40).replaceAll('"', '')}` },
      }
    }),
  },
  {
    breaks: 'MET-9/other-caller',
    says: 'It gives the first answer to whoever has the key.',
    plant: remembering(({ body }, key) => `${key} ${body}`),
  },
  {
    breaks: 'MET-9/at-once',
    says: 'It looks for the key before it creates, and keeps it after.',
    plant(server) {
      const running = new Map<string, number>()
      return async (request) => {
        const key = request.headers['idempotency-key']
        if (key === undefined) return server(request)
        const count = running.get(key) ?? 0
        running.set(key, count + 1)
        if (count === 0) {
          await new Promise((resolve) => setTimeout(resolve, 30))
          return server(request).finally(() => running.delete(key))
        }
        const isSecond = count > 0 && objectIn(request.body)?.sku !== undefined
        return server(
          isSecond
            ? sending(without(request, 'idempotency-key'), (body) => ({ ...body, sku: `${body.sku}${count}` }))
            : request,
        )
      }
    },
  },
  {
    breaks: 'MET-10/query',
    says: 'It does not know QUERY.',
    plant: asking((request) => (request.method === 'QUERY' ? { ...request, method: 'REPORT' } : request)),
  },
  {
    breaks: 'MET-10/filters',
    says: 'QUERY takes no notice of its body.',
    plant: asking((request) => (request.method === 'QUERY' ? { ...request, body: '{}' } : request)),
  },
  {
    breaks: 'MET-10/long',
    says: 'QUERY turns its body into an address.',
    plant: asking((request) =>
      request.method === 'QUERY' && request.body.length > 8_000
        ? { ...reading(request), path: `${request.path}?q=${'x'.repeat(9_000)}` }
        : request,
    ),
  },
]

function emptied(value: unknown): Record<string, null> {
  return Object.fromEntries(Object.keys(value ?? {}).map((name) => [name, null]))
}
