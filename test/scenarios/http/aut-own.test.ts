/** AUT-2: credentials that the application checks itself. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuthenticateOption, Unauthenticated } from '../../../packages/server/src/policy/own-credentials.ts'
import { logTo } from '../../../packages/server/src/server/observe/log.ts'
import { studio } from '../../declarations.ts'
import { type Trial, trialFor } from '../../harness.ts'

/** Sends a request with a cookie, and without another credential unless said. */
type Ask = (cookie: string, more?: Partial<Parameters<Trial['send']>[0]>) => ReturnType<Trial['send']>

async function started(context: TestContext, authenticate: AuthenticateOption, more = {}) {
  const current = await trialFor(context, studio, { memory: true, authenticate, ...more })
  const ask: Ask = (cookie, { headers, ...sent } = {}) =>
    current.send({ path: '/v1/projects', as: null, ...sent, headers: { ...headers, cookie } })
  return { ...current, ask }
}

const sessions: AuthenticateOption = async ({ headers: { cookie } }) => {
  await sleep(1)
  if (cookie === 'ann') return { id: 'ann', roles: [], claims: { team: 'blue' } }
  if (cookie === 'boss') return { id: 'boss', roles: ['admin'] }
  if (cookie === 'ended') throw new Unauthenticated('the session of ann has ended')
  return undefined
}

it('AUT-2, AUT-4: a caller of the application owns records, and sees what rules allow', async (context) => {
  const { ask, send } = await started(context, sessions)
  const made = await ask('ann', { body: { name: 'mine' } })
  assert.deepEqual([made.status, made.json.owner_id], [201, 'ann'])
  // The same subject by API key is the same caller.
  assert.equal((await send({ path: made.headers.location ?? '', as: 'ann' })).status, 200)
  assert.equal((await send({ path: made.headers.location ?? '', as: 'bob' })).status, 403)
  assert.equal((await ask('boss', { path: made.headers.location ?? '' })).status, 200)
  assert.equal((await ask('ann', { path: '/v1/users', body: {} })).status, 403)
})

it('AUT-2: without a credential of the application, API keys are tried; one of the application wins', async (context) => {
  const { ask, send, seen } = await started(context, sessions)
  assert.equal((await send({ path: '/v1/projects', as: 'bob' })).status, 200)
  assert.equal((await ask('ann', { as: 'unknown' })).status, 200)
  assert.equal((await ask('ended', { as: 'root' })).status, 401)
  const none = await ask('')
  assert.deepEqual([none.status, none.headers['www-authenticate']], [401, 'Bearer realm="resourced"'])
  assert.match(none.json.detail, /^Send a credential of this application, or an API key: /)
  const callers = seen.flatMap((each) => (each.kind === 'request' ? [each.caller] : []))
  assert.deepEqual(callers, ['bob', 'ann', undefined, undefined])
})

it('AUT-11: a caller whose credential does not say when it ends, or never ends, expires at no time', async (context) => {
  const ends: Readonly<Record<string, number>> = { some: Date.UTC(2099, 0), never: Infinity, far: 8e15, farther: 1e300 }
  const { ask } = await started(context, ({ headers: { cookie = '' } }) => ({
    ...{ id: cookie, roles: ['lasting'] },
    ...(Object.hasOwn(ends, cookie) && { expiresAt: ends[cookie] }),
  }))
  const told: unknown[] = []
  for (const cookie of ['unknown', ...Object.keys(ends)]) {
    const { status, json } = await ask(cookie, { path: '/v1/caller' })
    const made = await ask(cookie, { path: '/v1/api-keys', body: {} })
    told.push([cookie, status, json.expires_at, made.status, made.json.expires_at])
  }
  assert.deepEqual(told, [
    ['unknown', 200, null, 403, undefined],
    ['some', 200, '2099-01-01T00:00:00.000Z', 201, '2099-01-01T00:00:00.000Z'],
    ['never', 200, null, 201, null],
    ['far', 200, null, 201, null],
    ['farther', 200, null, 201, null],
  ])
})

it('AUT-1, CON-6: every refused credential gets the same response, before anything else is refused', async (context) => {
  const { ask, seen } = await started(context, sessions)
  const answers = [
    await ask('ended'),
    await ask('ended', { path: '/v1/nothing' }),
    await ask('ended', { method: 'PUT', body: '{', headers: { 'content-type': 'text/plain' } }),
    await ask('', { as: 'unknown' }),
    await ask('', { headers: { authorization: 'Basic eDp5' } }),
  ]
  const told = answers.map(({ status, headers, json }) => [status, headers['www-authenticate'], json.detail, json.code])
  assert.equal(new Set(told.map((each) => JSON.stringify(each))).size, 1, JSON.stringify(told))
  assert.equal(told[0]?.[0], 401)
  const reasons = seen.flatMap((each) =>
    each.kind === 'credential-refused' ? [`${each.credential} ${each.reason}`] : [],
  )
  assert.deepEqual(reasons.slice(0, 3), ['own refused', 'own refused', 'own refused'])
})

it('AUT-2: results are not cached: a session that ends is refused at once', async (context) => {
  let ended = false
  let calls = 0
  const { ask } = await started(context, () => {
    calls++
    if (ended) throw new Unauthenticated()
    return { id: 'ann', roles: [] }
  })
  assert.equal((await ask('a')).status, 200)
  ended = true
  assert.equal((await ask('a')).status, 401)
  assert.equal(calls, 2)
})

