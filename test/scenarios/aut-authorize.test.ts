/** AUT-12: the function `authorize` of a declaration. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { AuthorizationRequest } from 'resourced-contract/model/declared-functions'
import { ProblemError } from '../../packages/client/src/index.ts'
import { type Cors, readCors } from '../../packages/server/src/http/cors.ts'
import { Type } from '../../packages/server/src/index.ts'
import { createApp } from '../../packages/server/src/server/create-app.ts'
import { logTo } from '../../packages/server/src/server/observe/log.ts'
import { newDatabase } from '../engine.ts'
import { places, type Trial, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const nowhere = '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11'

type Authorize = NonNullable<InterfaceDeclaration['authorize']>

function notes(authorize: unknown, limits: InterfaceDeclaration['limits'] = {}): InterfaceDeclaration {
  return {
    name: 'notes',
    versions: { v1: {}, v2: {} },
    changes: [{ version: 'v2', resource: 'notes', was: 'papers' }],
    resources: { notes: { fields: { text: Type.String({ maxLength: 9 }) }, access: anyone } },
    limits,
    authorize: authorize as Authorize,
  }
}

/** An interface whose function notes what it receives. */
async function noting(context: TestContext, answer: Authorize = () => true) {
  const asked: AuthorizationRequest[] = []
  const authorize: Authorize = (request) => {
    asked.push(request)
    return answer(request)
  }
  const cors = readCors(['https://a.example'], false)
  return { asked, ...(await trialFor(context, notes(authorize), { cors: cors as Cors })) }
}

it('AUT-12: the function receives a description of each request, in terms of the current version', async (context) => {
  const { send, asked } = await noting(context)
  const sent: readonly (readonly [method: string, path: string, collection?: string, action?: string, id?: string])[] =
    [
      ['POST', '/v2/notes', 'notes', 'create'],
      ['GET', '/v2/notes?text=a', 'notes', 'read'],
      ['HEAD', `/v1/papers/${nowhere}`, 'notes', 'read', nowhere],
      ['PATCH', `/v2/notes/${nowhere}`, 'notes', 'update', nowhere],
      ['DELETE', `/v2/notes/${nowhere}`, 'notes', 'delete', nowhere],
      ['POST', `/v2/notes/${nowhere}/restore`, 'notes', 'restore', nowhere],
      ['POST', '/v2/notes/bulk-delete', 'notes', 'delete'],
      ['GET', `/v2/notes/${nowhere}/deletion`, 'notes', 'read', nowhere],
      ['POST', '/v2/exports', undefined, 'export'],
      ['GET', `/v2/exports/${nowhere}/content`, undefined, 'export', nowhere],
      ['GET', '/v2/jobs', 'jobs', 'read'],
      ['POST', '/v2/api-keys', 'api-keys', 'create'],
      ['GET', '/v2/openapi.json'],
      ['GET', '/v2/caller'],
    ]
  const headers = { cookie: 'session=canary', 'x-tenant': 'blue' }
  for (const [method, path] of sent) await send({ method, path, headers, as: 'eve', ...bodyFor(method) })
  assert.deepEqual(
    asked.map(({ method, path, collection, action, id }) => [method, path, collection, action, id]),
    sent.map(([method, path, collection, action, id]) => [method, path.split('?')[0], collection, action, id]),
  )
  for (const request of asked) {
    assert.deepEqual(request.caller, { id: 'eve', roles: ['editor'], claims: {} })
    assert.deepEqual([request.headers['x-tenant'], request.address], ['blue', '127.0.0.1'])
    assert.doesNotMatch(JSON.stringify(request), /canary|rsk_/)
    assert.ok(Math.abs(request.now - Date.now()) < 60_000 && !request.signal.aborted)
    for (const part of [request, request.caller, request.caller.roles, request.headers])
      assert.ok(Object.isFrozen(part))
  }
})

function bodyFor(method: string): { body?: unknown } {
  return method === 'POST' ? { body: { text: 'a' } } : {}
}

it('AUT-12, BLK-2: a record that a unique value may create is asked about as one that is created', async (context) => {
  const asked: unknown[] = []
  const authorize: Authorize = ({ action }) => {
    asked.push(action)
    return action !== 'create'
  }
  const resources = { notes: { fields: { text: Type.String({ unique: true }) }, access: anyone } }
  const { send } = await trialFor(context, { ...notes(authorize), changes: [], resources })
  const put = await send({ method: 'PUT', path: '/v2/notes?text=a', body: {} })
  assert.deepEqual([put.status, put.json.code, asked], [403, 'FORBIDDEN', ['update', 'create']])
  assert.equal((await send({ path: '/v2/notes' })).json.pagination.total_count, 0)
})

