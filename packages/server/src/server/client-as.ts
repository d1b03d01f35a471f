/** Clients that call an application in process: of callers that the program names, and of its functions. */
import type { Client } from 'resourced-client'
import { type ClientRequest, makeClient } from 'resourced-client/parts'
import type { FunctionClient, FunctionCollections } from 'resourced-contract/model/declared-functions'
import { deepFreeze } from 'resourced-contract/model/plain-copy'
import { type HttpRequest, type HttpResponse, isStream } from '../http/message.ts'
import type { Caller, FunctionCredential } from '../policy/caller.ts'
import { type CallerInput, readCaller } from '../policy/own-credentials.ts'
import { readableOf } from './fetch/stream-body.ts'
import { bodyTooLarge } from './node/head.ts'

/** Answers a request of a caller who is known. */
type RespondAs = (request: HttpRequest, caller: Caller) => Promise<HttpResponse>

/**
 * Makes a client that calls an application without HTTP.
 *
 * @param basePath the beginning of the current version's paths
 * @throws TypeError if this is no caller
 */
export function clientAs(given: CallerInput, basePath: string, respond: RespondAs): Client {
  return clientOf(readCaller(given, 'app.as() received'), basePath, respond)
}

/** A caller that the functions of a declaration are (EVT-12). */
function functionCaller(credential: FunctionCredential): Caller {
  return deepFreeze({ id: 'server', roles: ['admin'], claims: {}, credential, expiresAt: 0 })
}

const functionCallers = { function: functionCaller('function'), server: functionCaller('server') }

/** Whether a call in process comes from a function of the declaration. */
export function isFunction(caller: Caller): boolean {
  return Object.values(functionCallers).includes(caller)
}

/** Makes the client that functions of the declaration get. */
export function clientOfFunctions(basePath: string, respond: RespondAs): FunctionClient {
  const client: FunctionCollections = clientOf(functionCallers.function, basePath, respond)
  const server: FunctionCollections = clientOf(functionCallers.server, basePath, respond)
  const asServer = () => server
  return new Proxy(client, {
    get: (collections, name) => (name === 'asServer' ? asServer : Reflect.get(collections, name)),
  }) as FunctionClient
}

function clientOf(caller: Caller, basePath: string, respond: RespondAs): Client {
  const send = async ({ method, path, headers, body, signal, stream }: ClientRequest) => {
    const bytes = Buffer.from(body ?? '')
    const response = await respond(
      {
        ...{ method, target: `${basePath}${path}`, headers, secure: true, address: '' },
        abandoned: signal && (() => signal),
        async readBody(limit) {
          if (bytes.length > limit) throw bodyTooLarge(limit)
          return bytes
        },
      },
      caller,
    )
    const { status } = response
    const fields = new Headers(response.headers)
    if (stream && isStream(response.body)) {
      const answer = new Response(readableOf(response.body, signal), { status, headers: fields })
      return { status, headers: fields, text: '', body: answer }
    }
    const text = Buffer.from((response.body ?? '') as string).toString()
    return { status, headers: fields, text, body: text === '' ? undefined : JSON.parse(text) }
  }
  return makeClient({ send })
}
