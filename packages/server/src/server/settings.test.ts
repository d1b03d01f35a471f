import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Option } from 'commander'
import { readSettings, type Setting, settings } from './settings.ts'

const rows = Object.entries<Setting>(settings)

test('a setting has the name of its flag, and a default that can be read', () => {
  for (const [name, { flags, default: normal, choices, read }] of rows) {
    assert.equal(new Option(flags).attributeName(), name)
    if (normal === undefined) continue
    assert.ok(choices?.includes(normal) ?? true, name)
    assert.doesNotThrow(() => read?.(normal, flags))
  }
})

test('a value that is none is refused by the name of its flag', () => {
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['port', '65536', /^--port takes a number from 0 to 65535, not "65536"\.$/],
    ['metricsPort', '-1', /^--metrics-port takes a number from 0 to 65535, not "-1"\.$/],
    ['databasePool', '0', /^--database-pool takes a number from 1 to 9999, not "0"\.$/],
    ['databasePool', '10000', /not "10000"/],
    ['workers', 'all', /^--workers takes a number from 1 to 1024, or auto, not "all"\.$/],
  ]
  for (const [name, text, message] of refused) {
    assert.throws(() => readSettings({ [name]: text }, [name]), { message })
  }
})

test('only settings of the command are read; other options stay as they are', (context) => {
  const given = { port: '0', databasePool: '3', jwtAlgorithms: 'ES256,PS256', workers: 'auto', json: true, redis: 'x' }
  const read = readSettings(given, ['port', 'jwtAlgorithms', 'workers', 'json', 'metricsPort'])
  const expected = { port: 0, jwtAlgorithms: ['ES256', 'PS256'], workers: 'auto', metricsPort: undefined }
  assert.deepEqual(read, { ...given, ...expected })
  const { DATABASE_UNSAFE } = process.env
  context.after(() => {
    if (DATABASE_UNSAFE !== undefined) process.env.DATABASE_UNSAFE = DATABASE_UNSAFE
    else delete process.env.DATABASE_UNSAFE
  })
  for (const [variable, isUnsafe] of [
    ['false', false],
    ['true', true],
  ] as const) {
    process.env.DATABASE_UNSAFE = variable
    assert.equal(readSettings({}, ['databaseUnsafe'])['databaseUnsafe'], isUnsafe)
  }
  assert.equal(readSettings({ databaseUnsafe: true }, ['databaseUnsafe'])['databaseUnsafe'], true)
})
