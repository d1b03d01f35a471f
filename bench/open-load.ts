/**
 * A load that does not wait: so many requests a second set out, however slow the answers are, over as many connections as
 * that takes, up to a bound. Run as a process of its own: `open-load.ts '{"origin": …}'`; it prints what it saw as JSON.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'

/** What is sent. */
export interface OpenLoad {
  readonly origin: string
  /** Whole messages, sent in turn. */
  readonly messages: readonly string[]
  /** Requests a second; 0: each connection asks again as soon as it was answered. */
  readonly rate: number
  readonly seconds: number
  readonly connections: number
  /** Milliseconds after which a client gives up: that answer is of no use any more. */
  readonly patience: number
}

/** What came of it. */
export interface Seen {
  /** Requests that were due, and of those the ones for which no connection was free. */
  readonly due: number
  readonly unsent: number
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Answers of 2xx a second, those alone that came before the client gave up. */
  readonly goodput: number
  readonly givenUp: number
  readonly lost: number
  /** Answers of 503 without Retry-After. */
  readonly mute: number
  /** Milliseconds, of 50 and of 99 in 100: from the moment at which the request was due. */
  readonly good: readonly [number, number]
  readonly refused: readonly [number, number]
}

/** One connection: one request at a time. */
interface Line {
  readonly socket: Socket
  since: number
  /** Bytes of the answer: received, and in all once its head is there. */
  received: number
  length: number | undefined
  status: number
  head: string
  busy: boolean
}

/** Sends a load, and tells what came of it. */
export async function sendOpenLoad(load: OpenLoad): Promise<Seen> {
  const { hostname, port, protocol } = new URL(load.origin)
  const messages = load.messages.map((message) => Buffer.from(message))
  const statuses: Record<string, number> = {}
  const good: number[] = []
  const refused: number[] = []
  const free: Line[] = []
  const lines = new Set<Line>()
  let turn = 0
  let due = 0
  let unsent = 0
  let givenUp = 0
  let lost = 0
  let mute = 0
  let ended = false

  const ask = (line: Line, since: number) => {
    line.since = since
    line.busy = true
    line.received = 0
    line.length = undefined
    line.head = ''
    line.socket.write(messages[turn++ % messages.length]!)
  }
  const settle = (line: Line) => {
    const now = performance.now()
    const took = now - line.since
    line.busy = false
    statuses[line.status] = (statuses[line.status] ?? 0) + 1
    if (line.status === 503) {
      refused.push(took)
      if (!/\r\nretry-after: \d/i.test(line.head)) mute++
    } else if (line.status < 300 && took <= load.patience) good.push(took)
    if (load.rate === 0 && !ended) ask(line, now)
    else free.push(line)
  }
  const open = (since: number) => {
    const options: ConnectionOptions = { host: hostname, port: Number(port), rejectUnauthorized: false }
    const socket = protocol === 'https:' ? connectSecurely(options) : connect(options as { port: number })
    const line: Line = { socket, since, received: 0, length: undefined, status: 0, head: '', busy: true }
    lines.add(line)
    socket.setNoDelay(true)
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => ask(line, since))
    socket.on('data', (chunk: Buffer) => {
      line.received += chunk.length
      line.length ??= lengthFrom(line, chunk)
      if (line.received === line.length) settle(line)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      lines.delete(line)
      const index = free.indexOf(line)
      if (index !== -1) free.splice(index, 1)
      if (line.busy && !ended) lost++
      if (load.rate === 0 && !ended) open(performance.now())
    })
  }

  const began = performance.now()
  const end = began + load.seconds * 1_000
  if (load.rate === 0) for (let count = 0; count < load.connections; count++) open(began)
  let looked = began
  for (let now = began; now < end; now = performance.now()) {
    const until = Math.floor(((now - began) * load.rate) / 1_000)
    for (; due < until; due++) {
      const line = free.pop()
      if (line !== undefined) ask(line, now)
      else if (lines.size < load.connections) open(now)
      else unsent++
    }
    if (now - looked > 100) {
      looked = now
      for (const line of lines) {
        if (!line.busy || now - line.since < load.patience) continue
        givenUp++
        line.busy = false
        line.socket.destroy()
      }
    }
    await sleep(1)
  }
  const took = (performance.now() - began) / 1_000
  ended = true
  for (const { socket } of lines) socket.destroy()
  const goodput = good.length / took
  return { due, unsent, statuses, goodput, givenUp, lost, mute, good: quantiles(good), refused: quantiles(refused) }
}

/** Reads the head of an answer: how long the whole is, where the head is whole. */
function lengthFrom(line: Line, chunk: Buffer): number | undefined {
  line.head += chunk.toString('latin1', 0, 4_000)
  const end = line.head.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  line.head = line.head.slice(0, end)
  line.status = Number(line.head.slice(9, 12))
  return end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(line.head)?.[1] ?? 0)
}

function quantiles(values: number[]): [number, number] {
  values.sort((a, b) => a - b)
  const at = (part: number) => Number((values[Math.floor(values.length * part)] ?? 0).toFixed(1))
  return [at(0.5), at(0.99)]
}

if (import.meta.main) console.log(JSON.stringify(await sendOpenLoad(JSON.parse(process.argv[2]!) as OpenLoad)))
