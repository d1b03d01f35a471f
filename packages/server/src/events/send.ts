/**
 * Sends a request to a receiver of webhooks. The address is checked before each connection, and the connection is made
 * to the checked address, so that a name cannot lead elsewhere in between (EVT-10).
 */
import { lookup, Resolver } from 'node:dns/promises'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type AddressPolicy, literalAddress } from 'resourced-contract/model/address-policy'

/** Finds the addresses of a name; rejects if there are none. */
type Resolve = (name: string) => Promise<readonly string[]>

/** How long one DNS server may take, in milliseconds, and how often it is asked. */
const patience = { timeout: 2_000, tries: 2 }

/**
 * Asks DNS, and then the system, whose answers include those of its hosts file. The system comes second because it
 * blocks one of few threads while it waits: a slow name would delay all others.
 */
const resolveName: Resolve = async (name) => {
  const resolver = new Resolver(patience)
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
  if (addresses.length > 0) return addresses
  const isSlow = found.some((each) => each.status === 'rejected' && each.reason?.code === 'ETIMEOUT')
  if (isSlow) throw new Error('The name servers do not answer.')
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** The receiver's answer, or why there is none. */
export type Sent =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The beginning of the body as text. */
      readonly body: string
      readonly retryAfter: string | undefined
    }
  | { readonly kind: 'failed'; readonly error: string }

/** A request to a receiver. */
export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** How messages are sent. */
export interface SenderOptions {
  readonly policy: AddressPolicy
  /** Finds the addresses of names; by default DNS and the system do. */
  readonly resolve?: Resolve
  /** How long a message may take with its redirects and the answer, in milliseconds. */
  readonly timeout?: number
  /** Certificates to trust besides the usual ones, for tests. */
  readonly ca?: string
}

/** Sends messages until it is closed. */
export interface Sender {
  /** Sends a message. It never rejects. */
  send(message: Message, signal?: AbortSignal): Promise<Sent>
  /** Closes connections that are kept open. */
  close(): void
}

const defaultTimeout = 15_000
const mostRedirects = 3
/** The most bytes of an answer that are read. */
const mostRead = 64 * 1024
/** The most characters of an answer that are kept. */
const mostKept = 500

/** One error for everything that is not permitted, or not found: details would scan the network. */
export const refusedAddress = 'The URL does not lead to an address that webhooks may be sent to.'

/** Makes a sender. Connections are kept for the next message, and never go through a proxy. */
export function createSender({ policy, resolve = resolveName, timeout = defaultTimeout, ca }: SenderOptions): Sender {
  const kept = { keepAlive: true, maxFreeSockets: 64, timeout: 5_000, scheduling: 'lifo' as const }
  const agents = { 'http:': new PlainAgent(kept), 'https:': new TlsAgent({ ...kept, ...(ca && { ca }) }) }

  const sendOnce = async (url: URL, message: Message, signal: AbortSignal): Promise<Sent | { readonly to: URL }> => {
    const addresses = await addressesOf(url.hostname, resolve)
    signal.throwIfAborted()
    // A refused address and a name without any are one error: details would scan the network.
    if (!policy.permitsUrl(url, addresses)) return { kind: 'failed', error: refusedAddress }
    const response = await open(url, addresses, message, signal)
    const { statusCode: status = 0, headers } = response
    if (status === 307 || status === 308) {
      const to = headers.location === undefined ? null : URL.parse(headers.location, url)
      response.destroy()
      return to === null ? { kind: 'failed', error: `The receiver answered ${status} without a URL.` } : { to }
    }
    const body = await beginningOf(response)
    return { kind: 'answered', status, body, retryAfter: headers['retry-after'] }
  }

  const open = (url: URL, addresses: readonly string[], { headers, body }: Message, signal: AbortSignal) =>
    new Promise<IncomingMessage>((resolved, rejected) => {
      const isPlain = url.protocol === 'http:'
      const send = isPlain ? plainRequest : tlsRequest
      const length = String(Buffer.byteLength(body))
      const request = send(url, {
        method: 'POST',
        headers: { ...headers, 'Content-Length': length, 'Accept-Encoding': 'identity' },
        agent: agents[isPlain ? 'http:' : 'https:'],
        lookup: lookupOf(addresses),
        signal,
      })
      request.on('response', resolved)
      request.on('error', rejected)
      request.end(body)
    })

  return {
    async send(message, stop) {
      const late = AbortSignal.timeout(timeout)
      const signal = stop === undefined ? late : AbortSignal.any([late, stop])
      try {
        let url = new URL(message.url)
        for (let redirects = 0; redirects <= mostRedirects; redirects++) {
          const sent = await interruptible(sendOnce(url, message, signal), signal)
          if (!('to' in sent)) return sent
          url = sent.to
        }
        return { kind: 'failed', error: `The receiver redirected more than ${mostRedirects} times.` }
      } catch (error) {
        if (late.aborted) return { kind: 'failed', error: `There was no answer within ${timeout / 1_000} seconds.` }
        return { kind: 'failed', error: describe(error) }
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** Rejects when the signal aborts, even if the work does not end: DNS cannot be interrupted. */
async function interruptible<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
    work.catch(() => {})
  }
}

/**
 * The addresses of the host of a URL; none if there is no such name.
 *
 * @param hostname as `URL` has it: IPv6 in brackets
 */
async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  const literal = literalAddress(hostname)
  return literal === undefined ? resolve(hostname).catch(() => []) : [literal]
}

/** Answers with the checked addresses, whatever the name is. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_name, options, done) => {
    const [first] = found
    if (options.all) done(null, found)
    else done(null, first?.address ?? '', first?.family)
  }
}

/** Reads the beginning of a body and drops the rest. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    // Leaving the loop destroys the connection.
    if (length > mostRead) break
  }
  // Databases refuse U+0000.
  return Buffer.concat(chunks)
    .subarray(0, mostRead)
    .toString()
    .replaceAll('\0', '\ufffd')
    .slice(0, mostKept)
    .toWellFormed()
}

/** What went wrong with a connection: only its code, which is about an address that is permitted. */
function describe(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  return `The connection failed${typeof code === 'string' && /^[A-Z_0-9]+$/.test(code) ? ` (${code})` : ''}.`
}
