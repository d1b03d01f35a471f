/**
 * A load that does not wait: so many requests a second set out, however slow the answers are, over as many connections
 * as that takes, up to a bound. Run as a process of its own it reads what to send from standard input, and prints what
 * it saw, both as JSON.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import type { Request } from './ask.ts'
import { loadCore } from './machine.ts'

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

/** A request as the message that is sent. */
export function messageOf({ method, path, headers, body }: Request, host = 'a'): string {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
  const lines = Object.entries({ Host: host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/** Sends a load from a process of its own, on the core of the load. */
export async function runOpenLoad(load: OpenLoad): Promise<Seen> {
  const args = ['--cpu-list', String(loadCore), process.execPath, import.meta.filename]
  const child = spawn('taskset', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(load))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  await once(child, 'close')
  return JSON.parse(output) as Seen
}

/** Sends a load, and tells what came of it. */
export async function sendOpenLoad({
  origin,
  messages,
  rate,
  seconds,
  connections,
  patience,
}: OpenLoad): Promise<Seen> {
  const turns = messages.map((message) => Buffer.from(message))
  const counts = { due: 0, unsent: 0, givenUp: 0, lost: 0, mute: 0 }
  const statuses: Record<string, number> = {}
  const good: number[] = []
  const refused: number[] = []
  const lines = new Set<Line>()
  let free: Line[] = []
  let turn = 0
  let phase: 'before' | 'load' | 'after' = 'before'

  const ask = (line: Line, since: number) => send(line, turns[turn++ % turns.length]!, since)
  const settle = (line: Line) => {
    const now = performance.now()
    line.busy = false
    if (phase === 'load') count(line, now - line.since)
    if (phase === 'load' && rate === 0) ask(line, now)
    else free.push(line)
  }
  const count = ({ status, head }: Line, took: number) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status < 300 && took <= patience) good.push(took)
    if (status !== 503) return
    refused.push(took)
    if (!/\r\nretry-after: \d/i.test(head)) counts.mute++
  }
  const open = (first: (line: Line) => void) => {
    const socket = connectTo(origin)
    const line: Line = {
      socket,
      since: performance.now(),
      received: 0,
      length: undefined,
      status: 0,
      head: '',
      busy: true,
    }
    lines.add(line)
    socket.once(origin.startsWith('https:') ? 'secureConnect' : 'connect', () => first(line))
    socket.on('data', (chunk: Buffer) => {
      line.received += chunk.length
      line.length ??= lengthFrom(line, chunk)
      if (line.received === line.length) settle(line)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      lines.delete(line)
      free = free.filter((each) => each !== line)
      if (line.busy && phase === 'load') counts.lost++
    })
  }
  const giveUp = (now: number) => {
    for (const line of lines) {
      if (!line.busy || now - line.since < patience) continue
      counts.givenUp++
      line.busy = false
      line.socket.destroy()
    }
  }

  // Clients have their connections: to make a thousand in one moment would be another load.
  while (free.length < connections) {
    for (let more = Math.min(20, connections - lines.size); more > 0; more--) {
      open((line) => send(line, greeting, performance.now()))
    }
    await sleep(1)
  }
  phase = 'load'
  const began = performance.now()
  if (rate === 0) for (const line of free.splice(0)) ask(line, began)
  let looked = began
  for (let now = began; now < began + seconds * 1_000; now = performance.now()) {
    for (const until = Math.floor(((now - began) * rate) / 1_000); counts.due < until; counts.due++) {
      const line = free.pop()
      if (line !== undefined) ask(line, now)
      // In place of one that was given up.
      else if (lines.size < connections) open((opened) => ask(opened, now))
      else counts.unsent++
    }
    if (now - looked > 100) {
      giveUp(now)
      looked = now
    }
    await sleep(1)
  }
  const took = (performance.now() - began) / 1_000
  phase = 'after'
  for (const { socket } of lines) socket.destroy()
  return { ...counts, statuses, goodput: good.length / took, good: quantiles(good), refused: quantiles(refused) }
}

const greeting = Buffer.from('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')

function connectTo(origin: string): Socket {
  const { hostname, port, protocol } = new URL(origin)
  const place = { host: hostname, port: Number(port) }
  const socket = protocol === 'https:' ? connectSecurely({ ...place, rejectUnauthorized: false }) : connect(place)
  return socket.setNoDelay(true)
}

function send(line: Line, message: Buffer, since: number): void {
  line.since = since
  line.busy = true
  line.received = 0
  line.length = undefined
  line.head = ''
  line.socket.write(message)
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

if (import.meta.main) console.log(JSON.stringify(await sendOpenLoad((await json(process.stdin)) as OpenLoad)))
