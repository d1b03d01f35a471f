import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from 'resourced-contract/spec/faults'
import { fetchKeys } from '../server/jwt.ts'
import type { VerifyToken } from './authenticate.ts'
import {
  accepted,
  audience,
  claimsAt,
  issuer,
  type KeyServer,
  keyServer,
  type Pair,
  pairOf,
  sign,
} from './jwt.fixture.ts'
import { asymmetricAlgorithms } from './jwt-settings.ts'
import { signingKeys } from './signing-keys.ts'
import { rememberTokens, tokenVerifier } from './verify-token.ts'

const begin = Date.UTC(2030, 0, 1)
const claims = { ...claimsAt(begin), exp: begin / 1_000 + 86_400 }
const first = await pairOf('first')
const second = await pairOf('second')

/** The time limit of a fetch, in milliseconds, for key servers that do not respond. A busy machine needs more otherwise. */
const timeLimit = 500

/** A verification whose keys come from a real server, by a clock that is moved by hand. */
async function trial(context: TestContext, pair: Pair, timeout = 30_000) {
  const server = await keyServer(context, pair)
  const clock = { now: begin }
  const failures: unknown[] = []
  const now = () => clock.now
  const keys = signingKeys({
    fetch: () => fetchKeys({ url: server.url }, { timeout, bytes: 10_000 }),
    now,
    failed: (error) => failures.push(error),
  })
  const settings = {
    issuer,
    audience,
    keys: { url: server.url },
    algorithms: asymmetricAlgorithms,
    rolesClaim: 'roles',
  }
  const verify = tokenVerifier(settings, keys, now)
  return { server, clock, failures, verify, remembering: rememberTokens(verify, now) }
}

/** The result of a token: its caller, `refused`, or the code of a fault. */
async function resultOf(verify: VerifyToken, token: string): Promise<string> {
  try {
    const found = await verify(token)
    return typeof found === 'string' ? 'refused' : found.caller.id
  } catch (error) {
    assert.ok(error instanceof Fault)
    return error.code
  }
}

test('AUT-2: concurrent requests for keys share one fetch', async (t) => {
  const { server, verify, failures } = await trial(t, first)
  const token = await sign(first, claims)
  const results = await Promise.all(Array.from({ length: 100 }, () => resultOf(verify, token)))
  assert.deepEqual([new Set(results), server.asked, failures], [new Set(['ann']), 1, []])
})

test('AUT-2: a thousand forged key ids cause one fetch in half a minute', async (t) => {
  const { server, clock, verify } = await trial(t, first)
  const forged = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => sign(second, claims, { kid: `k${index}` })),
  )
  const storm = async () => new Set(await Promise.all(forged.map((token) => resultOf(verify, token))))
  assert.deepEqual([await storm(), server.asked], [new Set(['refused']), 1])
  clock.now += 29_999
  assert.deepEqual([await storm(), server.asked], [new Set(['refused']), 1])
  clock.now += 1
  assert.deepEqual([await storm(), server.asked], [new Set(['refused']), 2])
  assert.equal(await resultOf(verify, await sign(first, claims)), 'ann')
})

test('AUT-2: tokens that are refused without a key cause no fetch', async (t) => {
  const { server, verify } = await trial(t, first)
  const right = await sign(first, claims)
  const refused = [right.replace('.', '..'), right.slice(0, right.lastIndexOf('.') + 1), 'x'.repeat(9_000)]
  for (const header of [{ typ: 'logout+jwt' }, { crit: ['exp'], exp: 1 }]) {
    refused.push(`${Buffer.from(JSON.stringify({ alg: 'ES256', ...header })).toString('base64url')}.e30.AAAA`)
  }
  for (const token of refused) assert.equal(await resultOf(verify, token), 'refused')
  assert.equal(server.asked, 0)
})