it('AUT-12: open addresses, preflights, OPTIONS and refused requests do not reach it', async (context) => {
  const { send, asked } = await noting(context)
  const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
  const sent = [
    { path: '/health/live', as: null },
    { path: '/health/ready', as: null },
    { path: '/v2/notes', as: null },
    { path: '/v2/notes', as: 'unknown' },
    { path: '/docs', as: null },
    { method: 'OPTIONS', path: '/v2/notes', headers: preflight, as: null },
    { method: 'OPTIONS', path: '/v2/notes' },
    { path: '/v2/nothing' },
    { method: 'PUT', path: '/v2/notes', body: {} },
    { path: '/v2/notes', headers: { accept: 'text/csv' } },
  ]
  const statuses = []
  for (const each of sent) statuses.push((await send(each)).status)
  assert.deepEqual(asked, [])
  assert.deepEqual(statuses, [200, 200, 401, 401, 200, 204, 204, 404, 405, 406])
})

it('AUT-12, CON-6: a refusal comes before the body is read, and before 403 and 404 of records', async (context) => {
  const refuse: Authorize = async ({ method }) => {
    await sleep(1)
    return method === 'GET' ? true : { code: 'PLAN_ENDED', message: 'The plan of your company has ended.' }
  }
  const { send, app, keys } = await noting(context, refuse)
  const text = { 'content-type': 'text/plain' }
  for (const sent of [
    { path: '/v2/notes', body: '{' },
    { path: '/v2/notes', body: 'x', headers: text },
    { path: '/v2/notes', body: { text: 7 } },
    { method: 'PATCH', path: `/v2/notes/${nowhere}`, body: { text: 'a' } },
    { method: 'DELETE', path: `/v2/notes/${nowhere}`, headers: { 'if-match': '"a"' } },
  ]) {
    const refused = await send(sent)
    assert.deepEqual([refused.status, refused.json.code, places(refused)], [403, 'FORBIDDEN', ['PLAN_ENDED']])
    assert.equal(refused.json.detail, 'The plan of your company has ended.')
  }
  assert.equal((await send({ path: `/v2/notes/${nowhere}` })).status, 404)
  const headers = { authorization: `Bearer ${keys.get('ann')}`, 'content-type': 'application/json' }
  const readBody = () => assert.fail('the body is not read')
  const request = { method: 'POST', target: '/v2/notes', headers, secure: true, address: '', readBody }
  assert.equal((await app.respond(request)).status, 403)
})

const passing: Readonly<Record<string, () => unknown>> = {
  true: () => true,
  undefined: () => undefined,
  'a promise of true': async () => true,
  'a promise of undefined': async () => {},
  // biome-ignore lint/suspicious/noThenProperty: it is what is tried
  'a thenable': () => ({ then: (resolve: (value: boolean) => void) => resolve(true) }),
}
for (const [name, authorize] of Object.entries(passing)) {
  it(`AUT-12: ${name} lets a request pass, to the access rules`, async (context) => {
    const declared = notes(authorize)
    const access = { ...anyone, create: 'role:admin' } as const
    const resources = { notes: { fields: { text: Type.String() }, access } }
    const { send, make } = await trialFor(context, { ...declared, resources })
    await make('notes', { text: 'a' })
    assert.equal((await send({ path: '/v2/notes', as: 'ann' })).json.data.length, 1)
    assert.equal((await send({ path: '/v2/notes', body: { text: 'a' }, as: 'ann' })).status, 403)
  })
}

const refusing: Readonly<Record<string, readonly [() => unknown, detail: RegExp, errors: readonly string[]]>> = {
  false: [() => false, /not allowed/, []],
  'a promise of false': [async () => false, /not allowed/, []],
  'a message': [() => ({ message: 'Not today.' }), /^Not today\.$/, []],
  'a message and a code': [
    async () => ({ message: 'Not today.', code: 'SUNDAY', secret: 'canary' }),
    /^Not/,
    ['SUNDAY'],
  ],
  'a long message': [() => ({ message: 'x'.repeat(100_000) }), /^x{2000}$/, []],
}
for (const [name, [authorize, detail, errors]] of Object.entries(refusing)) {
  it(`AUT-12: ${name} refuses a request`, async (context) => {
    const { send, seen } = await trialFor(context, notes(authorize))
    const refused = await send({ path: '/v2/notes' })
    assert.deepEqual([refused.status, refused.json.code, places(refused)], [403, 'FORBIDDEN', errors])
    assert.match(refused.json.detail, detail)
    assert.doesNotMatch(refused.text, /canary/)
    assert.equal(seen.filter(({ kind }) => kind === 'failure').length, 0)
  })
}

