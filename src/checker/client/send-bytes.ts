/** Sends bytes on a connection of their own, for requests that no HTTP client would send, and parses the responses. */
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Answer, Asked, Exchange, Fields } from './exchange.ts'

/** Bytes to send. */
export interface BytesRequest {
  readonly step: string
  /** Any address on the server. */
  readonly url: string
  /** One character for each byte. */
  readonly bytes: string
  /** How long to wait for responses. */
  readonly seconds: number
  readonly insecure?: boolean | undefined
  readonly ca?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Sends bytes. Returns an exchange for each final response, at least one. */
export function sendBytes({ step, url, bytes, seconds, insecure, ca, signal }: BytesRequest): Promise<Exchange[]> {
  const { protocol, hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isSecure = protocol === 'https:'
  const began = performance.now()
  return new Promise((resolve) => {
    const to = { host, port: Number(port || (isSecure ? 443 : 80)) }
    const trust = { rejectUnauthorized: insecure !== true, ...(ca === undefined ? {} : { ca }) }
    const socket = isSecure
      ? connectTls({ ...to, ...trust, ...(isIP(host) ? {} : { servername: host }), ALPNProtocols: ['http/1.1'] })
      : connect(to)
    let received = ''
    let failure = 'the connection was closed without a response'
    const stop = () => {
      clearTimeout(timer)
      socket.destroy()
      const milliseconds = Math.round(performance.now() - began)
      const asked = askedOf(url, bytes)
      const { answers, rest } = answersIn(received, asked.method)
      const exchanges = answers
        .filter(({ status }) => status >= 200)
        .map((answer) => ({ step, asked, answer, rest, milliseconds }))
      resolve(exchanges.length > 0 ? exchanges : [{ step, asked, failure, rest, milliseconds }])
    }
    const timer = setTimeout(() => {
      failure = `no answer within ${seconds} seconds`
      stop()
    }, seconds * 1_000)
    signal?.addEventListener('abort', stop, { once: true })
    socket.on('close', () => signal?.removeEventListener('abort', stop))
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', (error) => {
      failure = error.message
    })
    socket.on('close', stop)
    socket.write(Buffer.from(bytes, 'latin1'))
  })
}

/** The request in bytes, as far as they are one, for reports. */
function askedOf(url: string, bytes: string): Asked {
  const [first = '', ...lines] = (bytes.split('\r\n\r\n')[0] ?? '').split('\r\n')
  const [method = '', target = ''] = first.split(' ')
  const fields = fieldsIn(lines)
  const body = bytes.slice(bytes.indexOf('\r\n\r\n') + 4)
  return {
    method,
    url: new URL(url).origin + (target.startsWith('/') ? target : ` ${target}`),
    fields,
    body: body || undefined,
    bytes,
  }
}

function fieldsIn(lines: readonly string[]): Fields {
  return lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).trim()] as const] : []
  })
}

/** The complete responses in the received bytes, and the rest. */
function answersIn(received: string, method: string): { readonly answers: Answer[]; readonly rest: string } {
  const answers: Answer[] = []
  let index = 0
  while (index < received.length) {
    const end = received.indexOf('\r\n\r\n', index)
    const [first = '', ...lines] = received.slice(index, end).split('\r\n')
    const found = /^HTTP\/(1\.[01]) (\d{3})/.exec(first)
    if (end < 0 || found === null) break
    const fields = fieldsIn(lines)
    const status = Number(found[2])
    const body = bodyIn(received.slice(end + 4), { status, method, fields })
    if (body === undefined) break
    answers.push({ status, version: found[1] as string, fields, body: Buffer.from(body.text, 'latin1').toString() })
    index = end + 4 + body.length
  }
  return { answers, rest: received.slice(index) }
}

/** The body of a response and its length in bytes; `undefined` if it is incomplete. */
function bodyIn(
  rest: string,
  { status, method, fields }: { readonly status: number; readonly method: string; readonly fields: Fields },
): { readonly text: string; readonly length: number } | undefined {
  const of = (name: string) => fields.find(([each]) => each.toLowerCase() === name)?.[1]
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { text: '', length: 0 }
  const length = of('content-length')
  if (length !== undefined) {
    return rest.length < Number(length) ? undefined : { text: rest.slice(0, Number(length)), length: Number(length) }
  }
  if (of('transfer-encoding') !== 'chunked') return { text: rest, length: rest.length }
  let text = ''
  let index = 0
  while (true) {
    const end = rest.indexOf('\r\n', index)
    const size = Number.parseInt(rest.slice(index, end), 16)
    if (end < 0 || Number.isNaN(size) || rest.length < end + 2 + size + 2) return undefined
    text += rest.slice(end + 2, end + 2 + size)
    index = end + 2 + size + 2
    if (size === 0) return { text, length: index }
  }
}
