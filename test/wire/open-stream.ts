/** Reads an answer that goes on, over every kind of connection. */
import { request as plain } from 'node:http'
import { connect } from 'node:http2'
import { request as secure } from 'node:https'
import type { Readable } from 'node:stream'
import type { Transport } from './transports.ts'

/** An answer, as far as it came. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** It flows unless it is paused. */
  readonly stream: Readable
  /** What came so far. */
  readonly text: () => string
  /** Whether the answer ended as its server meant it. */
  readonly ended: Promise<boolean>
  /** Leaves: destroys the connection. */
  leave(): void
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks for something, on a connection of its own. Resolves when the head has come. */
export function openAnswer(origin: string, path: string, transport: Transport, asked: Asked = {}): Promise<OpenAnswer> {
  const { method = 'GET', headers = {} } = asked
  if (transport === 'HTTP/2') {
    const session = connect(origin, { rejectUnauthorized: false }).on('error', () => {})
    const stream = session.request({ ':path': path, ':method': method, ...headers })
    return new Promise((resolve, reject) => {
      stream.once('error', reject)
      stream.once('response', (head) => {
        stream.once('close', () => session.close())
        resolve({
          ...gathered(stream),
          ...{ status: Number(head[':status']), headers: head, leave: () => session.destroy() },
        })
      })
    })
  }
  const send = transport === 'HTTP/1.1' ? plain : secure
  return new Promise((resolve, reject) => {
    const request = send(`${origin}${path}`, { method, headers, agent: false, rejectUnauthorized: false })
    request.once('error', reject)
    request.once('response', (answer) =>
      resolve({
        ...gathered(answer),
        ...{ status: answer.statusCode ?? 0, headers: answer.headers, leave: () => request.destroy() },
      }),
    )
    request.end()
  })
}

function gathered(stream: Readable): Pick<OpenAnswer, 'stream' | 'text' | 'ended'> {
  const pieces: Buffer[] = []
  let isWhole = false
  stream.on('data', (piece: Buffer) => void pieces.push(piece))
  stream.once('end', () => {
    isWhole = true
  })
  stream.on('error', () => {
    isWhole = false
  })
  const ended = new Promise<boolean>((resolve) => stream.once('close', () => resolve(isWhole)))
  return { stream, ended, text: () => Buffer.concat(pieces).toString() }
}
