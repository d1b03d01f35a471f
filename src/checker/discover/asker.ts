/** Asks while a server is looked at: as the caller, in JSON. */
import type { Client } from '../client.ts'
import type { Answer, Exchange, Fields } from '../exchange.ts'

/** Who asks, and through what. */
export interface Asker {
  readonly client: Client
  /** Fields of the caller's credential; none where there is none. */
  readonly credential: Fields
}

/** A request beside its address. */
export interface More {
  readonly body?: unknown
  readonly fields?: Fields
  /** Without the credential. */
  readonly asNobody?: boolean
}

/** Asks. Never fails: where no answer comes, the exchange says why. */
export function ask({ client, credential }: Asker, method: string, url: string, more: More = {}): Promise<Exchange> {
  const { body, fields = [], asNobody = false } = more
  const typed: Fields = body === undefined ? [] : [['Content-Type', 'application/json']]
  const accept: Fields = fields.some(([name]) => name === 'Accept') ? [] : [['Accept', 'application/json']]
  const all = [...(asNobody ? [] : credential), ...accept, ...typed, ...fields]
  const text = body === undefined ? undefined : JSON.stringify(body)
  return client.send('discovery', { method, url, fields: all, body: text })
}

declare const good: unique symbol

/** Whether it went well. */
export function isGood(answer: Answer | undefined): answer is Answer & { readonly [good]: true } {
  return answer !== undefined && answer.status >= 200 && answer.status < 300
}