const unreadable = { get message() { return assert.fail('unreadable') } } // biome-ignore format: one row reads best
const failing: Readonly<Record<string, readonly [authorize: (request: AuthorizationRequest) => unknown, said: RegExp]>> = {
  'an exception': [({ caller }) => assert.fail(`no plan for ${caller.id}-canary`), /threw AssertionError: no plan for \*\*\*/],
  'a rejection': [async ({ caller }) => assert.fail(`no plan for ${caller.id}`), /threw AssertionError: no plan for \*\*\*/],
  'a late rejection': [() => sleep(60).then(() => assert.fail('late')), /took more than 0\.02 seconds/],
  // Only what the caller has sent is removed from messages.
  'the names of the request': [
    ({ method, collection, action }) => assert.fail(`${method} ${collection} ${action}`),
    /threw AssertionError: POST [a-z]+ create/,
  ],
  'a rejection with a text': [() => Promise.reject('no'), /threw string: no/],
  'a function that never settles': [() => new Promise(() => {}), /took more than 0\.02 seconds/],
  // biome-ignore lint/suspicious/noThenProperty: it is what is tried
  'a thenable that throws': [() => ({ then: () => assert.fail('then') }), /threw AssertionError: then/],
  'a changed argument': [(request) => Object.assign(request, { caller: { id: 'root' } }), /threw TypeError/],
  'changed roles': [({ caller }) => (caller.roles as string[]).push('admin'), /threw TypeError/],
  null: [() => null, /returned a null/],
  'a number': [() => 1, /returned a number/],
  'a text': [async () => 'yes', /returned a string/],
  'an empty object': [() => ({}), /a refusal without a message/],
  'a code without a message': [() => ({ code: 'NO' }), /a refusal without a message/],
  'a code in small letters': [() => ({ code: 'no', message: 'No.' }), /a code that is not UPPER_CASE/],
  'an unreadable message': [() => unreadable, /./],
} // biome-ignore format: one row reads best
for (const [name, [authorize, said]] of Object.entries(failing)) {
  it(`AUT-12, ERR-4: ${name} is 502, and the log has the reason`, async (context) => {
    const current = await trialFor(context, notes(authorize, { authorizeTime: 20 }))
    const { send, seen } = current
    const answer = await send({ path: '/v2/notes', body: { text: 'a' }, as: 'ann' })
    assert.deepEqual([answer.status, answer.json.code], [502, 'AUTHORIZATION_FAILED'])
    assert.equal(answer.headers['retry-after'], '5')
    assert.doesNotMatch(answer.text, /plan|Assertion|seconds|canary/)
    const log = logged(seen)
    assert.match(log, said)
    assert.match(log, new RegExp(answer.json.request_id))
    await sleep(60)
  })
}

/** What the log has, as it writes it. */
function logged(seen: Trial['seen']): string {
  const lines: string[] = []
  const log = logTo('error', { write: (line: string) => void lines.push(line) })
  for (const each of seen) log(each)
  return lines.join('')
}

it('AUT-12: the signal ends when the time is over, or when the client has gone', async (context) => {
  const signals: AbortSignal[] = []
  const authorize: Authorize = ({ signal }) => {
    signals.push(signal)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const { send, app, keys, seen } = await trialFor(context, notes(authorize, { authorizeTime: 200 }))
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${keys.get('ann')}` }
  const readBody = async () => new Uint8Array()
  const request = { method: 'GET', target: '/v2/notes', headers, secure: true, address: '', readBody }
  const waiting = app.respond({ ...request, abandoned: () => gone.signal })
  while (signals.length === 0) await sleep(1)
  gone.abort()
  assert.equal((await waiting).status, 503)
  assert.equal(seen.filter(({ kind }) => kind === 'failure').length, 0)
  assert.equal((await send({ path: '/v2/notes' })).status, 502)
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  )
})

it('AUT-12: a request that waits for it gives its place to others', async (context) => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { app, keys } = await trialFor(
    context,
    notes(() => promise),
  )
  const headers = { authorization: `Bearer ${keys.get('ann')}` }
  const readBody = async () => new Uint8Array()
  const request = { method: 'GET', target: '/v2/notes', headers, secure: true, address: '', readBody }
  let places = 1
  const yieldPlace = () => {
    places--
    return () => void places++
  }
  const waiting = app.respond({ ...request, yieldPlace })
  while (places === 1) await sleep(1)
  resolve(true)
  assert.equal((await waiting).status, 200)
  assert.equal(places, 1)
})

it('AUT-12: calls in process are decided too, and have no address', async (context) => {
  const addresses: string[] = []
  const declared = notes(({ address, action, caller }: AuthorizationRequest) => {
    addresses.push(address)
    return action === 'read' || caller.id === 'ann'
  })
  const database = await newDatabase()
  const app = createApp(declared, { database: database.address, log: false })
  context.after(async () => {
    await app.close()
    await database.remove()
  })
  const { notes: own } = app.as({ id: 'ann', roles: [] })
  const { notes: others } = app.as({ id: 'bob', roles: ['admin'] })
  const made = await own?.create({ text: 'a' })
  assert.equal((await others?.list())?.data.length, 1)
  await assert.rejects(others?.delete(String(made?.['id'])) ?? Promise.resolve(), (error: unknown) => {
    assert.ok(error instanceof ProblemError)
    return error.status === 403
  })
  assert.deepEqual(new Set(addresses), new Set(['']))
})

it('AUT-12: authorize must be a function', () => {
  const [problem] = checkDeclaration(notes({ role: 'admin' }))
  assert.equal(problem?.path, 'authorize')
  assert.match(problem?.remedy ?? '', /TypeScript or JavaScript/)
  assert.deepEqual(checkDeclaration(notes(async () => true)), [])
})
