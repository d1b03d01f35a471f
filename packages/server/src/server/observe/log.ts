/**
 * The JSON log: one line for each request, on standard output (OPS-1). Lines are written in blocks: a write for each
 * line would cost more than the line.
 */

import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { type DestinationStream, destination, pino } from 'pino'
import { withoutCredentials } from 'resourced-contract/model/text'
import type { ClockDoubt } from '../../storage/storage.ts'
import type { Observation, Observe, StreamEnd } from './observe.ts'

/** The levels of the log, the most verbose first. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * Makes the observer that writes the log.
 *
 * @param stream standard output by default, written in blocks, at the latest after a second
 */
export function logTo(level: LogLevel, stream?: DestinationStream): Observe {
  const sink = stream ?? standardOutput()
  const time = clock()
  const timestamp = () => `,"time":"${time()}"`
  // Errors are prepared by `loggedError`; pino's own serializer would lose their type.
  const serializers = { err: (error: unknown) => error }
  const log = pino({ level, base: null, timestamp, serializers }, sink)
  const levels = pino.levels.values as Record<string, number>
  const least = levels[level] ?? Number.POSITIVE_INFINITY
  const report = logWith(log)
  return (observation) => {
    if (observation.kind === 'request') {
      const number = levels[observation.status >= 500 ? 'error' : 'info'] as number
      if (number >= least) sink.write(requestLine(number, time(), observation))
      return
    }
    report(observation)
    if (urgent.has(observation.kind) && 'flush' in sink) (sink as LogBlocks).flush()
  }
}

/**
 * Makes the observer that reports to a logger of the application. A logger that fails does not disturb requests.
 */
export function logWith(logger: Logger): Observe {
  const noteRejection = rejectionCounter(logger)
  return (observation) => {
    if (observation.kind === 'turned-away') return noteRejection()
    const entry = entryOf(observation)
    if (entry !== undefined) logger[entry.level](entry.fields, entry.message)
  }
}

/** Counts rejected requests. One line a second: a line for each would cost more time than the rejection saves. */
function rejectionCounter(log: Pick<Logger, 'warn'>): () => void {
  let rejected = 0
  return () => {
    if (rejected++ > 0) return
    const report = () => {
      log.warn({ requests: rejected }, 'turned away')
      rejected = 0
    }
    setTimeout(report, 1_000).unref()
  }
}

/** A logger, such as one of pino. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** One line of the log. */
interface Entry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: object
}

