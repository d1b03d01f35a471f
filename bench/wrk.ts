/** The load: wrk, on its own core, sending many different requests in turn. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { Request } from './ask.ts'
import { loadCore } from './machine.ts'
import { messageOf } from './open-load.ts'

/** What is asked of one server. */
export interface Load {
  readonly origin: string
  readonly requests: readonly Request[]
  readonly connections: number
  /** Another origin, which half of the connections go to: where several servers do the same. */
  readonly also?: string | undefined
  /** Lua that makes requests of what has been answered, in place of sending them in turn. */
  readonly script?: string | undefined
  /** Whether each request is sent once: the load ends with the last one. */
  readonly once?: boolean | undefined
}

/** What one round of load came to. */
export interface Round {
  readonly answers: number
  /** Answers a second. */
  readonly rate: number
  /** Milliseconds within which 99 of 100 answers came. */
  readonly slow: number
}

/**
 * Writes the script with which wrk sends the requests in turn, again and again.
 *
 * @param file where it goes
 */
export function writeScript(
  file: string,
  { origin, also, requests, once, script = once ? onlyOnce : turns }: Load,
): void {
  const { host } = new URL(origin)
  const texts = requests.map((request) => quoted(messageOf(request, host)))
  // A function may hold 65,536 constants: far more than the requests of any measurement.
  const places = also === undefined ? '' : spread([new URL(origin), new URL(also)])
  writeFileSync(file, `local messages = {\n${texts.join(',\n')}\n}\n${script}${ending}${places}`, 'latin1')
}

const turns = `
local turn = 0
request = function()
  turn = turn % #messages + 1
  return messages[turn]
end
`

// wrk waits until its time is over, and counts that time: so the script measures how long the requests took.
const onlyOnce = `
local ffi = require('ffi')
ffi.cdef('typedef struct { long seconds, nanoseconds; } moment; int clock_gettime(int clock, moment *now);')
local moment = ffi.new('moment')
local now = function()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.seconds) * 1e6 + tonumber(moment.nanoseconds) / 1e3
end
local turn, began = 0, 0
request = function()
  -- wrk takes the first message for itself before it starts.
  if turn == 1 then began = now() end
  if turn == #messages then
    took = now() - began
    wrk.thread:stop()
    -- Over TLS an empty message is an error. Servers skip an empty line before a request (RFC 9112, section 2.2).
    return '\\r\\n'
  end
  turn = turn + 1
  return messages[turn]
end
local only
setup = function(thread) only = thread end
tookOf = function() return only:get('took') end
`

/** Each thread of wrk has one place to go. */
function spread(origins: readonly URL[]): string {
  const places = origins.map(({ hostname, port }) => `{ '${hostname}', '${port}' }`)
  return `
local places = { ${places.join(', ')} }
local threads = 0
setup = function(thread)
  threads = threads + 1
  local place = places[(threads - 1) % #places + 1]
  for _, address in ipairs(wrk.lookup(place[1], place[2])) do
    if wrk.connect(address) then thread.addr = address end
  end
end
`
}

const ending = `
done = function(summary, latency)
  local e = summary.errors
  local took = tookOf and tookOf() or summary.duration
  io.write(string.format('RESULT %d %d %d %d %d %d %d %d\\n', summary.requests, took,
    e.connect, e.read, e.write, e.timeout, e.status, latency:percentile(99)))
end
`

/** A text as a Lua string, byte by byte where it is not plain. */
function quoted(text: string): string {
  const bytes = Buffer.from(text).toString('latin1')
  // every byte but the printable ones of ASCII without the quote and the backslash
  const escaped = bytes.replace(/[^ !#-[\]-~]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, '0')}`)
  return `"${escaped}"`
}

/**
 * Lets wrk send for some seconds.
 *
 * @throws Error where an answer was an error, or a connection failed: such a rate would say nothing
 */
export async function runLoad(script: string, load: Load, seconds: number): Promise<Round> {
  const threads = load.also === undefined ? '1' : '2'
  const wrk = ['wrk', '--threads', threads, '--connections', String(load.connections), '--duration', `${seconds}s`]
  const args = ['--cpu-list', String(loadCore), ...wrk, '--timeout', '60s', '--script', script, load.origin]
  const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk))
  await once(child, 'close')
  const numbers = /^RESULT (.*)$/m.exec(output)?.[1]?.split(' ').map(Number)
  if (numbers === undefined) throw new Error(`wrk gave no result:\n${output}`)
  const [requests, duration, connect, read, write, timeout, status, slow] = numbers as [number, number, ...number[]]
  const failures = Object.entries({ connect, read, write, timeout, status }).filter(([, count]) => count !== 0)
  if (failures.length > 0) {
    throw new Error(
      `Of ${requests} requests to ${load.origin} some failed: ${failures.map((each) => each.join(' ')).join(', ')}`,
    )
  }
  return { answers: requests, rate: (requests / duration) * 1_000_000, slow: (slow ?? 0) / 1000 }
}
