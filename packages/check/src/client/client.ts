/**
 * The HTTP client of the checker: limits concurrency, pauses on 429, and reports every exchange to listeners. It also
 * sends bytes on a connection of their own, for requests that no HTTP client would send.
 */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseJson } from '../values/json.ts'
import { type Answer, type Asked, type Exchange, type Fields, fieldOf, jsonApiType, mediaTypeOf } from './exchange.ts'
import { ResourceTypes } from './json-api.ts'
import { beginningIn } from './responses-in.ts'
import { sendBytes } from './send-bytes.ts'

export interface ClientOptions {
  /** Time limit for a response in milliseconds; 30,000 if undefined. */
  readonly patience?: number | undefined
  /** Trust any certificate. */
  readonly insecure?: boolean | undefined
  /** Additional certificates to trust, PEM. */
  readonly ca?: string | undefined
  /** The most requests under way; 6 if undefined. Requests with `atOnce` do not count. */
  readonly concurrency?: number | undefined
  /** Ends all requests under way. */
  readonly signal?: AbortSignal | undefined
  /** Called when the server wants a pause (429). */
  readonly onPause?: ((seconds: number) => void) | undefined
}

/** The number of requests in a row without a response after which a server is lost; a wait in vain counts as four. */
const mostUnanswered = 10
/** How long a response is waited for at least, in milliseconds, after others were waited for in vain. */
const lastPatience = 3_000

/**
 * Watches whether the server still answers.
 *
 * @param onLost is called once, with the reason of the last failure
 */
export function watchForLoss(client: Client, onLost: (reason: string) => void): void {
  let unanswered = 0
  let first = ''
  client.watch(({ answer, failure = '', asked, step }) => {
    if (answer !== undefined) {
      unanswered = 0
      return
    }
    // Servers may close the connection of a request that no client would send.
    if (asked.bytes !== undefined || failure === 'stopped' || unanswered >= mostUnanswered) return
    if (unanswered === 0) first = `${asked.method} ${new URL(asked.url).pathname}${step && ` ("${step}")`}`
    const isLate = /^no answer within/.test(failure)
    // Each wait in vain halves the next one: a server that hangs must not hold up the run.
    if (isLate) client.patience = Math.min(client.patience, Math.max(lastPatience, client.patience / 2))
    unanswered += isLate ? 4 : 1
    if (unanswered < mostUnanswered) return
    onLost(`${failure}. The first request without an answer was ${first}`)
  })
}

export interface SendOptions {
  /** Return a 429 instead of waiting and repeating the request. */
  readonly noRetry?: boolean | undefined
  /** Send it without waiting for other requests. */
  readonly atOnce?: boolean | undefined
}

/** The longest pause on one 429, in seconds. */
const longestPause = 120
const mostPauses = 5
/** How long a stream is read at most, in seconds. */
const longestStream = 60
/** How long a stopped run waits for the response to a changing request, in milliseconds. */
const mostAfterStop = 5_000
/** The length from which a body waits for a refusal, and how long, in milliseconds. */
const largeBody = 262_144
const timeToRefuse = 100
const idempotent = /^(?:GET|HEAD|OPTIONS|PUT|DELETE)$/
/**
 * How long an idle connection is kept, in milliseconds. A server may close it at any time, and a request that is sent
 * just then gets no response (RFC 9112, section 9.3.1).
 */
const longestIdle = 500

const typeLines = /^(?:accept|content-type):.*$/gim
const json = /\bapplication\/json(?![\w.+-])/gi

export class Client {
  readonly #options: ClientOptions
  /** Connections for requests that may be repeated, and for those that may not. */
  readonly #agents: Readonly<Record<'http' | 'https', { readonly again: HttpAgent; readonly once: HttpAgent }>>
  readonly #waiting: (() => void)[] = []
  #free: number
  /** End of the pause that the server wants, in milliseconds of `performance.now()`. */
  #resumesAt = 0
  readonly #listeners = new Set<(exchange: Exchange) => void>()
  /** Number of requests that were sent. */
  count = 0
  patience: number
  /** Header fields that the user wants in every request. */
  fields: Fields = []
  /** Gives an address the form that the server expects. */
  form: (url: string) => string = (url) => url
  /** The media type of records, in place of application/json. */
  mediaType: string | undefined
  /** The media type of changes (PATCH), in place of that of records. */
  patchType: string | undefined
  readonly types = new ResourceTypes()

