/** Words for faults: what a faulty server does to requests before it looks at them, and to its answers. */
import type { Fault, PlantedAnswer, PlantedRequest } from './planted.ts'

/** Which requests a fault is about. */
export type Which = (request: PlantedRequest) => boolean

/** It takes some requests for others. */
export function taking(which: Which, change: (request: PlantedRequest) => PlantedRequest): Fault['plant'] {
  return (server) => (request) => server(which(request) ? change(request) : request)
}

/** It gives other answers to some requests. */
export function giving(
  which: (request: PlantedRequest, answer: PlantedAnswer) => boolean,
  change: (answer: PlantedAnswer, request: PlantedRequest) => PlantedAnswer,
): Fault['plant'] {
  return (server) => async (request) => {
    const answer = await server(request)
    return which(request, answer) ? change(answer, request) : answer
  }
}

/** A message without a field; by its lower-case name. */
export function without<M extends { readonly headers: PlantedRequest['headers'] }>(message: M, name: string): M {
  const { [name]: _, ...headers } = message.headers
  return { ...message, headers }
}

/** A message with a field; by its lower-case name. */
export function having<M extends { readonly headers: PlantedRequest['headers'] }>(
  message: M,
  name: string,
  value: string,
): M {
  return { ...message, headers: { ...message.headers, [name]: value } }
}

/** Another status, and nothing of the answer that was. */
export function refusing(status: number): (answer: PlantedAnswer) => PlantedAnswer {
  return ({ headers }) => ({
    status,
    headers: { ...headers, 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
    body: JSON.stringify({ title: 'No', status, code: 'NO', detail: 'No.' }),
  })
}

/** The path of a request without its query. */
export function pathOf({ path }: Pick<PlantedRequest, 'path'>): string {
  return path.split('?')[0] as string
}

/** Whether a request is about one record: its address ends in an identifier. */
export function isRecord(request: Pick<PlantedRequest, 'path'>): boolean {
  return /^\/v\d\/[a-z-]+\/[0-9a-f-]{36}$/.test(pathOf(request))
}

/** Whether a request is about a path that is none. */
export function isNowhere(request: Pick<PlantedRequest, 'path'>): boolean {
  return pathOf(request).endsWith('/no-such-thing')
}

/** Whether a request is about a collection at the top level. */
export function isCollection(request: Pick<PlantedRequest, 'path'>): boolean {
  return !isNowhere(request) && /^\/v\d\/[a-z-]+$/.test(pathOf(request))
}