test('AUT-2: rotation: the new key is fetched when a token names it, and the old key is refused once it is no longer published', async (t) => {
  const { server, clock, verify } = await trial(t, first)
  const [old, fresh] = [await sign(first, claims), await sign(second, claims)]
  assert.equal(await resultOf(verify, old), 'ann')
  server.keys = [first.jwk, second.jwk]
  assert.equal(await resultOf(verify, fresh), 'refused', 'within the half minute after a fetch')
  clock.now += 30_000
  assert.deepEqual([await resultOf(verify, fresh), await resultOf(verify, old), server.asked], ['ann', 'ann', 2])
  server.keys = [second.jwk]
  clock.now += 600_000
  assert.equal(await resultOf(verify, old), 'ann', 'the old keys serve while new ones are fetched')
  while (server.asked < 3) await sleep(1)
  await sleep(20)
  assert.deepEqual([await resultOf(verify, old), await resultOf(verify, fresh)], ['refused', 'ann'])
})

test('AUT-2: after a long time without tokens, keys are fetched before the first token is verified', async (t) => {
  const { server, clock, verify } = await trial(t, first)
  const token = await sign(first, claims)
  assert.equal(await resultOf(verify, token), 'ann')
  server.keys = [second.jwk]
  clock.now += 1_200_000
  const results = await Promise.all(Array.from({ length: 5 }, () => resultOf(verify, token)))
  assert.deepEqual([new Set(results), server.asked], [new Set(['refused']), 2])
})

test('AUT-2: if a key id is reused for another key, tokens of the old key are refused', async (t) => {
  const { server, clock, verify } = await trial(t, first)
  const token = await sign(first, claims)
  assert.equal(await resultOf(verify, token), 'ann')
  server.keys = [{ ...second.jwk, kid: 'first' }]
  clock.now += 1_200_000
  assert.equal(await resultOf(verify, token), 'refused')
  assert.equal(await resultOf(verify, await sign(second, claims, { kid: 'first' })), 'ann')
})

test('AUT-2: keys are fetched even if the clock was set back', async (t) => {
  const { server, clock, verify } = await trial(t, first)
  await resultOf(verify, await sign(first, claims))
  server.keys = [second.jwk]
  clock.now -= 7_200_000
  assert.equal(await resultOf(verify, await sign(second, claims)), 'ann')
})

const broken: readonly [name: string, answer: NonNullable<KeyServer['answer']>, reason: RegExp][] = [
  ['is slow', () => {}, /timeout/i],
  ['stops in the middle', (_, response) => void response.write('{"keys":['), /timeout/i],
  [
    'sends more than it may',
    (_, response) => response.end(`{"keys":[]}${' '.repeat(10_000)}`),
    /more than 10000 bytes/,
  ],
  ['never ends', (_, response) => void endless(response), /more than 10000 bytes|timeout/],
  ['sends no JSON', (_, response) => response.end('<html>'), /it is not JSON/],
  ['sends nothing', (_, response) => response.end(), /it is not JSON/],
  ['sends an array', (_, response) => response.end('[]'), /not a JWK Set/],
  ['sends null', (_, response) => response.end('null'), /not a JWK Set/],
  ['sends keys that are no array', (_, response) => response.end('{"keys":{}}'), /not a JWK Set/],
  ['sends keys that are no objects', (_, response) => response.end('{"keys":[[]]}'), /not a JWK Set/],
  [
    'sends very many keys',
    (_, response) => response.end(JSON.stringify({ keys: Array(101).fill({}) })),
    /more than 100 keys/,
  ],
  ['fails', (_, response) => response.writeHead(500).end('{"keys":[]}'), /answers with 500/],
  ['sends elsewhere', (_, response) => response.writeHead(302, { Location: '/other' }).end(), /redirect/],
  ['breaks the connection', (request) => request.socket.destroy(), /closed|terminated|reset/],
]

async function endless(response: Parameters<NonNullable<KeyServer['answer']>>[1]): Promise<void> {
  while (!response.destroyed) {
    response.write(' '.repeat(1_000))
    await sleep(1)
  }
}

