/** Faults of refusals, preferences, repetition and QUERY. */
import { answering, type Edit, withStatus } from '../../plant/answers.ts'
import { jsonOf, withField, withMembers, without } from '../../plant/messages.ts'
import { asking, othersArrive, readOf } from '../../plant/requests.ts'
import { always, has, isCollection, isRecord, of } from '../../plant/which.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../../planted.ts'

const isMinimal = has('prefer', 'return=minimal')

/** What was never there: for it a request is answered otherwise. */
function forUnmade(method: string, change: Edit): Fault['plant'] {
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
function replaying(nameOf: (request: PlantedRequest, key: string) => string): Fault['plant'] {
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

export const mannersFaults: readonly Fault[] = [
  {
    breaks: 'MET-6/status',
    says: 'A method that an address does not have is answered 404.',
    plant: answering(of('POST', isRecord), withStatus(404)),
  },
  {
    breaks: 'MET-6/allow',
    says: 'A 405 comes without Allow.',
    plant: answering(of('POST', isRecord), without('allow')),
  },
  {
    breaks: 'MET-6/allow-true',
    says: 'Allow of a 405 is the same for all addresses.',
    plant: answering(of('POST', isRecord), withField('allow', 'GET, HEAD, POST')),
  },
  {
    breaks: 'MET-7/put',
    says: 'PUT makes a record where there is none.',
    plant: forUnmade('PUT', withStatus(201)),
  },
  {
    breaks: 'MET-7/patch',
    says: 'PATCH of what is not there is a success.',
    plant: forUnmade('PATCH', (answer) => ({ ...answer, status: 204, body: '' })),
  },
  {
    breaks: 'MET-8/minimal',
    says: 'PATCH takes no notice of Prefer: return=minimal.',
    plant: asking(of('PATCH', isMinimal), without('prefer')),
  },
  {
    breaks: 'MET-8/applied',
    says: 'It does not say that it gave less back.',
    plant: answering(of('PATCH', isMinimal), without('preference-applied')),
  },
  {
    breaks: 'MET-8/minimal-creation',
    says: 'POST takes no notice of Prefer: return=minimal.',
    plant: asking(of('POST', isCollection), without('prefer')),
  },
  {
    breaks: 'MET-8/representation',
    says: 'It does not say that it gave the record back because it was asked to.',
    plant: answering(of('PATCH', has('prefer', 'return=representation')), without('preference-applied')),
  },
  {
    breaks: 'MET-8/unknown',
    says: 'It refuses preferences that it does not know.',
    plant: asking(has('prefer', /^x-unheard-of/), withField('prefer', 'handling=strict, x-unheard-of')),
  },
  {
    breaks: 'MET-8/strict',
    says: 'It takes no notice of handling=strict.',
    plant: asking(has('prefer', 'handling=strict, x-unheard-of=1'), without('prefer')),
  },
  {
    breaks: 'MET-9/replay',
    says: 'It takes no notice of Idempotency-Key.',
    plant: asking(always, without('idempotency-key')),
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
    plant: replaying(({ headers }, key) => `${key} ${headers.authorization}`),
  },
  {
    breaks: 'MET-9/other-key',
    says: 'It compares the first characters of keys.',
    plant: asking(
      always,
      withField('idempotency-key', (key) => key.slice(0, 40).replaceAll('"', '')),
    ),
  },
  {
    breaks: 'MET-9/other-caller',
    says: 'It gives the first answer to whoever has the key.',
    plant: replaying(({ body }, key) => `${key} ${body}`),
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
          await othersArrive()
          return server(request).finally(() => running.delete(key))
        }
        const { sku } = jsonOf(request)
        if (sku === undefined) return server(request)
        return server(withMembers({ sku: `${sku}${count}` })(without('idempotency-key')(request)))
      }
    },
  },
  {
    breaks: 'MET-10/query',
    says: 'It does not know QUERY.',
    plant: asking(of('QUERY'), (request) => ({ ...request, method: 'REPORT' })),
  },
  {
    breaks: 'MET-10/filters',
    says: 'QUERY takes no notice of its body.',
    plant: asking(of('QUERY'), (request) => ({ ...request, body: '{}' })),
  },
  {
    breaks: 'MET-10/long',
    says: 'QUERY turns its body into an address.',
    plant: asking(
      of('QUERY', ({ body }) => body.length > 8_000),
      (request) => ({ ...readOf(request), path: `${request.path}?q=${'x'.repeat(9_000)}` }),
    ),
  },
]
