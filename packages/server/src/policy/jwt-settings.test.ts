import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { asymmetricAlgorithms, type JwtOptions, readJwtSettings } from './jwt-settings.ts'

const all: JwtOptions = { issuer: 'https://a.example', audience: 'api', jwks: 'https://a.example/keys' }

test('without options there are no JWTs; empty environment variables count as missing', () => {
  assert.equal(readJwtSettings({}), undefined)
  assert.equal(readJwtSettings({ issuer: '', audience: ' ', jwks: '', algorithms: [''], rolesClaim: '' }), undefined)
})

test('issuer, audience and keys are enough', () => {
  assert.deepEqual(readJwtSettings(all), {
    ...{ issuer: 'https://a.example', audience: 'api', keys: { url: 'https://a.example/keys' } },
    ...{ algorithms: asymmetricAlgorithms, rolesClaim: 'roles' },
  })
  const settings = readJwtSettings({ ...all, algorithms: [' ES256', 'RS256 '], rolesClaim: 'realm_access.roles' })
  assert.deepEqual([settings?.algorithms, settings?.rolesClaim], [['ES256', 'RS256'], 'realm_access.roles'])
})

const partial: readonly [Partial<JwtOptions>, readonly string[]][] = [
  [{ issuer: 'a' }, ['--jwt-audience (JWT_AUDIENCE)', '--jwt-jwks (JWT_JWKS)']],
  [{ ...all, issuer: '' }, ['--jwt-issuer (JWT_ISSUER)']],
  [{ ...all, jwks: undefined }, ['--jwt-jwks (JWT_JWKS)']],
  [{ algorithms: ['ES256'] }, ['(JWT_ISSUER)', '(JWT_AUDIENCE)', '(JWT_JWKS)']],
  [{ rolesClaim: 'groups' }, ['(JWT_ISSUER)', '(JWT_AUDIENCE)', '(JWT_JWKS)']],
]
for (const [options, missing] of partial) {
  test(`${JSON.stringify(options)}: the missing setting is named`, () => {
    assert.throws(
      () => readJwtSettings(options),
      ({ message }: ConfigurationError) => missing.every((name) => message.includes(name)),
    )
  })
}

for (const name of ['none', 'None', 'HS256', 'HS512', 'hs256', 'rs256', 'RSA-OAEP', 'dir', 'ES256K', '__proto__']) {
  test(`the algorithm ${name} is refused, with the supported ones`, () => {
    assert.throws(
      () => readJwtSettings({ ...all, algorithms: ['RS256', name] }),
      ({ message }: ConfigurationError) => message.includes(JSON.stringify(name)) && message.includes('RS256, '),
    )
  })
}

const places: readonly [jwks: string, keys: unknown][] = [
  ['https://a.example/keys?x=1', { url: 'https://a.example/keys?x=1' }],
  ['HTTPS://a.example/keys', { url: 'https://a.example/keys' }],
  ['http://127.0.0.1:8080/keys', { url: 'http://127.0.0.1:8080/keys' }],
  ['http://[::1]/keys', { url: 'http://[::1]/keys' }],
  ['http://localhost/keys', { url: 'http://localhost/keys' }],
  ['keys.json', { file: 'keys.json' }],
  ['/etc/keys.json', { file: '/etc/keys.json' }],
  ['C:\\keys.json', { file: 'C:\\keys.json' }],
  ['http://a.example/keys', /write https:\/\/a\.example\/keys/],
  ['http://127.0.0.1.example/keys', /https/],
  ['http://localhost@a.example/keys', /password/],
  ['https://user:hunter2@a.example/keys', /^(?!.*hunter2).*without a password/],
  ['ftp://a.example/keys', /begins with https/],
  ['file:///etc/keys.json', /the path of a file/],
  ['https://', /begins with https/],
]
for (const [jwks, keys] of places) {
  test(`keys at ${jwks}`, () => {
    const read = () => readJwtSettings({ ...all, jwks })?.keys
    if (keys instanceof RegExp) assert.throws(read, { name: 'ConfigurationError', message: keys })
    else assert.deepEqual(read(), keys)
  })
}
