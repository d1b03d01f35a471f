import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { type LogEntry, type LogOption, readLog } from './app-log.ts'
import type { Observation } from './observe.ts'

const request = (status: number): Observation => ({
  ...{ kind: 'request', requestId: 'r1', method: 'GET', path: '/v1/tasks', route: '/v1/tasks', version: undefined },
  ...{ status, code: undefined, tenant: undefined, caller: 'ann', duration: 1.5 },
})
const failure: Observation = {
  kind: 'failure',
  requestId: 'r1',
  error: new Error('postgres://me:secret@db', { cause: new Error(`rsk_${'a'.repeat(49)}`) }),
}
const observations: readonly Observation[] = [
  request(200),
  request(502),
  failure,
  { kind: 'credential-refused', requestId: 'r1', credential: 'own', reason: 'refused' },
  { kind: 'arrival' },
]

test('by default, warnings and errors go to standard error, without secrets', (context) => {
  const lines: string[] = []
  const { mock } = context.mock.method(process.stderr, 'write', (line: string) => lines.push(line) > 0)
  const observe = readLog(undefined)
  for (const each of observations) observe?.(each)
  mock.restore()
  const entries = lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    entries.map(({ level, msg, request_id }) => [level, msg, request_id]),
    [
      [50, 'request', 'r1'],
      [50, 'failure', 'r1'],
    ],
  )
  assert.equal(entries[1].err.type, 'Error')
  assert.doesNotMatch(lines.join(''), /secret|rsk_a/)
})

test('a function receives every entry, and decides which it writes', () => {
  const entries: LogEntry[] = []
  const observe = readLog((entry) => void entries.push(entry))
  for (const each of observations) observe?.(each)
  assert.deepEqual(
    entries.map(({ level, message }) => `${level} ${message}`),
    ['info request', 'error request', 'error failure', 'debug credential-refused'],
  )
  const [first] = entries
  assert.deepEqual([first?.fields['status'], first?.fields['caller'], first?.fields['path']], [200, 'ann', '/v1/tasks'])
  assert.doesNotMatch(JSON.stringify(entries), /secret|rsk_a/)
})

test('a logger is called as pino is', () => {
  const called: unknown[] = []
  const at = (level: string) => (fields: object, message: string) =>
    void called.push([level, message, 'status' in fields])
  readLog({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') })?.(request(200))
  assert.deepEqual(called, [['info', 'request', true]])
})

test('a logger that throws or rejects disturbs nothing', () => {
  readLog(() => {
    throw new Error('full')
  })?.(request(200))
  readLog((async () => Promise.reject(new Error('full'))) as LogOption)?.(request(200))
})

test('false is silent, and anything else is refused', () => {
  assert.equal(readLog(false), undefined)
  for (const option of [true, null, 'info', {}, { warn() {} }])
    assert.throws(() => readLog(option as LogOption), ConfigurationError)
})
