/** ERR: functions of a declaration that change their arguments, throw, or return invalid values. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import type { BusinessRule, InterfaceDeclaration, RuleContext } from 'resourced-contract/model/declaration'
import { defineInterface, Type } from '../../../packages/server/src/index.ts'
import { logTo } from '../../../packages/server/src/server/observe/log.ts'
import { type Trial, trialFor } from '../../harness.ts'

const nowhere = '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11'
const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const fields = {
  name: Type.String({ filter: true }),
  count: Type.Optional(Type.Integer({ maximum: 9 })),
  labels: Type.Optional(Type.Array(Type.String())),
}

type Any = Record<string, never[]> & Record<string, unknown>
const on = ['create', 'update', 'delete', 'restore'] as const

/** What a rule tries, by the name of the record. Each breaks the contract of rules. */
const misdeeds: Readonly<Record<string, (context: RuleContext, given: Any) => unknown>> = {
  'changes a value': ({ next, current }) => void Object.assign(next ?? current ?? {}, { count: 'seven' }),
  'changes inside': (_, given) => void given['labels']?.push(7 as never),
  'adds a field': (_, given) => void Object.assign(given, { made_up: 1 }),
  'deletes a value': (_, given) => void delete given['name'],
  'becomes an administrator': ({ caller }) => void (caller.roles as string[]).push('admin'),
  'changes the claims': ({ caller }) => void Object.assign(caller.claims, { team: 'other' }),
  'changes the caller': ({ caller }) => void Object.assign(caller, { id: 'bob' }),
  throws: (_, given) => assert.fail(`the labels ${given['labels']} are wrong`),
  'throws a text': () => {
    throw 'no error'
  },
  'throws what cannot be read': () => {
    throw { get message() { return assert.fail('unreadable') } } // biome-ignore format: one row reads best
  },
  'promises nothing': () => Promise.resolve(undefined),
  'promises an objection': async () => ({ code: 'LATE', message: 'Late.' }),
  'breaks its promise': () => Promise.reject(new Error('broken')),
  // biome-ignore lint/suspicious/noThenProperty: it is what is tried
  'answers a thenable': () => ({ code: 'LATE', message: 'Late.', then: () => undefined }),
  'answers true': () => true,
  'answers null': () => null,
  'answers a text': () => 'NO',
  'answers no code': () => ({ message: 'No.' }),
  'answers a code in lower case': () => ({ code: 'not-allowed', message: 'No.' }),
  'answers no message': () => ({ code: 'NOT_ALLOWED' }),
  'answers a number for a message': () => ({ code: 'NOT_ALLOWED', message: 7 }),
  'answers a number for a pointer': () => ({ code: 'NOT_ALLOWED', message: 'No.', pointer: 7 }),
  'answers a pointer that is none': () => ({ code: 'NOT_ALLOWED', message: 'No.', pointer: 'name' }),
  'answers a getter that throws': () => ({ get code() { return assert.fail('no') }, message: 'No.' }), // biome-ignore format: one row reads best
}

const rule = {
  on,
  check: (context: RuleContext) => {
    const given = (context.next ?? context.current) as Any
    return misdeeds[String(given['name'])]?.(context, given)
  },
} as BusinessRule

const things: InterfaceDeclaration = {
  name: 'things',
  resources: { things: { fields, access: anyone, rules: [rule] } },
}

/** What the log has of failures, as it writes it. */
function logged({ seen }: Pick<Trial, 'seen'>): string[] {
  const lines: string[] = []
  const log = logTo('info', { write: (line: string) => void lines.push(line) })
  for (const each of seen.filter(({ kind }) => kind === 'failure')) log(each)
  return lines
}

for (const name of Object.keys(misdeeds)) {
  it(`ERR-4: a check that ${name} is a fault of the declaration, and nothing changes`, async (context) => {
    const trial = await trialFor(context, things)
    const { send, make } = trial
    const body = { name, labels: ['canary-1'], count: 3 }
    const created = await send({ path: '/v1/things', body, as: 'ann' })
    assert.deepEqual([created.status, created.json.code], [500, 'INTERNAL_ERROR'], created.text)
    const { id } = await make('things', { ...body, name: 'fine' })
    const path = `/v1/things/${id}`
    const before = await send({ path })
    const patch = [{ op: 'replace', path: '/name', value: name }]
    for (const sent of [
      { method: 'PUT', path, body },
      { method: 'PATCH', path, body: { name } },
      { method: 'PATCH', path, body: patch, headers: { 'content-type': 'application/json-patch+json' } },
    ]) {
      const answer = await send({ ...sent, as: 'ann' })
      assert.deepEqual([answer.status, answer.json.code], [500, 'INTERNAL_ERROR'], answer.text)
    }
    const after = await send({ path })
    assert.deepEqual([after.text, after.headers.etag], [before.text, before.headers.etag])
    const lines = logged(trial)
    assert.equal(lines.length, 4)
    for (const line of lines) {
      assert.match(line, /resources\.things\.rules\[0\]\.check/)
      assert.ok(!line.includes('canary-1'), line)
    }
    assert.equal((await send({ path: '/v1/things?name=fine' })).json.pagination.total_count, 1)
  })
}

