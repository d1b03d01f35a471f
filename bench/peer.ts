/** A server that others made, and what it is asked in place of our requests. */
import type { Request } from './ask.ts'
import type { Server } from './processes.ts'

/** A server that others made, with the same records. */
export interface Peer {
  readonly name: string
  readonly server: Server
  /** The same request in its terms; `undefined`: it has none. */
  translate(request: Request): Request | undefined
}

/** What our requests for cities say, for a translation. */
export interface Asked {
  readonly method: string
  readonly id: string | undefined
  readonly query: URLSearchParams
  /** The fields that are sent. */
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

/** Takes a request apart; `undefined`: it is one that no other server has. */
export function askedOf({ method, path, headers, body }: Request): Asked | undefined {
  if ('If-None-Match' in headers || 'If-Match' in headers) return undefined
  const { pathname, searchParams: query } = new URL(path, 'http://localhost')
  if (query.has('q') || query.has('limit')) return undefined
  return { method, id: pathname.split('/')[3], query, fields: body === undefined ? undefined : JSON.parse(body) }
}
