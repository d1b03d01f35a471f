/** Asks while a server is looked at: as the caller, in JSON. */
import type { Client } from '../client/client.ts'
import type { Answer, Exchange, Fields } from '../client/exchange.ts'

/** Who asks, and through what. */
export interface Asker {
  readonly client: Client
  /** Fields of the caller's credential; none where there is none. */
  readonly credential: Fields
  /** Once it is aborted nothing more is asked. */
  readonly signal?: AbortSignal | undefined
}

/** A request beside its address. */
export interface More {
  readonly body?: unknown
  readonly fields?: Fields
  /** Without the credential. */
  readonly asNobody?: boolean
}

/** Asks. Never fails: where no answer comes, the exchange says why. */
export async function ask(
  { client, credential, signal }: Asker,
  method: string,
  url: string,
  more: More = {},
): Promise<Exchange> {
  const { body, fields = [], asNobody = false } = more
  const typed: Fields = body === undefined ? [] : [['Content-Type', 'application/json']]
  const accept: Fields = fields.some(([name]) => name === 'Accept') ? [] : [['Accept', 'application/json']]
  const all = [...(asNobody ? [] : credential), ...accept, ...typed, ...fields]
  const text = body === undefined ? undefined : JSON.stringify(body)
  const asked = { method, url, fields: all, body: text }
  if (signal?.aborted) return { step: 'discovery', asked, failure: 'stopped', milliseconds: 0 }
  return client.send('discovery', asked)
}

declare const good: unique symbol

/** Whether it went well. */
export function isGood(answer: Answer | undefined): answer is Answer & { readonly [good]: true } {
  return answer !== undefined && answer.status >= 200 && answer.status < 300
}
