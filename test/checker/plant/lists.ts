/** Words for faults: a server that understands the parameters of lists otherwise, or shows other lists. */
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { answering, type Change, type Edit } from './answers.ts'
import { jsonOf, type Members } from './messages.ts'
import { asking } from './requests.ts'
import { always, fits, isCollection, of, type Pattern, pathOf, type Which } from './which.ts'

/** An answer's list, to be changed in place. */
export interface List {
  data: Record<string, unknown>[]
  pagination: Record<string, unknown>
}

/** Whether a request is for a list at the top level. */
export const isList = of('GET', isCollection)

/** The parameters of a request for a list; `undefined` where it is none. */
export function parametersOf(request: PlantedRequest): URLSearchParams | undefined {
  return isList(request) ? new URLSearchParams(request.path.split('?')[1]) : undefined
}

/** Requests for lists with a parameter. */
export function asks(name: string, value: Pattern): Which {
  return (request) => {
    const found = parametersOf(request)?.get(name)
    return typeof found === 'string' && fits(found, value)
  }
}

/** It understands lists as if they were asked for by other parameters. */
export function listing(change: (parameters: URLSearchParams, request: PlantedRequest) => void): Fault['plant'] {
  return asking(always, withParameters(change))
}

/** It takes a value of a parameter for another, or takes no notice of it. */
export function taking(name: Pattern, value: Pattern = /^/, other?: string): Fault['plant'] {
  return listing((parameters) => {
    for (const [each, found] of [...parameters]) {
      if (!fits(each, name) || !fits(found, value)) continue
      if (other === undefined) parameters.delete(each)
      else parameters.set(each, other)
    }
  })
}

/** A request for a list, with other parameters; any other as it is. */
export function withParameters(
  change: (parameters: URLSearchParams, request: PlantedRequest) => void,
): (request: PlantedRequest) => PlantedRequest {
  return (request) => {
    const parameters = parametersOf(request)
    if (parameters === undefined) return request
    const before = parameters.toString()
    change(parameters, request)
    // What a fault does not mean keeps its spelling.
    if (parameters.toString() === before) return request
    return { ...request, path: `${pathOf(request)}?${parameters}` }
  }
}

/** It shows other lists. */
export function showing(change: (list: List, parameters: URLSearchParams) => void): Fault['plant'] {
  return answering(isList, (answer, request) =>
    withList((list) => change(list, parametersOf(request) ?? new URLSearchParams()))(answer),
  )
}

/** The list that an answer holds. */
export function listIn(answer: PlantedAnswer): List | undefined {
  const list = jsonOf(answer)
  return answer.status === 200 && Array.isArray(list['data']) ? (list as unknown as List) : undefined
}

/** The same list, changed in place; any other answer as it is. */
export function withList(change: (list: List) => void): Edit {
  return (answer) => {
    const list = listIn(answer)
    if (list === undefined) return answer
    change(list)
    return { ...answer, body: JSON.stringify(list) }
  }
}

/** A list of other records. */
export function withData(data: readonly Members[]): Edit {
  return withList((list) => {
    list.data = [...data]
  })
}

/** A list with some records more. */
export function withMore(data: readonly Members[]): Edit {
  return withList((list) => {
    list.data.push(...data)
  })
}

/** A change of lists that hold nothing. */
export function onEmpty(change: Change): Change {
  return (answer, request) => (listIn(answer)?.data.length === 0 ? change(answer, request) : answer)
}
