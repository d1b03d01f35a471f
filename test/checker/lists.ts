/** Changes to requests and answers of lists, of which faults are made. */
import type { Fault, PlantedAnswer, PlantedRequest } from './planted.ts'

/** An answer's list, to be changed in place. */
export interface ListBody {
  data: Record<string, unknown>[]
  pagination: Record<string, unknown>
}

/** The parameters of a request of a list; `undefined` where it is none. */
export function listParameters({ method, path }: PlantedRequest): URLSearchParams | undefined {
  const [place = '', query = ''] = path.split('?')
  return method === 'GET' && /^\/v\d+\/[a-z]+$/.test(place) ? new URLSearchParams(query) : undefined
}

/** A fault in how the parameters of lists are understood: they are changed before the server sees them. */
export function asking(change: (parameters: URLSearchParams, request: PlantedRequest) => void): Fault['plant'] {
  return (server) => (request) => server(withParameters(request, change))
}

/** A request of a list, with other parameters; any other as it is. */
export function withParameters(
  request: PlantedRequest,
  change: (parameters: URLSearchParams, request: PlantedRequest) => void,
): PlantedRequest {
  const parameters = listParameters(request)
  if (parameters === undefined) return request
  const before = parameters.toString()
  change(parameters, request)
  // What a fault does not mean keeps its spelling.
  if (parameters.toString() === before) return request
  return { ...request, path: `${request.path.split('?')[0]}?${parameters}` }
}

/** A fault in what lists show: good answers are changed. */
export function showing(change: (list: ListBody, parameters: URLSearchParams) => void): Fault['plant'] {
  return (server) => async (request) => {
    const parameters = listParameters(request)
    const answer = await server(request)
    return parameters === undefined ? answer : withList(answer, (list) => change(list, parameters))
  }
}

/** An answer with another list in it, where it holds one. */
export function withList(answer: PlantedAnswer, change: (list: ListBody) => void): PlantedAnswer {
  if (answer.status !== 200) return answer
  const list = JSON.parse(answer.body) as ListBody
  change(list)
  return { ...answer, body: JSON.stringify(list) }
}

/** A fault in what lists answer, as a whole. */
export function answering(
  change: (answer: PlantedAnswer, parameters: URLSearchParams, request: PlantedRequest) => PlantedAnswer,
): Fault['plant'] {
  return (server) => async (request) => {
    const parameters = listParameters(request)
    const answer = await server(request)
    return parameters === undefined ? answer : change(answer, parameters, request)
  }
}

/** A list as it was found: how many there are, and which. */
export function listIn({ status, body }: PlantedAnswer): ListBody | undefined {
  return status === 200 ? (JSON.parse(body) as ListBody) : undefined
}

/** An error in place of an answer. */
export function failing(status: number, code: string): PlantedAnswer {
  const body = JSON.stringify({ type: 'about:blank', title: code, status, detail: code, code })
  return { status, headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }, body }
}

/** Leaves records out of a list, and out of its total. */
export function leaveOut(list: ListBody, test: (item: Record<string, unknown>) => boolean): void {
  const kept = list.data.filter((item) => !test(item))
  list.pagination['total_count'] = Number(list.pagination['total_count']) - (list.data.length - kept.length)
  list.data = kept
}
