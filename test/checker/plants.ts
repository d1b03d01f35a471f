/** Small changes of which faults are made. */
import type { PlantedAnswer, PlantedRequest, Server } from './planted.ts'

type Plant = (server: Server) => Server
type When = (request: PlantedRequest) => boolean

/** It understands requests otherwise. */
export function asking(change: (request: PlantedRequest) => PlantedRequest): Plant {
  return (server) => (request) => server(change(request))
}

/** It answers otherwise. */
export function answering(change: (answer: PlantedAnswer, request: PlantedRequest) => PlantedAnswer): Plant {
  return (server) => async (request) => change(await server(request), request)
}

/** It answers some requests with other JSON. */
export function answeringJson(
  when: When,
  change: (body: Record<string, unknown>, request: PlantedRequest) => unknown,
): Plant {
  return answering((answer, request) => (when(request) ? withJson(answer, (body) => change(body, request)) : answer))
}

/** It writes some texts otherwise, and understands them so. Of the same length, lest lengths and ranges be a second fault. */
export function respelled(read: (text: string) => string, write: (text: string) => string): Plant {
  return wholly((server) => async (request) => {
    const answer = await server({ ...request, path: read(request.path), body: read(request.body) })
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, write(value)])
    return { ...answer, headers: Object.fromEntries(headers), body: write(answer.body) }
  })
}

/** Parts of an answer are parts of what the fault makes of the whole. */
function wholly(plant: Plant): Plant {
  return (server) => {
    const faulty = plant(server)
    return async (request) => {
      const answer = await faulty(request)
      const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(answer.headers['content-range'] ?? '') ?? []
      if (answer.status !== 206 || request.method !== 'GET' || last === undefined) return answer
      const whole = Buffer.from((await faulty(without(request, 'range'))).body)
      return { ...answer, body: whole.subarray(Number(first), Number(last) + 1).toString() }
    }
  }
}

/** An answer with another JSON body; where it has none, as it is. */
export function withJson(answer: PlantedAnswer, change: (body: Record<string, unknown>) => unknown): PlantedAnswer {
  const body = objectIn(answer.body)
  return body === undefined || answer.status >= 400 ? answer : { ...answer, body: JSON.stringify(change(body)) }
}

/** A request with another JSON body; where it has none, as it is. */
export function sending(
  request: PlantedRequest,
  change: (body: Record<string, unknown>) => Record<string, unknown>,
): PlantedRequest {
  const body = objectIn(request.body)
  return body === undefined ? request : { ...request, body: JSON.stringify(change(body)) }
}

/** The JSON object of a body. */
export function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The same without a header field. */
export function without<T extends { readonly headers: Readonly<Record<string, string>> }>(it: T, name: string): T {
  const { [name]: _, ...headers } = it.headers
  return { ...it, headers }
}

/** What is at the address of a request now. */
export function reading({ path, headers, connection }: PlantedRequest): PlantedRequest {
  return { method: 'GET', path, headers: { authorization: headers.authorization ?? '' }, body: '', connection }
}

const record = /^\/v\d+\/[a-z-]+\/[0-9a-f-]{36}(?:\?|$)/i
const collection = /^\/v\d+\/[a-z-]+(?:\?|$)/i

/** Whether a request is for a record, for a collection at the top level, or for one below a record. */
export const isRecord: When = ({ path }) => record.test(path)
export const isCollection: When = ({ path }) => collection.test(path)
export const isNested: When = ({ path }) => /^\/v\d+\/shelves\/[^/?]+\/items(?:\?|$)/.test(path)

/** Whether a request is of a method, and of a kind. */
export function of(method: string, when: When = () => true): When {
  return (request) => request.method === method && when(request)
}

/** Texts are written otherwise, of the same length, where the request is so. */
export function written(when: When, from: string | RegExp, to: string): Plant {
  return wholly(
    answering((answer, request) => (when(request) ? { ...answer, body: answer.body.replaceAll(from, to) } : answer)),
  )
}

/** A created record is answered with other members. */
export function created(change: (body: Record<string, unknown>) => Record<string, unknown>): Plant {
  return answeringJson(of('POST', isCollection), (body) => ('created_at' in body ? change(body) : body))
}

/** Members with which a request is taken although it should not be, and left aside. */
export function leaving(method: string, ...names: readonly string[]): Plant {
  return asking((request) =>
    request.method !== method
      ? request
      : sending(request, (body) => Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))),
  )
}

/** Something of it in the document, and where it is asked for, is called otherwise, in as many letters. */
export function documented(from: string, to: string): Plant {
  return respelled(
    (text) => text.replaceAll(to, from),
    (text) => text.replaceAll(from, to),
  )
}
