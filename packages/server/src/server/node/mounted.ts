/** Requests in a framework (Express, Connect, Fastify): the address that the client sent, and a body that was read. */
import { isWithin } from '../../http/base-path.ts'
import type { NodeRequest } from './pending-request.ts'

/** What frameworks and their middleware add to a request. */
interface FrameworkRequest {
  /** Express: the path of the router, which `url` has no more. */
  readonly baseUrl?: unknown
  /** Express, Connect: the request target as received. */
  readonly originalUrl?: unknown
  readonly body?: unknown
  /** The bytes of the body, as some platforms keep them beside the parsed value. */
  readonly rawBody?: unknown
}

/** The request target that the client sent: a router removes its path from `url`. */
export function urlOf(request: NodeRequest): string {
  const { url = '' } = request
  const { baseUrl, originalUrl } = request as FrameworkRequest
  if (typeof baseUrl === 'string') return baseUrl === '' ? url : baseUrl + url
  return typeof originalUrl === 'string' && originalUrl.endsWith(url) ? originalUrl : url
}

/**
 * The bytes of a body that was read before this handler ran; `undefined`: nothing kept them. A parsed value is not
 * used: JSON.parse() rounds numbers and drops repeated keys, which are errors of the client.
 */
export function keptBody(request: NodeRequest): Uint8Array | undefined {
  const { body, rawBody } = request as FrameworkRequest
  return [rawBody, body].find((each) => each instanceof Uint8Array)
}

/**
 * Says how a body that was read before can be kept. The response has it too: whoever sends the first POST to a program
 * that is being written looks there first, and it says nothing about data.
 */
export const bodyWasRead =
  'The body of the request was read before toNodeHandler() ran, by a parser such as express.json(). Mount the ' +
  'handler before the parser, or keep the bytes: ' +
  'express.json({ verify: (request, _, bytes) => { request.rawBody = bytes } }).'

/** Warns once if a router can never lead to the base path of an application. */
export function mountWatch(basePath: string): (request: NodeRequest) => void {
  let warned = false
  return (request) => {
    const { baseUrl } = request as FrameworkRequest
    if (warned || typeof baseUrl !== 'string' || baseUrl === '') return
    // Routers of Express ignore the case of letters.
    if (isWithin(baseUrl.toLowerCase(), basePath.toLowerCase())) return
    warned = true
    process.emitWarning(
      `toNodeHandler() is mounted at ${JSON.stringify(baseUrl.slice(0, 200))}, and the basePath of the application ` +
        `is ${JSON.stringify(basePath)}: no address can be found. Write the same path in both places.`,
      { code: 'RESOURCED_BASE_PATH' },
    )
  }
}
