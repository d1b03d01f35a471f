/** Asks a server: politely, and on the record. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Asked, type Exchange, type Fields, fieldOf } from './exchange.ts'
import { sendBytes } from './send-bytes.ts'

/** How a server is asked. */
export interface ClientOptions {
  /** Milliseconds after which an answer is not waited for any more; 30,000 unless given. */
  readonly patience?: number | undefined
  /** Whether any certificate will do. */
  readonly insecure?: boolean | undefined
  /** Certificates to trust beside the system's, PEM. */
  readonly ca?: string | undefined
  /** The most requests on their way; 6 unless given. Requests that are to arrive at once do not count. */
  readonly concurrency?: number | undefined
  /** Ends everything that is under way. */
  readonly signal?: AbortSignal | undefined
  /** The server wants a pause of so many seconds. */
  readonly onPause?: ((seconds: number) => void) | undefined
}

/** How one request is made. */
export interface Manner {
  /** A 429 is an answer like any other. */
  readonly impatient?: boolean | undefined
  /** It does not wait for others to be answered. */
  readonly atOnce?: boolean | undefined
}

const longestPause = 120
/** How long what changes something is waited for when a run is stopped, in milliseconds. */
const mostAfterStop = 5_000
const mostPauses = 5
const idempotent = /^(?:GET|HEAD|OPTIONS|PUT|DELETE)$/
/**
 * How long a connection is kept that nobody uses, in milliseconds. A server may close one at any time, and what is sent on it
 * just then gets no answer: long before that it is not used any more (RFC 9112, section 9.3.1).
 */
const longestIdle = 500

/** A client of one server. */
export class Client {
  readonly #options: ClientOptions
  /** Connections for what may be sent once more, and for what may not. */
  readonly #agents: Readonly<Record<'http' | 'https', { readonly again: HttpAgent; readonly once: HttpAgent }>>
  readonly #waiting: (() => void)[] = []
  #free: number
  /** Nobody asks before: the server has said when. In milliseconds of the clock of `performance`. */
  #resumesAt = 0
  readonly #listeners = new Set<(exchange: Exchange) => void>()
  /** How many requests were made. */
  count = 0

