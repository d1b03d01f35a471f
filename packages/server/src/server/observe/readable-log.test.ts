import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import type { LogLevel } from './log.ts'
import type { Observation } from './observe.ts'
import { type ReadableOptions, readableLog } from './readable-log.ts'

const request = {
  ...{ kind: 'request', requestId: 'r1', method: 'GET', path: '/v1/books', version: undefined, route: undefined },
  ...{ status: 200, code: undefined, tenant: undefined, caller: 'alice', duration: 3.12345 },
} as const satisfies Observation

function lines(level: LogLevel, observations: readonly Observation[], options: ReadableOptions = { colors: false }) {
  let written = ''
  const screen = { write: (text: string) => (written += text) }
  const observe = readableLog(level, { ...options, screen, now: () => new Date(2026, 10, 23, 9, 5, 7) })
  for (const observation of observations) observe(observation)
  return written
}

test('a request is one line with time, method, path, status, duration and caller', () => {
  assert.equal(lines('info', [request]), '09:05:07  GET    /v1/books  200  3.1 ms  alice\n')
  const refused = { ...request, status: 404, code: 'NOT_FOUND', caller: undefined, duration: 41.6 }
  assert.equal(lines('info', [refused]), '09:05:07  GET    /v1/books  404 NOT_FOUND  42 ms\n')
})

test('colours show the class of a status, and are left out unless the terminal has them', () => {
  const colored = (status: number) => lines('info', [{ ...request, status }], { colors: true })
  for (const [status, color] of [
    [201, 32],
    [304, 36],
    [412, 33],
    [502, 31],
  ] as const) {
    assert.ok(colored(status).includes(`\x1b[${color}m${status}`), JSON.stringify(colored(status)))
  }
  assert.equal(stripVTControlCharacters(colored(200)), lines('info', [request]))
})

test('a level leaves out less severe entries', () => {
  assert.equal(lines('warn', [request]), '')
  assert.match(lines('warn', [{ ...request, status: 500 }]), / 500 /)
  const reason = { kind: 'credential-refused', requestId: 'r1', credential: 'key', reason: 'unknown' } as const
  assert.equal(lines('info', [reason as unknown as Observation]), '')
  assert.match(lines('debug', [reason as unknown as Observation]), /debug credential-refused {2}.*unknown/)
  assert.equal(lines('silent', [{ ...request, status: 500 }]), '')
})

test('what clients choose cannot control the terminal', () => {
  const hostile = { ...request, path: '/\x1b[2J\x9b1m\u202e', caller: 'mallory\r\n09:05:08  DELETE' }
  assert.equal(
    lines('info', [hostile]),
    '09:05:07  GET    /\\u001b[2J\\u009b1m\\u202e  200  3.1 ms  mallory\\u000d\\u000a09:05:08  DELETE\n',
  )
})

test('a failure has its stack', () => {
  const written = lines('info', [{ kind: 'failure', requestId: 'r1', error: new TypeError('It is broken\x07.') }])
  assert.match(written, /^09:05:07 {2}error failure\n {2}TypeError: It is broken\\u0007\.\n {6}at /)
})