it('ERR-4: checks of deletions and restorations have the same limits', async (context) => {
  const deleting = { ...rule, on: 'delete', check: ({ current }: RuleContext) => misdeed('changes inside', current) }
  const restoring = { on: 'restore', check: ({ next }: RuleContext) => misdeed('changes a value', next) }
  const misdeed = (name: string, given: unknown) =>
    String((given as Any)['name']) === 'fine' ? undefined : misdeeds[name]?.({ next: given } as never, given as Any)
  const rules = [deleting, restoring] as unknown as BusinessRule[]
  const declared = { name: 'things', resources: { things: { fields, access: anyone, rules } } }
  const trial = await trialFor(context, declared)
  const { send, make } = trial
  const { id } = await make('things', { name: 'other', labels: ['x'] })
  const path = `/v1/things/${id}`
  const refused = await send({ method: 'DELETE', path })
  assert.deepEqual([refused.status, refused.json.code], [500, 'INTERNAL_ERROR'])
  assert.deepEqual((await send({ path })).json.labels, ['x'])
  assert.match(logged(trial)[0] ?? '', /rules\[0\]\.check threw TypeError/)
  const fine = await make('things', { name: 'fine' })
  assert.equal((await send({ method: 'DELETE', path: `/v1/things/${fine.id}` })).status, 204)
  assert.equal((await send({ method: 'POST', path: `/v1/things/${fine.id}/restore` })).status, 200)
})

it('ERR-4: the record before a change is as frozen as the one after it', async (context) => {
  const tries: Readonly<Record<string, (current: Any) => unknown>> = {
    value: (current) => Object.assign(current, { name: 'x' }),
    inside: (current) => current['labels']?.push('x' as never),
    deletion: (current) => delete current['labels'],
  }
  const check = ({ current, next }: RuleContext) => void tries[String(next?.['name'])]?.(current as Any)
  const rules = [{ on: 'update', check }] as BusinessRule[]
  const trial = await trialFor(context, { name: 'x', resources: { things: { fields, access: anyone, rules } } })
  const { id } = await trial.make('things', { name: 'a', labels: ['y'] })
  for (const name of Object.keys(tries)) {
    assert.equal((await trial.send({ method: 'PATCH', path: `/v1/things/${id}`, body: { name } })).status, 500, name)
  }
  assert.equal(logged(trial).length, 3)
  for (const line of logged(trial)) assert.match(line, /rules\[0\]\.check threw TypeError/)
  assert.deepEqual((await trial.send({ path: `/v1/things/${id}` })).json.labels, ['y'])
})

it('ERR-4: the error of a check keeps its code, message and pointer, and nothing else of it is sent', async (context) => {
  const check = () => ({ code: 'NOT_TODAY', message: 'Come back.', pointer: '/name', secret: 'canary', ids: ['x'] })
  const rules = [{ on: 'create', check }] as BusinessRule[]
  const { send } = await trialFor(context, { name: 'x', resources: { things: { fields, access: anyone, rules } } })
  const { status, json } = await send({ path: '/v1/things', body: { name: 'a' } })
  assert.equal(status, 409)
  assert.deepEqual(json.errors, [{ code: 'NOT_TODAY', message: 'Come back.', pointer: '/name' }])
})

