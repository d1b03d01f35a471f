/** Calls of an application in process, as a caller that the program names. */
import type { Client } from '../client/client.ts'
import { makeClient } from '../client/client.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { Caller } from '../policy/caller.ts'
import { type CallerInput, readCaller } from '../policy/own-credentials.ts'
import { bodyTooLarge } from './node/head.ts'

/** Answers a request of a caller who is known. */
export type RespondAs = (request: HttpRequest, caller: Caller) => Promise<HttpResponse>

/**
 * Makes a client that calls an application without HTTP.
 *
 * @param basePath the beginning of the current version's paths
 * @throws TypeError if this is no caller
 */
export function clientAs(given: CallerInput, basePath: string, respond: RespondAs): Client {
  const caller = readCaller(given, 'app.as() received')
  return makeClient(async ({ method, path, headers, body, signal }) => {
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
    const text = Buffer.from((response.body ?? '') as string).toString()
    const etag = response.headers['ETag']
    return { status: response.status, etag, body: text === '' ? undefined : JSON.parse(text) }
  })
}
