/** Words for faults. */
import type { Fault, Keys, PlantedAnswer, PlantedRequest } from '../planted.ts'

/** Whether a request is one of those that a fault is about. */
export type Which = (request: PlantedRequest, keys: Keys) => boolean

/** The request without a header field, by its lower-case name. */
export function without({ headers, ...request }: PlantedRequest, name: string): PlantedRequest {
  const { [name]: _, ...rest } = headers
  return { ...request, headers: rest }
}

/** The answer without a header field, by its lower-case name. */
export function lacking({ headers, ...answer }: PlantedAnswer, name: string): PlantedAnswer {
  const { [name]: _, ...rest } = headers
  return { ...answer, headers: rest }
}

/** The request as the caller would send it. */
export function asCaller(request: PlantedRequest, { key }: Keys): PlantedRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } }
}

/** Changes some requests on their way. */
export function asking(which: Which, change: (request: PlantedRequest, keys: Keys) => PlantedRequest): Fault['plant'] {
  return (server, keys) => (request) => server(which(request, keys) ? change(request, keys) : request)
}

/** Changes the answers to some requests. */
export function answering(
  which: Which,
  change: (answer: PlantedAnswer, request: PlantedRequest) => PlantedAnswer,
): Fault['plant'] {
  return (server, keys) => async (request) => {
    const answer = await server(request)
    return which(request, keys) ? change(answer, request) : answer
  }
}

/** Changes the JSON of an answer. */
export function saying(answer: PlantedAnswer, change: (body: never) => unknown): PlantedAnswer {
  return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body) as never)) }
}

/** Whether a path, without its query, is that of a collection. */
export function isList({ path }: PlantedRequest): boolean {
  return /^\/v3\/[a-z]+(\?|$)/.test(path) && !path.startsWith('/v3/openapi')
}

/** Whether a path, without its query, is that of a record. */
export function isRecord({ path }: PlantedRequest): boolean {
  return /^\/v3\/[a-z]+\/[0-9a-f-]{36}(\?|$)/.test(path)
}