/** Access functions, and whether the caller is refused (403) or the declaration at fault (500). */
const answers: readonly (readonly [name: string, rule: (caller: never) => unknown, status: number])[] = [
  ['changes the roles', ({ roles }: { roles: string[] }) => roles.push('admin') > 0, 500],
  ['changes the claims', ({ claims }: { claims: object }) => Object.assign(claims, { team: 'x' }) !== undefined, 500],
  ['throws', () => assert.fail('no'), 500],
  ['promises true', async () => true, 500],
  ['breaks its promise', () => Promise.reject(new Error('broken')), 500],
  ['answers a text', () => 'yes', 500],
  ['answers nothing', () => undefined, 500],
  ['answers null', () => null, 500],
  ['names an unknown field', () => ({ made_up: 1 }), 500],
  ['names an unknown operator', () => ({ name: { like: 'a' } }), 500],
  ['gives an array for a value', () => ({ name: ['a'] }), 500],
  ['gives or what is no condition', () => ({ or: [5] }), 500],
  ['gives not what is no condition', () => ({ not: 5 }), 500],
  ['gives in what is no list', () => ({ name: { in: 'a' } }), 500],
  ['names another record', () => ({ name: { record: 'name' } }), 500],
  ['answers false', () => false, 403],
  ['compares with a claim that is missing', (caller: { claims: { team?: string } }) => ({ name: caller.claims.team }), 403],
  ['compares with a value of another type', () => ({ name: { in: ['a', 7] } }), 403],
] // biome-ignore format: one row reads best

for (const [name, answer, status] of answers) {
  it(`ERR-4: an access function that ${name} permits nobody (${status})`, async (context) => {
    const read = ((caller: never) => answer(caller)) as never
    const access = { ...anyone, read: [read] }
    const trial = await trialFor(context, { name: 'x', resources: { things: { fields, access } } })
    const { send } = trial
    for (const path of ['/v1/things', `/v1/things/${nowhere}`]) {
      const received = await send({ path, as: 'ann' })
      if (status === 403 && received.status === 200) assert.deepEqual(received.json.data, [])
      else assert.ok([status, 404].includes(received.status), `${received.status} ${received.text}`)
    }
    const lines = logged(trial)
    assert.equal(lines.length > 0, status === 500)
    for (const line of lines) assert.match(line, /resources\.things\.access\.read/)
  })
}

it('ERR-4: async functions are refused at start, each with its place', () => {
  const declared = {
    name: 'x',
    versions: { v1: {}, v2: {} },
    changes: [
      {
        ...{ version: 'v2', resource: 'things' },
        convert: { name: { schema: Type.String(), older: async (v: string) => v, newer: async (v: string) => v } },
      },
    ],
    resources: {
      things: { fields, access: { read: async () => true }, rules: [{ on: 'create', check: async () => undefined }] },
    },
  }
  assert.deepEqual(checkDeclaration(declared).map(({ path }) => path).sort(), [
    'changes[0].convert.name.newer', 'changes[0].convert.name.older', 'resources.things.access.read', 'resources.things.rules[0].check',
  ]) // biome-ignore format: one row reads best
})

const conversions = (older: (value: string[]) => unknown, newer: (value: string[]) => unknown) =>
  defineInterface({
    name: 'things',
    versions: { v1: {}, v2: {} },
    changes: [
      {
        ...{ version: 'v2', resource: 'things' },
        convert: { labels: { schema: Type.Optional(Type.Array(Type.String())), older, newer } },
      },
    ],
    resources: { things: { fields, access: anyone } },
  })

async function olderTrial(context: TestContext, declared: ReturnType<typeof conversions>) {
  const trial = await trialFor(context, declared)
  const { send } = trial
  const { json } = await send({ path: '/v2/things', body: { name: 'a', labels: ['one'] } })
  return { ...trial, path: `things/${json.id}` }
}

it('VER-2: a conversion cannot change the record of its value', async (context) => {
  const push = (value: string[]) => [value.push('two')]
  const { send, path, ...trial } = await olderTrial(context, conversions(push, push))
  for (const sent of [
    { path: `/v1/${path}` },
    { path: '/v1/things' },
    { method: 'PATCH', path: `/v1/${path}`, body: { name: 'b' } },
    { path: '/v1/things', body: { name: 'c', labels: ['x'] } },
  ]) {
    const received = await send(sent)
    assert.deepEqual([received.status, received.json.code], [500, 'INTERNAL_ERROR'], received.text)
  }
  assert.deepEqual((await send({ path: `/v2/${path}` })).json.labels, ['one'])
  for (const line of logged({ ...trial })) assert.match(line, /changes of v2: things\.convert\.labels\.(?:older|newer)/)
})

it('VER-2: a conversion that returns a promise is a fault of the declaration', async (context) => {
  const later = (value: string[]) => Promise.resolve(value)
  const { send, path } = await olderTrial(context, conversions(later, later))
  assert.equal((await send({ path: `/v1/${path}` })).status, 500)
  assert.equal((await send({ path: '/v1/things', body: { name: 'c', labels: ['x'] } })).status, 500)
  assert.equal((await send({ path: '/v2/things' })).json.pagination.total_count, 1)
})