  constructor(options: ClientOptions = {}) {
    this.#options = options
    this.#free = options.concurrency ?? 6
    const { insecure = false, ca } = options
    const kept = { keepAlive: true, timeout: longestIdle }
    const secure = { ...kept, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) }
    this.#agents = {
      http: { again: new HttpAgent(kept), once: new HttpAgent(kept) },
      https: { again: new HttpsAgent(secure), once: new HttpsAgent(secure) },
    }
  }

  /** Has a listener told of every exchange. */
  watch(listener: (exchange: Exchange) => void): void {
    this.#listeners.add(listener)
  }

  /** Asks once; where the server wants a pause, it gets one, and is asked again. */
  async send(step: string, asked: Asked, { impatient = false, atOnce = false }: Manner = {}): Promise<Exchange> {
    for (let pauses = 0; ; pauses++) {
      if (!impatient) await this.#pause()
      const exchange = atOnce ? await this.#ask(step, asked) : await this.#inTurn(() => this.#ask(step, asked))
      const { answer } = exchange
      for (const listener of this.#listeners) listener(exchange)
      if (impatient || answer?.status !== 429 || pauses === mostPauses) return exchange
      const seconds = Math.min(longestPause, Math.max(1, Number(fieldOf(answer, 'Retry-After') ?? 2 ** pauses) || 1))
      this.#resumesAt = Math.max(this.#resumesAt, performance.now() + seconds * 1_000)
      this.#options.onPause?.(seconds)
    }
  }

  /** Sends bytes as they are on a connection of its own. Gives an exchange for each answer, one at least. */
  async bytes(step: string, url: string, bytes: string, seconds: number): Promise<Exchange[]> {
    this.count++
    const { insecure, ca, signal } = this.#options
    const exchanges = await this.#inTurn(() => sendBytes({ step, url, bytes, seconds, insecure, ca, signal }))
    for (const listener of this.#listeners) for (const exchange of exchanges) listener(exchange)
    return exchanges
  }

  close(): void {
    for (const { again, once } of Object.values(this.#agents)) {
      again.destroy()
      once.destroy()
    }
  }

  async #pause(): Promise<void> {
    const { signal } = this.#options
    for (let rest = this.#rest(); rest > 0 && !signal?.aborted; rest = this.#rest()) {
      await sleep(rest, undefined, { signal }).catch(() => {})
    }
  }

  #rest(): number {
    return this.#resumesAt - performance.now()
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((go) => this.#waiting.push(go))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  /** Asks once; once more where the connection had been used before and was closed just then (RFC 9112, section 9.3.1). */
  async #ask(step: string, asked: Asked): Promise<Exchange> {
    const { isClosed, ...exchange } = await this.#askOnce(step, asked)
    if (!isClosed || !idempotent.test(asked.method)) return exchange
    const { isClosed: _, ...again } = await this.#askOnce(step, asked)
    return again
  }

  #askOnce(step: string, asked: Asked): Promise<Exchange & { readonly isClosed?: boolean }> {
    this.count++
    const { patience = 30_000, signal } = this.#options
    const began = performance.now()
    const ended = () => Math.round(performance.now() - began)
    return new Promise((resolve) => {
      let request: ClientRequest | undefined
      let isAnswered = false
      const fail = (error: Error) => {
        const isClosed = !isAnswered && request?.reusedSocket === true && /^(?:ECONNRESET|EPIPE)$/.test(codeOf(error))
        resolve({ step, asked, failure: reasonOf(error), milliseconds: ended(), isClosed })
      }
      try {
        request = this.#open(asked, (message) => {
          isAnswered = true
          const { socket } = message
          const chunks: Buffer[] = []
          message.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', fail)
          message.on('end', () => {
            // Who refuses a request often closes the connection, and does not always say so.
            if (!idempotent.test(asked.method) && (message.statusCode ?? 0) >= 400) socket.destroy()
            resolve({ step, asked, answer: answerOf(message, Buffer.concat(chunks)), milliseconds: ended() })
          })
        })
      } catch (error) {
        return fail(error as Error)
      }
      request.setTimeout(patience, () => request.destroy(new Error(`no answer within ${patience / 1_000} seconds`)))
      const end = () => request.destroy(new Error('stopped'))
      // Who knows what a creation has made, if nobody waits for its answer?
      const stop = () => (/^(?:GET|HEAD|OPTIONS)$/.test(asked.method) ? end() : setTimeout(end, mostAfterStop).unref())
      // What is asked after the stop takes away what was made.
      signal?.addEventListener('abort', stop, { once: true })
      request.on('close', () => signal?.removeEventListener('abort', stop))
      request.on('error', fail).end(asked.body)
    })
  }

  #open({ method, url, fields, body }: Asked, answered: (message: IncomingMessage) => void): ClientRequest {
    const { protocol, hostname, port } = new URL(url)
    const isSecure = protocol === 'https:'
    // What stands in the address is sent as it stands.
    const start = url.indexOf('/', url.indexOf('//') + 2)
    const path = start < 0 ? '/' : url.slice(start)
    const target = { method, path, hostname: hostname.replace(/^\[|\]$/g, ''), port, headers: headersOf(fields, body) }
    const which = idempotent.test(method) ? 'again' : 'once'
    return isSecure
      ? requestHttps({ ...target, agent: this.#agents.https[which] }, answered)
      : requestHttp({ ...target, agent: this.#agents.http[which] }, answered)
  }
}

function headersOf(fields: Fields, body: string | undefined): Record<string, string[]> {
  const headers: Record<string, string[]> = {}
  for (const [name, value] of fields) headers[name] = [...(headers[name] ?? []), value]
  // Of itself Node says so only with methods that usually have a body: with GET and DELETE it would be taken for the next request.
  const isFramed = fields.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  return body === undefined || isFramed ? headers : { ...headers, 'Content-Length': [String(Buffer.byteLength(body))] }
}

function answerOf(message: IncomingMessage, body: Buffer): Answer {
  return {
    status: message.statusCode ?? 0,
    version: message.httpVersion,
    fields: pairsOf(message),
    body: body.toString(),
  }
}

function pairsOf({ rawHeaders }: IncomingMessage): Fields {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] as string] as const] : [],
  )
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

function reasonOf(error: Error): string {
  const code = codeOf(error)
  return code === '' || error.message.includes(code) ? error.message : `${error.message} (${code})`
}
