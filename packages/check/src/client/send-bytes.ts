/** Sends bytes on a connection of their own, for requests that no HTTP client would send. */
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Asked, Exchange } from './exchange.ts'
import { answersIn, fieldsIn } from './responses-in.ts'

/** Options of a request as bytes, those of the client among them. */
interface BytesOptions {
  readonly insecure?: boolean | undefined
  readonly ca?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly seconds: number
  /** Is called with all that was received. */
  readonly onText?: (received: string) => void
}

/** Sends bytes, one for each character. Returns an exchange for each final response, at least one. */
export function sendBytes(
  step: string,
  url: string,
  bytes: string,
  { seconds, insecure, ca, signal, onText }: BytesOptions,
): Promise<Exchange[]> {
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
      onText?.(received)
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