  constructor(options: ClientOptions = {}) {
    this.#options = options
    this.patience = options.patience ?? 30_000
    this.#free = options.concurrency ?? 6
    const { insecure = false, ca } = options
    const kept = { keepAlive: true, timeout: longestIdle }
    const secure = { ...kept, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) }
    this.#agents = {
      http: { again: new HttpAgent(kept), once: new HttpAgent(kept) },
      https: { again: new HttpsAgent(secure), once: new HttpsAgent(secure) },
    }
  }

  watch(listener: (exchange: Exchange) => void): void {
    this.#listeners.add(listener)
  }

  /** Sends a request. Repeats it after a pause if the server answers 429. */
  async send(step: string, request: Asked, { noRetry = false, atOnce = false }: SendOptions = {}): Promise<Exchange> {
    const isSet = (name: string) => request.fields.some(([each]) => each.toLowerCase() === name.toLowerCase())
    const fields = [...request.fields, ...this.fields.filter(([name]) => !isSet(name))]
    const asked = this.#translated({ ...request, url: this.form(request.url), fields })
    for (let pauses = 0; ; pauses++) {
      if (!noRetry) await this.#pause()
      const exchange = atOnce ? await this.#ask(step, asked) : await this.#inTurn(() => this.#ask(step, asked))
      const { answer } = exchange
      if (answer !== undefined && mediaTypeOf(answer) === jsonApiType)
        this.types.learn(asked.url, parseJson(answer.body))
      for (const listener of this.#listeners) listener(exchange)
      if (noRetry || answer?.status !== 429 || pauses === mostPauses) return exchange
      this.#noteRefusal(answer, pauses)
    }
  }

  /** A request in the media type of the server. */
  #translated(asked: Asked): Asked {
    const { mediaType } = this
    const sent = (asked.method === 'PATCH' ? this.patchType : undefined) ?? mediaType
    if (sent === undefined) return asked
    const types: Readonly<Record<string, string | undefined>> = { accept: mediaType, 'content-type': sent }
    const fields = asked.fields.map(([name, value]) => {
      const type = types[name.toLowerCase()]
      return [name, type === undefined ? value : value.replace(json, type)] as const
    })
    const translated = { ...asked, fields }
    if (asked.body === undefined || mediaTypeOf(translated) !== jsonApiType) return translated
    return { ...translated, body: this.types.documentText(asked), plain: asked.body }
  }

  /**
   * Waits as long as a 429 asks for.
   *
   * @param pauses how many times the server has already refused this request
   * @returns whether to send the request again
   */
  async pauseAfter(answer: Answer | undefined, pauses: number): Promise<boolean> {
    if (answer?.status !== 429 || pauses === mostPauses) return false
    this.#noteRefusal(answer, pauses)
    await this.#pause()
    return this.#options.signal?.aborted !== true
  }

  #noteRefusal(answer: Answer, pauses: number): void {
    const seconds = Math.min(longestPause, Math.max(1, Number(fieldOf(answer, 'Retry-After') ?? 2 ** pauses) || 1))
    this.#resumesAt = Math.max(this.#resumesAt, performance.now() + seconds * 1_000)
    this.#options.onPause?.(seconds)
  }

  /**
   * Sends bytes on a connection of their own. Repeats them after a pause if the server answers a part of them with 429.
   *
   * @returns an exchange for each response, at least one
   */
  async bytes(step: string, url: string, bytes: string, seconds: number): Promise<Exchange[]> {
    const sent = this.#formed(url, bytes)
    for (let pauses = 0; ; pauses++) {
      this.count++
      const exchanges = await this.#inTurn(() => sendBytes(step, url, sent, { ...this.#options, seconds }))
      for (const listener of this.#listeners) for (const exchange of exchanges) listener(exchange)
      const refused = exchanges.find(({ answer }) => answer?.status === 429)
      if (!(await this.pauseAfter(refused?.answer, pauses))) return exchanges
    }
  }

  /**
   * Opens a stream: a response whose body goes on until the signal closes it.
   *
   * @param bytes the request
   * @param received is called with the response as far as it was received
   */
  async stream(
    step: string,
    url: string,
    bytes: string,
    { signal, received }: { readonly signal: AbortSignal; readonly received: (beginning: Answer) => void },
  ): Promise<Exchange> {
    this.count++
    const stop = AbortSignal.any([signal, ...(this.#options.signal === undefined ? [] : [this.#options.signal])])
    const onText = (text: string) => {
      const beginning = beginningIn(text)
      if (beginning !== undefined) received(beginning)
    }
    const sent = await sendBytes(step, url, this.#formed(url, bytes), {
      ...this.#options,
      signal: stop,
      seconds: longestStream,
      onText,
    })
    const exchange = sent[0] as Exchange
    const answer = exchange.answer ?? beginningIn(exchange.rest ?? '')
    const whole = answer === undefined ? exchange : { ...exchange, answer, failure: undefined }
    for (const listener of this.#listeners) listener(whole)
    return whole
  }

  /** Bytes whose request lines have addresses in the form that the server expects. */
  #formed(url: string, bytes: string): string {
    const { origin } = new URL(url)
    const { mediaType } = this
    const typed = mediaType === undefined ? bytes : bytes.replace(typeLines, (line) => line.replace(json, mediaType))
    return typed.replace(/(?<=^[A-Z]+ )\/\S*(?= HTTP\/)/gm, (path) => this.form(origin + path).slice(origin.length))
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

  /** Sends a request, and again if the server closed a reused connection (RFC 9112, section 9.3.1). */
  async #ask(step: string, asked: Asked): Promise<Exchange> {
    const { isClosed, ...exchange } = await this.#askOnce(step, asked)
    if (!isClosed || !idempotent.test(asked.method)) return exchange
    const { isClosed: _, ...again } = await this.#askOnce(step, asked)
    return again
  }

  #askOnce(step: string, asked: Asked): Promise<Exchange & { readonly isClosed?: boolean }> {
    this.count++
    const { signal } = this.#options
    const { patience } = this
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
          // Servers that send a body after HEAD spoil the connection for the next request.
          if (asked.method === 'HEAD') {
            resolve({ step, asked, answer: answerOf(message, Buffer.alloc(0)), milliseconds: ended() })
            message.on('error', () => {}).resume()
            return socket.destroy()
          }
          const chunks: Buffer[] = []
          message.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', fail)
          message.on('end', () => {
            // Many servers close the connection after an error without saying so.
            const isRefused = !idempotent.test(asked.method) && (message.statusCode ?? 0) >= 400
            if (isRefused || request?.writableEnded === false) socket.destroy()
            resolve({ step, asked, answer: answerOf(message, Buffer.concat(chunks)), milliseconds: ended() })
          })
        })
      } catch (error) {
        return fail(error as Error)
      }
      // A timeout of the socket would not do: that of the idle connection may fire after its next request was sent.
      const late = new Error(`no answer within ${patience / 1_000} seconds`)
      const timer = setTimeout(() => request.destroy(late), patience)
      request.on('close', () => clearTimeout(timer))
      const end = () => request.destroy(new Error('stopped'))
      // Without its response, nothing shows which record a request created.
      const stop = () => (/^(?:GET|HEAD|OPTIONS)$/.test(asked.method) ? end() : setTimeout(end, mostAfterStop).unref())
      // Requests that are sent after the stop are part of the cleanup.
      signal?.addEventListener('abort', stop, { once: true })
      request.on('close', () => signal?.removeEventListener('abort', stop))
      request.on('error', fail)
      if ((asked.body?.length ?? 0) < largeBody) return request.end(asked.body)
      // A server may refuse a large body by its length, and close the connection: then its response would be lost.
      request.flushHeaders()
      setTimeout(() => (isAnswered ? undefined : request.end(asked.body)), timeToRefuse)
    })
  }

  #open({ method, url, fields, body }: Asked, answered: (message: IncomingMessage) => void): ClientRequest {
    const { protocol, hostname, port } = new URL(url)
    const isSecure = protocol === 'https:'
    // The path is sent unchanged, even if it is not normalized.
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
  // Node adds no length to GET and DELETE. The server would take the body for the next request.
  const isFramed = fields.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  return body === undefined || isFramed ? headers : { ...headers, 'Content-Length': [String(Buffer.byteLength(body))] }
}

