/** Makes the client that calls an interface by HTTP. */
import { type Client, makeClient } from './client.ts'
import { conditionalReads } from './conditional-reads.ts'
import type { OnConflict } from './conflicts.ts'
import { type FetchOptions, fetchSend } from './fetch-send.ts'
import type { TypesOf, UntypedInterface } from './interface-types.ts'
import { type RetryOptions, retrying } from './retrying.ts'
import type { ClientRequest, Send } from './send.ts'

/** A credential, or a function that returns the current one. After a 401 it receives the one that was refused. */
export type Key = string | ((refused?: string) => string | undefined | Promise<string | undefined>)

/** Where the interface is, who calls, and how requests are repeated. */
export interface ClientOptions extends FetchOptions {
  /** The API key or token; a function returns the current one, for tokens that expire. By default none is sent. */
  readonly key?: Key | undefined
  /** How requests are repeated; `false`: not at all. */
  readonly retry?: RetryOptions | false
  /** The number of responses that conditional reads keep; 100 by default, 0 for none. */
  readonly cache?: number
  /** Resolves conflicts of all changes; see `ChangeOptions`. */
  readonly onConflict?: OnConflict
}

/**
 * Makes a client of an interface. With the type of its declaration, or with the output of `resourced types`, every call
 * is typed.
 *
 * @example
 * const client = createClient<typeof api>({ url: 'https://api.example.com/v1', key })
 * for await (const task of client.tasks.all({ status: 'open', sort: '-due_on' })) console.log(task.title)
 */
export function createClient<Types = UntypedInterface>(options: ClientOptions): Client<TypesOf<Types>> {
  const { key, retry = {}, cache = 100, onConflict } = options
  const plain = fetchSend(options)
  const send = authorizing(cache > 0 ? conditionalReads(plain, cache) : plain, key)
  return makeClient({ send: retrying(send, retry || { attempts: 1 }), onConflict }) as never
}

/** Adds the credential. A function is asked again after a 401, once for each request. */
function authorizing(send: Send, key: Key | undefined): Send {
  const withKey = (request: ClientRequest, value: string | undefined) =>
    value === undefined ? request : { ...request, headers: { ...request.headers, authorization: `Bearer ${value}` } }
  return async (request) => {
    if (typeof key !== 'function') return send(withKey(request, key))
    const first = await key()
    const response = await send(withKey(request, first))
    if (response.status !== 401) return response
    const renewed = await key(first)
    return renewed === undefined || renewed === first ? response : send(withKey(request, renewed))
  }
}