/** The line about an observation; `undefined` if the log does not report it. */
function entryOf(observation: Exclude<Observation, { kind: 'turned-away' }>): Entry | undefined {
  const entry = (level: Entry['level'], message: string, fields: object = {}) => ({ level, message, fields })
  switch (observation.kind) {
    case 'arrival':
    case 'unreadable':
    case 'refusal':
    case 'commit':
    case 'events-sent':
      return undefined
    case 'request': {
      const { requestId: request_id, method, path, version, status, code, tenant, caller, duration } = observation
      const who = tenant === undefined ? { caller } : { tenant, caller }
      const fields = { request_id, method, path, version: version?.name, status, code, ...who, duration }
      return entry(status >= 500 ? 'error' : 'info', 'request', fields)
    }
    case 'failure':
      return entry('error', 'failure', { request_id: observation.requestId, err: loggedError(observation.error) })
    case 'credential-refused': {
      const { kind, requestId: request_id, credential, reason } = observation
      return entry('debug', kind, { request_id, credential, reason })
    }
    case 'job': {
      const { job, task, status } = observation
      return entry(status === 'failed' ? 'error' : 'info', 'job', { job, task, status })
    }
    case 'stream': {
      if (observation.state === 'opened' || !cutOff.has(observation.reason)) return undefined
      return entry('info', 'stream cut off', { reason: observation.reason, caller: observation.caller })
    }
    case 'delivery': {
      const { delivery, consumer, outcome, reason } = observation
      return outcome === 'failed' ? entry('warn', 'delivery failed', { delivery, consumer, reason }) : undefined
    }
    case 'webhook-disabled':
      return entry('warn', 'webhook disabled', { webhook: observation.webhook, reason: observation.reason })
    case 'purge':
      if (observation.state === 'resumed') return entry('info', 'purge resumed')
      return entry('warn', 'purge stopped', { reason: reasonOf(observation) })
    case 'key-server':
      return entry('warn', 'key-server', { err: loggedError(observation.error) })
    case 'redis':
      if (observation.state === 'connected') return entry('info', 'redis connected')
      return entry('warn', 'redis lost', { reason: observation.reason })
    case 'replica':
      if (observation.state === 'connected') return entry('info', 'replica connected')
      return entry('warn', `replica ${observation.state}`, { reason: withoutCredentials(observation.reason) })
    case 'maintenance': {
      const of = observation.tenant === undefined ? {} : { tenant_id: observation.tenant }
      if (observation.state === 'off') return entry('info', 'maintenance off', of)
      const { since, message, retryAfter: retry_after } = observation
      return entry('info', 'maintenance on', { ...of, since, message, retry_after })
    }
    case 'certificate':
      if (observation.state === 'renewed') return entry('info', 'certificate renewed', { until: observation.until })
      return entry('warn', 'certificate refused', { reason: observation.reason })
    case 'worker': {
      const { state, worker, thread } = observation
      if (state === 'ended') return entry('error', 'worker ended', { worker, thread, reason: observation.reason })
      if (state === 'killed') {
        const reason = `it did not ${observation.asked} within ${observation.after} seconds`
        return entry('error', 'worker killed', { worker, thread, reason })
      }
      if (state === 'kept') return entry('warn', 'worker kept', { worker, thread })
      return entry('info', 'worker started', { worker, thread, server: observation.server })
    }
    case 'listening':
      return entry('info', observation.kind, { url: observation.url, server: observation.server })
    case 'metrics':
      return entry('info', observation.kind, { url: observation.url })
    case 'stopping':
      return entry('info', observation.kind, { reason: observation.reason })
    case 'stopped':
      return entry('info', observation.kind)
  }
}

/** Why streams end before their clients, their credentials or the server do. */
const cutOff: ReadonlySet<StreamEnd> = new Set(['slow', 'failure'])

/** Why purging stopped, and what to do. */
function reasonOf({ now, last, of }: ClockDoubt): string {
  const compared = of === 'purge' ? 'the last purge was' : 'the newest record is of'
  const moments = `The clock says ${new Date(now).toISOString()}, and ${compared} ${new Date(last).toISOString()}`
  const found = `${moments}: more than a day apart.`
  const remedy = 'If the clock is wrong, set it. If it is right, run: npx resourced purge confirm --database ADDRESS'
  return `${found} Nothing is removed for good until the clock is confirmed. ${remedy}`
}

/** Lines that an operator or a supervisor waits for: they are written at once. */
const urgent: ReadonlySet<Observation['kind']> = new Set([
  'certificate',
  'maintenance',
  'worker',
  'listening',
  'metrics',
  'stopping',
  'stopped',
])

/** The line that pino would write, built directly: pino takes 2 µs more for it, 7 percent of a GET. */
function requestLine(level: number, time: string, observation: Extract<Observation, { kind: 'request' }>): string {
  const { requestId, method, path, version, status, code, tenant, caller, duration } = observation
  const tenantMember = tenant === undefined ? '' : `,"tenant":${JSON.stringify(tenant)}`
  const codeMember = code === undefined ? '' : `,"code":"${code}"`
  const callerMember = caller === undefined ? '' : `,"caller":${JSON.stringify(caller)}`
  const versionMember = version === undefined ? '' : `,"version":"${version.name}"`
  const head = `{"level":${level},"time":"${time}","request_id":"${requestId}","method":${JSON.stringify(method)}`
  const outcome = `"status":${status}${codeMember}${tenantMember}${callerMember},"duration":${duration.toFixed(3)}`
  return `${head},"path":${JSON.stringify(path)}${versionMember},${outcome},"msg":"request"}\n`
}