it('LIM-1: refused credentials of the application count against the address', async (context) => {
  const declaration = { ...studio, limits: { rate: { address: '2/minute' } } } as const
  const current = await trialFor(context, declaration, { memory: true, authenticate: sessions, rates: {} })
  const ask = async (cookie: string, from: string) => {
    const answer = await current.send({ path: '/v1/projects', as: null, from, headers: { cookie } })
    return answer.status
  }
  const first = [await ask('ended', '192.0.2.1'), await ask('ended', '192.0.2.1'), await ask('ended', '192.0.2.1')]
  assert.deepEqual(first, [401, 401, 429])
  assert.equal(await ask('ann', '192.0.2.1'), 200)
  assert.equal(await ask('ended', '192.0.2.2'), 401)
})

const failing: Readonly<Record<string, readonly [AuthenticateOption, RegExp]>> = {
  'an error': [
    () => {
      throw new Error('postgres://me:secret@db is down')
    },
    /postgres:\/\/\*\*\*@db is down/,
  ],
  'a rejection': [async () => Promise.reject(new TypeError('no such table')), /no such table/],
  'a thrown text': [
    () => {
      throw 'broken'
    },
    /AUTHENTICATION|credential/i,
  ],
  'no answer in time': [() => new Promise(() => {}), /took more than 0\.02 seconds/],
}
const results: Readonly<Record<string, readonly [unknown, RegExp]>> = {
  null: [null, /authenticate\(\) returned null\. Return \{ id, roles, claims \}, or undefined/],
  'a boolean': [true, /returned a boolean/],
  'no id': [{ roles: [] }, /whose id is not a text/],
  'a number as id': [{ id: 7, roles: [] }, /whose id is not a text/],
  'an empty id': [{ id: '', roles: [] }, /whose id is not a text/],
  'a long id': [{ id: 'x'.repeat(201), roles: [] }, /whose id is not a text/],
  'an id that no database stores': [{ id: 'a\0', roles: [] }, /whose id is not a text/],
  'no roles': [{ id: 'ann' }, /whose roles are not an array of texts/],
  'roles as text': [{ id: 'ann', roles: 'admin' }, /whose roles are not an array of texts/],
  'a role that is no text': [{ id: 'ann', roles: ['a', 1] }, /whose roles are not an array of texts/],
  'claims as array': [{ id: 'ann', roles: [], claims: [] }, /claims is not an object/],
  'claims with a date': [{ id: 'ann', roles: [], claims: { at: new Date() } }, /claims\.at is not plain data/],
  'huge claims': [{ id: 'ann', roles: [], claims: { a: 'x'.repeat(20_000) } }, /more than 16384 characters/],
  'an end that is no time': [{ id: 'ann', roles: [], expiresAt: '2030-01-01' }, /whose expiresAt is not a number/],
}
const table = [
  ...Object.entries(failing),
  ...Object.entries(results).map(([name, [result, said]]) => {
    return [name, [() => result as ReturnType<AuthenticateOption>, said]] as const
  }),
]
for (const [name, [authenticate, said]] of table) {
  it(`ERR-6, ERR-4: ${name} of authenticate() is 502, and the log has the reason`, async (context) => {
    const { ask, seen } = await started(context, authenticate, { authenticateTimeout: 20 })
    const answer = await ask('a')
    assert.deepEqual([answer.status, answer.json.code], [502, 'AUTHENTICATION_FAILED'])
    assert.equal(answer.headers['retry-after'], '5')
    assert.doesNotMatch(answer.text, /postgres|table|broken|roles|seconds/)
    const lines: string[] = []
    const log = logTo('error', { write: (line) => void lines.push(line) })
    for (const each of seen) log(each)
    assert.match(lines.join(''), said)
    assert.match(lines.join(''), new RegExp(answer.json.request_id))
    assert.doesNotMatch(lines.join(''), /secret/)
  })
}

it('AUT-10: keys are made with such a credential only if its end is known', async (context) => {
  let expiresAt: number | undefined
  const { ask } = await started(context, () => ({ id: 'boss', roles: ['admin'], ...(expiresAt && { expiresAt }) }))
  const create = (body: object) => ask('boss', { path: '/v1/api-keys', body })
  const refused = await create({ expires_at: new Date(Date.now() + 1_000).toISOString() })
  assert.deepEqual([refused.status, refused.json.errors[0].pointer], [403, '/expires_at'])
  assert.equal((await create({})).status, 403)
  expiresAt = Date.now() + 60_000
  const made = await create({})
  assert.deepEqual([made.status, Date.parse(made.json.expires_at)], [201, expiresAt])
  assert.equal(made.json.made_by, 'boss')
  expiresAt = Number.POSITIVE_INFINITY
  assert.equal((await create({})).json.expires_at, null)
})

it('AUT-2: the function receives the request and what the platform passed', async (context) => {
  const given: unknown[] = []
  const { app } = await started(context, ({ native, ...request }) => {
    given.push(request, (native as { user: string }).user)
    return { id: 'ann', roles: [] }
  })
  const readBody = async () => new Uint8Array()
  const [target, headers, address] = ['/v1/projects?limit=1', { cookie: 'a' }, '192.0.2.1']
  const sent = { method: 'GET', target, headers, secure: true, address, readBody, native: { user: 'ann' } }
  assert.equal((await app.respond(sent)).status, 200)
  assert.deepEqual(given, [{ method: 'GET', target, headers, secure: true, address }, 'ann'])
})

it('AUT-2, DOC-1: the OpenAPI document says that credentials of the application are accepted', async (context) => {
  const { ask } = await started(context, sessions)
  const { json } = await ask('ann', { path: '/v1/openapi.json' })
  assert.deepEqual(json.security, [{ bearer: [] }, {}])
  assert.match(
    json.info.description,
    /^Every request needs `Authorization: Bearer` or a credential of the application/m,
  )
})