function answerOf({ statusCode = 0, httpVersion, rawHeaders }: IncomingMessage, body: Buffer): Answer {
  const fields = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] as string] as const] : [],
  )
  return { status: statusCode, version: httpVersion, fields, body: body.toString() }
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

function reasonOf(error: Error): string {
  const code = codeOf(error)
  return code === '' || error.message.includes(code) ? error.message : `${error.message} (${code})`
}

export interface Requester {
  readonly client: Client
  /** Header fields of the caller's credential; empty if there is none. */
  readonly credential: Fields
  /** After it is aborted, nothing more is sent. */
  readonly signal?: AbortSignal | undefined
}

export interface RequestParts {
  /** A JSON value. */
  readonly body?: unknown
  readonly fields?: Fields
  /** Send it without the credential. */
  readonly anonymous?: boolean
}

/** Sends a request. Never fails: if no response arrives, the exchange says why. */
export async function request(
  { client, credential, signal }: Requester,
  method: string,
  url: string,
  { body, fields = [], anonymous = false }: RequestParts = {},
): Promise<Exchange> {
  const type: Fields = body === undefined ? [] : [['Content-Type', 'application/json']]
  const accept: Fields = fields.some(([name]) => name === 'Accept') ? [] : [['Accept', 'application/json']]
  const all = [...(anonymous ? [] : credential), ...accept, ...type, ...fields]
  const asked = { method, url, fields: all, body: body === undefined ? undefined : JSON.stringify(body) }
  if (signal?.aborted) return { step: '', asked, failure: 'stopped', milliseconds: 0 }
  return client.send('', asked)
}

/** The tag of a record as it is now; `*` if it has none. */
export async function currentTag(requester: Requester, url: string): Promise<string> {
  const { answer } = await request(requester, 'GET', url)
  return fieldOf(answer, 'ETag') ?? '*'
}

const mostRedirects = 3

/** Reads an address. Follows redirects on the same server: a credential is sent to no other. */
export async function requestFollowing(requester: Requester, url: string, parts: RequestParts = {}): Promise<Exchange> {
  let exchange = await request(requester, 'GET', url, parts)
  for (let count = 0; count < mostRedirects; count++) {
    const { answer, asked } = exchange
    const location =
      answer && [301, 302, 303, 307, 308].includes(answer.status) ? fieldOf(answer, 'Location') : undefined
    const target = location === undefined ? null : URL.parse(location, asked.url)
    if (target === null || target.origin !== new URL(url).origin) break
    exchange = await request(requester, 'GET', target.href, parts)
  }
  return exchange
}