/** The time as text, formatted once a millisecond. */
function clock(): () => string {
  let last = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) {
      last = now
      text = new Date(now).toISOString()
    }
    return text
  }
}

/** The properties of an error that are logged. */
export interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly code?: unknown
  readonly errors?: readonly LoggedError[]
}

/**
 * An error for the log, without credentials (ERR-4, SEC-3). Other properties of errors are left out: they may contain
 * requests, records and passwords. Accepts any thrown value, and never throws.
 */
function loggedError(thrown: unknown): LoggedError {
  try {
    if (!(thrown instanceof Error)) {
      const words = typeof thrown === 'object' ? Reflect.get(thrown ?? {}, 'message') : thrown
      return { type: typeof thrown, message: withoutCredentials(inspect(words)) }
    }
    const { type, message, stack } = pino.stdSerializers.err(thrown)
    const code: unknown = Reflect.get(thrown, 'code')
    return {
      type,
      message: withoutCredentials(message),
      stack: withoutCredentials(stack),
      ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
      ...(thrown instanceof AggregateError ? { errors: thrown.errors.map(loggedError) } : {}),
    }
  } catch {
    return { type: 'unknown', message: 'The thrown value cannot be read.' }
  }
}

/** The size of a block of lines in characters. */
const blockSize = 16_000

/** The longest delay of a line, in milliseconds. */
const longestDelay = 1_000

/** Where lines go. */
export interface LogBlocks extends DestinationStream {
  /** Writes the delayed lines. */
  flush(): void
  /** Resolves when everything is written; `undefined`: it is. */
  pending?(): Promise<void> | undefined
}

/** Resolves when standard output has written everything. */
let written: Promise<void> = Promise.resolve()

/** Standard output, in blocks. */
export function standardOutput(): LogBlocks {
  const sync = isFile(1)
  const output = destination({ fd: 1, sync })
  let underWay = false
  const blocks = inBlocks((block) => {
    if (!sync && !underWay) {
      underWay = true
      written = new Promise((resolve) => {
        output.once('drain', () => {
          underWay = false
          resolve()
        })
      })
    }
    // An asynchronous write starts at once; a synchronous one after it would overtake it.
    output.write(block)
  })
  process.once('exit', () => blocks.flush())
  return { ...blocks, pending: () => (underWay ? written : undefined) }
}

/**
 * Waits until standard output has written the log, so that the process may end.
 *
 * @param timeout in milliseconds: the reader of a pipe may have stopped
 */
export async function outputWritten(timeout: number): Promise<void> {
  await Promise.race([written, sleep(timeout, undefined, { ref: false })])
}

/** Collects lines, and writes them in blocks. */
export function inBlocks(write: (block: string) => void): LogBlocks {
  let lines: string[] = []
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (length === 0) return
    const block = lines.join('')
    lines = []
    length = 0
    write(block)
  }
  return {
    write(line) {
      lines.push(line)
      length += line.length
      if (length >= blockSize) flush()
      else timer ??= setTimeout(flush, longestDelay).unref()
    },
    flush,
  }
}

/**
 * Forwards the log of a worker in whole lines: processes that write to one pipe by themselves may tear lines apart.
 * While the output is full, the worker waits.
 */
export function forwardLines(from: Readable, output: LogBlocks): void {
  let rest = ''
  from.setEncoding('utf8')
  from.on('data', (piece: string) => {
    const end = piece.lastIndexOf('\n') + 1
    if (end === 0) {
      rest += piece
      return
    }
    output.write(rest + piece.slice(0, end))
    rest = piece.slice(end)
    output.flush()
    const written = output.pending?.()
    if (written === undefined) return
    from.pause()
    void written.then(() => from.resume())
  })
  from.on('end', () => {
    // A worker that was killed may leave a part of a line.
    if (rest !== '') output.write(`${rest}\n`)
    output.flush()
  })
}

/** Files are written synchronously. A pipe may block until its reader reads, so it is written asynchronously. */
function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile()
  } catch {
    return false
  }
}
