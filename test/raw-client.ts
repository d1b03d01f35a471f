/** Speaks to a server in bytes: what a well-behaved client could never send. */
import { connect, type Socket } from 'node:net'

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What came back, and how the connection went. */
export interface RawResult {
  readonly answers: readonly RawAnswer[]
  /** Whether the server ended the connection, and whether it was by a reset. */
  readonly closed: boolean
  readonly reset: boolean
}

export interface RawOptions {
  /** Stops after so many final answers; otherwise when the server closes. */
  readonly answers?: number
  /** Methods of the requests in turn: an answer to HEAD has no body. */
  readonly methods?: readonly string[]
  /** Milliseconds after which it stops waiting. */
  readonly patience?: number
  /** Ends the sending side after the bytes. */
  readonly end?: boolean
  /** Called once the bytes are on their way. */
  readonly afterwards?: (socket: Socket) => void
}

/** Sends bytes, one for each character, on a connection of its own, and gathers what comes back. */
export function sendRaw(origin: string, bytes: string, options: RawOptions = {}): Promise<RawResult> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    const received: Buffer[] = []
    let reset = false
    const read = () => readAnswers(Buffer.concat(received), options.methods ?? [])
    const stop = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ answers: read(), closed, reset })
    }
    const timer = setTimeout(() => stop(false), options.patience ?? 60_000)
    socket.on('data', (chunk) => {
      received.push(chunk as Buffer)
      if (options.answers === undefined) return
      const final = read().filter(({ status }) => status >= 200)
      if (final.length >= options.answers) stop(false)
    })
    socket.on('error', () => {
      reset = true
    })
    socket.on('close', () => stop(true))
    socket.write(Buffer.from(bytes, 'latin1'))
    if (options.end) socket.end()
    options.afterwards?.(socket)
  })
}

/** The answers in the bytes so far, whole ones only. */
function readAnswers(received: Buffer, methods: readonly string[]): RawAnswer[] {
  const answers: RawAnswer[] = []
  let index = 0
  let turn = 0
  for (;;) {
    const end = received.indexOf('\r\n\r\n', index)
    if (end === -1) return answers
    const [first = '', ...lines] = received.subarray(index, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? Number.NaN)
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const bodiless = status < 200 || status === 204 || status === 304 || methods[turn] === 'HEAD'
    const length = bodiless ? 0 : Number(headers['content-length'] ?? 0)
    if (received.length < end + 4 + length) return answers
    answers.push({ status, headers, body: received.subarray(end + 4, end + 4 + length).toString() })
    index = end + 4 + length
    if (status >= 200) turn++
  }
}
