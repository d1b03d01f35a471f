/** Faults of refusals, preferences, repetition and QUERY. */
import type { Fault, PlantedAnswer, PlantedRequest, Server } from '../../planted.ts'
import { answering, asking, isCollection, isRecord, objectIn, of, reading, sending, without } from '../../plants.ts'

/** The members that a record has before a request. */
async function _before(server: Server, request: PlantedRequest): Promise<Record<string, unknown>> {
  return objectIn((await server(reading(request))).body) ?? {}
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

const _unsupportedType: PlantedAnswer = { status: 415, headers: { 'content-type': 'application/json' }, body: '{}' }
const isPostToRecord = of('POST', isRecord)
const prefers = (text: string) => (request: PlantedRequest) => request.headers.prefer === text

export const mannersFaults: readonly Fault[] = [
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