for (const [name, answer, reason] of broken) {
  test(`ERR-6: a key server that ${name} causes 502 until its first response, and only log entries after it`, async (t) => {
    const { server, clock, failures, verify } = await trial(t, first, timeLimit)
    const token = await sign(first, claims)
    server.answer = answer
    const results = await Promise.all(Array.from({ length: 10 }, () => resultOf(verify, token)))
    assert.deepEqual([new Set(results), server.asked], [new Set(['KEY_SERVER_FAILED']), 1])
    assert.deepEqual(failures.length, 1)
    assert.match(fullText(failures[0]), reason)
    assert.equal(await resultOf(verify, token), 'KEY_SERVER_FAILED')
    assert.equal(server.asked, 1, 'it is let alone for half a minute')
    server.answer = undefined
    clock.now += 30_000
    assert.equal(await resultOf(verify, token), 'ann')
    server.answer = answer
    clock.now += 600_000
    for (let minute = 0; minute < 3; minute++) {
      assert.equal(await resultOf(verify, token), 'ann', 'the keys that it had go on serving')
      assert.equal(await resultOf(verify, await sign(second, claims)), 'refused')
      clock.now += 60_000
    }
    assert.equal(failures.length, 4)
  })
}

function fullText(error: unknown): string {
  return error instanceof Error ? `${error.message} ${fullText(error.cause)}` : String(error)
}

test('ERR-6: an observer that throws does not end the process', async (t) => {
  const { server, clock, failures, verify } = await trial(t, first)
  const token = await sign(first, claims)
  assert.equal(await resultOf(verify, token), 'ann')
  failures.push = () => {
    throw new Error('a bug of whoever observes')
  }
  server.answer = (_, response) => response.writeHead(500).end()
  for (const later of [600_000, 1_800_000]) {
    clock.now = begin + later
    assert.equal(await resultOf(verify, token), 'ann')
    await sleep(20)
  }
  assert.equal(server.asked, 3)
})

test('ERR-6: a key server that is down', async (t) => {
  const { server, clock, failures, verify } = await trial(t, first)
  const token = await sign(first, claims)
  await server.stop()
  assert.equal(await resultOf(verify, token), 'KEY_SERVER_FAILED')
  clock.now += 30_000
  assert.equal(await resultOf(verify, token), 'KEY_SERVER_FAILED')
  assert.match(fullText(failures[1]), /ECONNREFUSED/)
  assert.equal(failures.length, 2)
})

test('AUT-2: a verified token is cached for a minute, and not beyond its expiry', async (t) => {
  const { server, clock, remembering } = await trial(t, first)
  const token = await sign(first, claims)
  const found = accepted(await remembering(token))
  assert.equal(found.until, begin + 60_000)
  assert.equal(accepted(await remembering(token)).caller, found.caller, 'the same caller, with which grants are kept')
  const brief = await sign(first, { ...claims, exp: begin / 1_000 - 20 })
  assert.equal(accepted(await remembering(brief)).until, begin + 10_000)
  clock.now += 10_000
  assert.equal(await resultOf(remembering, brief), 'refused')
  server.keys = [second.jwk]
  await resultOf(remembering, await sign(second, claims))
  clock.now += 20_000
  await resultOf(remembering, await sign(second, claims))
  assert.equal(await resultOf(remembering, token), 'ann', 'its key is gone, and it is still remembered')
  clock.now += 30_000
  assert.equal(await resultOf(remembering, token), 'refused')
})

test('AUT-2: the cache of verified tokens is bounded and drops the oldest first', async () => {
  let verified = 0
  const verify = rememberTokens(
    async (token) => {
      verified++
      return {
        caller: { id: token, roles: [], claims: {}, credential: 'jwt', expiresAt: begin },
        until: Number.POSITIVE_INFINITY,
      }
    },
    () => begin,
  )
  for (let index = 0; index < 5_001; index++) await verify(`${index}`)
  for (let index = 1; index < 5_001; index++) await verify(`${index}`)
  assert.equal(verified, 5_001)
  assert.equal(accepted(await verify('0')).caller.id, '0')
  assert.equal(verified, 5_002)
})
