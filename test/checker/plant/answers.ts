/** Words for faults: a server that gives other answers. */
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { withJson } from './messages.ts'
import type { Whose } from './requests.ts'
import { isCollection, of } from './which.ts'

/** A change of the answer to a request. */
export type Change = (answer: PlantedAnswer, request: PlantedRequest) => PlantedAnswer

/** A change for which it does not matter what was asked. */
export type Edit = (answer: PlantedAnswer) => PlantedAnswer

/** It answers some requests otherwise. */
export function answering(which: Whose, change: Change): Fault['plant'] {
  return (server, keys) => async (request) => {
    const answer = await server(request)
    return which(request, keys) ? change(answer, request) : answer
  }
}

/** It answers creations otherwise. */
export function creating(change: Edit): Fault['plant'] {
  return answering(of('POST', isCollection), on(201, change))
}

/** A change of answers of one status, or of several. */
export function on(status: number | readonly number[], change: Change): Change {
  return (answer, request) => ([status].flat().includes(answer.status) ? change(answer, request) : answer)
}

/** The same, with another status. */
export function withStatus(status: number): Edit {
  return (answer) => ({ ...answer, status })
}

/** Other JSON, whatever there was, and another status where one is given. */
export function withBody(body: unknown, status?: number): Edit {
  return (answer) => {
    const { headers, ...other } = answerOf(status ?? answer.status, body)
    return { ...other, headers: { ...answer.headers, ...headers } }
  }
}

/** An error in place of what there was. */
export function withProblem(status: number, code = 'NO'): Edit {
  return ({ headers }) => ({
    status,
    headers: { ...headers, 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
    body: JSON.stringify({ type: 'about:blank', title: 'No', status, code, detail: 'No.' }),
  })
}

/** Of several errors the first alone. */
export const withFirstError: Edit = withJson(({ errors, ...body }: { readonly errors?: readonly unknown[] }) => ({
  ...body,
  errors: errors?.slice(0, 1),
}))

/** An answer of the fault's own: JSON, or nothing. */
export function answerOf(status: number, body?: unknown): PlantedAnswer {
  if (body === undefined) return { status, headers: {}, body: '' }
  // How long it is, is counted when it is sent.
  return { status, headers: { 'content-type': 'application/json', 'content-length': '0' }, body: JSON.stringify(body) }
}
