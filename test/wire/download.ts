/** Downloads over every kind of connection: what came, and whether it came whole. */
import { connect as connectSession } from 'node:http2'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { Transport } from './transports.ts'

/** What came of an answer. */
export interface Downloaded {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
  /** The bytes of the body, kept or not. */
  readonly size: number
  /** What the client saw go wrong. */
  readonly error: string | undefined
}

/** One answer on a connection of its own. Nothing of it is taken before `stream.resume()`. */
export interface Download {
  readonly stream: Duplex
  /** How much came so far. */
  readonly taken: () => number
  /** Settles when the answer or its connection has ended. */
  readonly ended: Promise<Downloaded>
}

interface DownloadOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** How much of what comes is kept; all where left out. */
  readonly keep?: number
}

/** Asks for something. */
export function download(
  origin: string,
  path: string,
  transport: Transport,
  { method = 'GET', headers = {}, keep = Number.POSITIVE_INFINITY }: DownloadOptions = {},
): Download {
  if (transport === 'HTTP/2') return overSession(origin, path, { method, headers, keep })
  const { hostname: host, port } = new URL(origin)
  const options = { host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }
  const stream = transport === 'HTTP/1.1' ? connect(options) : connectTls(options)
  const fields = Object.entries({ Host: 'a', Connection: 'close', ...headers }).map((field) => field.join(': '))
  stream.write(`${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
  const { taken, ended } = gather(stream, keep)
  return { stream, taken, ended: ended.then(({ bytes, error }) => readMessage(bytes, taken(), error, method)) }
}

/** Takes what comes, so many bytes every few milliseconds. */
export function takeSteadily({ stream, taken }: Download, bytes: number, every: number): void {
  const timer = setInterval(() => {
    const before = taken()
    const pause = () => {
      if (taken() - before >= bytes) stream.pause().off('data', pause)
    }
    stream.on('data', pause).resume()
  }, every)
  stream.once('close', () => clearInterval(timer))
}

function overSession(origin: string, path: string, options: Required<DownloadOptions>): Download {
  const session = connectSession(origin, { rejectUnauthorized: false }).on('error', () => {})
  const stream = session.request({ ':path': path, ':method': options.method, ...options.headers })
  const { taken, ended } = gather(stream, options.keep)
  let headers: Readonly<Record<string, unknown>> = {}
  stream.once('response', (answer) => (headers = answer))
  const finish = async () => {
    const { bytes: body, error } = await ended
    const reset = stream.rstCode === 0 ? undefined : `reset with ${stream.rstCode}`
    if (!session.closed) await new Promise<void>((resolve) => session.close(resolve))
    return { status: Number(headers[':status']), headers, body, size: taken(), error: error ?? reset }
  }
  return { stream, taken, ended: finish() }
}

function readMessage(bytes: Buffer, taken: number, failure: string | undefined, method: string): Downloaded {
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  const size = Math.max(taken - end - 4, 0)
  const missing = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0) - size
  const lack = end === -1 ? 'no head came' : missing === 0 ? undefined : `${missing} bytes are missing`
  return { status: Number(first.split(' ')[1]), headers, body: bytes.subarray(end + 4), size, error: failure ?? lack }
}

function gather(stream: Duplex, keep: number) {
  const chunks: Buffer[] = []
  let size = 0
  let error: string | undefined
  stream.on('data', (chunk: Buffer) => {
    if (size < keep) chunks.push(chunk)
    size += chunk.length
  })
  stream.pause()
  stream.on('error', (reason) => (error = reason.message))
  const ended = new Promise<{ bytes: Buffer; error: string | undefined }>((resolve) =>
    stream.once('close', () => resolve({ bytes: Buffer.concat(chunks), error })),
  )
  return { taken: () => size, ended }
}
