/** Words for faults: which requests they are about. */
import type { PlantedRequest } from '../planted.ts'

/** Whether a fault is about a request. */
export type Which = (request: PlantedRequest) => boolean | undefined

/** All of a text, or something in it. */
export type Pattern = string | RegExp

/** Whether a text is such. */
export function fits(text: string, pattern: Pattern): boolean {
  return typeof pattern === 'string' ? text === pattern : pattern.test(text)
}

/** All requests. */
export const always: Which = () => true

/** Those that are each of these. */
export function all(...those: readonly Which[]): Which {
  return (request) => those.every((which) => which(request))
}

/** All others. */
export function not(which: Which): Which {
  return (request) => !which(request)
}

/** Those of a method that are each of these. */
export function of(method: string, ...those: readonly Which[]): Which {
  return all((request) => request.method === method, ...those)
}

/** Those to an address, from the root, with its query. */
export function at(path: Pattern): Which {
  return (request) => fits(request.path, path)
}

/** Those with a body. */
export function sends(body: Pattern): Which {
  return (request) => fits(request.body, body)
}

/** Those with a header field, by its lower-case name; whatever its value unless told otherwise. */
export function has(name: string, value: Pattern = /^/): Which {
  return ({ headers: { [name]: found } }) => found !== undefined && fits(found, value)
}

/** The path of a request without its query. */
export function pathOf({ path }: Pick<PlantedRequest, 'path'>): string {
  return path.split('?')[0] as string
}

export const isRead: Which = ({ method }) => method === 'GET' || method === 'HEAD'
export const isAnonymous = not(has('authorization'))
/** With a credential that nobody has. */
export const isUnknown = has('authorization', /^Bearer x+$/)
/** For a collection at the top level, for one record, and for the list below one. */
export const isCollection = at(/^\/v\d+\/(?!no-such-)[a-z-]+(?:\?|$)/i)
export const isRecord = at(/^\/v\d+\/[a-z-]+\/[0-9a-f-]{36}(?:\?|$)/i)
export const isNested = at(/^\/v\d+\/shelves\/[^/?]+\/items(?:\?|$)/)
export const isRestore = of('POST', at(/\/restore$/))
export const isBulkDeletion = of('POST', at(/\/bulk-delete$/))
export const isDocument = at(/\/openapi\.json$/)
/** For a path that is none, and for a record that never was. */
export const isNowhere = at(/\/no-such-thing(?:\?|$)/)
export const isNoRecord = at(/^\/v\d+\/[a-z]+\/no-such-checked-\w+$/)
