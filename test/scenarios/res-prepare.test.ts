/** RES-13: the function `prepare` of a resource. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import type { InterfaceDeclaration, ResourceDeclaration } from 'resourced-contract/model/declaration'
import type { PrepareContext } from 'resourced-contract/model/declared-functions'
import type { Resource } from 'resourced-contract/model/resource'
import { defineInterface, reference, Type } from '../../packages/server/src/index.ts'
import { type ImportProblem, importRecords } from '../../packages/server/src/jobs/import.ts'
import { logTo } from '../../packages/server/src/server/observe/log.ts'
import { places, purgeAt, type Trial, trial, trialFor } from '../harness.ts'

const patch = { 'content-type': 'application/json-patch+json' }
const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

const transitions = { open: ['paid'], paid: ['sent'] } as const

/** Orders whose total, revision and editor are computed. */
const shop = defineInterface({
  name: 'shop',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'orders', rename: { pieces: 'quantity' }, add: ['total'] }],
  resources: {
    orders: {
      fields: {
        article: Type.String({ maxLength: 20 }),
        quantity: Type.Integer({ minimum: 1 }),
        price: Type.Decimal({ precision: 8, scale: 2 }),
        total: Type.Decimal({ precision: 12, scale: 2, readOnly: true }),
        slug: Type.String({ readOnly: true, unique: true }),
        edits: Type.Integer({ readOnly: true, default: 0 }),
        editor: Type.String({ readOnly: true }),
        status: Type.Enum(['open', 'paid', 'sent'], { default: 'open', transitions }),
        labels: Type.Optional(Type.Array(Type.String())),
      },
      access: anyone,
      prepare: ({ current, next, caller }) => ({
        ...next,
        total: (next.quantity * Number(next.price)).toFixed(2),
        slug: next.article.trim().toLowerCase(),
        edits: current === undefined ? 0 : current.edits + 1,
        editor: caller.id,
      }),
      rules: [
        {
          on: ['create', 'update'],
          check: ({ next }) =>
            Number(next?.total) > 1_000 ? { code: 'TOO_MUCH', message: 'Ask first.', pointer: '/total' } : undefined,
        },
      ],
    },
  },
})

const order = { article: ' Lamp ', quantity: 2, price: '9.90' }

it('RES-13: a creation stores what prepare returns, and the response has it', async (context) => {
  const { send, make } = await trialFor(context, shop)
  const made = await make('orders', order, 'ann')
  assert.deepEqual(
    [made.article, made.total, made.slug, made.edits, made.editor],
    [' Lamp ', '19.80', 'lamp', 0, 'ann'],
  )
  const read = await send({ path: `/v2/orders/${made.id}`, as: 'bob' })
  assert.deepEqual(read.json, made)
  const refused = await send({ path: '/v2/orders', body: { ...order, total: '1.00' } })
  assert.deepEqual([refused.status, places(refused)], [400, ['READ_ONLY /total']])
})

for (const [name, sent] of [
  ['PUT', { method: 'PUT', body: { ...order, quantity: 3 } }],
  ['a merge patch', { method: 'PATCH', body: { quantity: 3 } }],
  ['a JSON Patch', { method: 'PATCH', body: [{ op: 'replace', path: '/quantity', value: 3 }], headers: patch }],
] as const) {
  it(`RES-13: ${name} stores what prepare returns, and one that changes nothing changes nothing`, async (context) => {
    const { send, make } = await trialFor(context, shop)
    const { id } = await make('orders', order, 'ann')
    const path = `/v2/orders/${id}`
    const changed = await send({ ...sent, path, as: 'bob' })
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual([changed.json.total, changed.json.edits, changed.json.editor], ['29.70', 1, 'bob'])
    assert.equal((await send({ path })).text, changed.text)
    const again = await send({ ...sent, path, as: 'eve' })
    assert.deepEqual([again.status, again.text, again.headers.etag], [200, changed.text, changed.headers.etag])
  })
}

it('RES-13: an older version writes through the prepare of the current one', async (context) => {
  const { send } = await trialFor(context, shop)
  const made = await send({ path: '/v1/orders', body: { article: 'Chair', pieces: 4, price: 5 }, as: 'ann' })
  assert.deepEqual([made.status, made.json.pieces, made.json.total], [201, 4, undefined], made.text)
  const path = `orders/${made.json.id}`
  assert.equal((await send({ method: 'PATCH', path: `/v1/${path}`, body: { pieces: 5 } })).status, 200)
  const { total, quantity, edits } = (await send({ path: `/v2/${path}` })).json
  assert.deepEqual([total, quantity, edits], ['25.00', 5, 1])
})

it('RES-13: uniqueness, transitions and business rules are decided on the prepared record', async (context) => {
  const { send, make } = await trialFor(context, shop)
  const { id } = await make('orders', order)
  const taken = await send({ path: '/v2/orders', body: { ...order, article: 'LAMP' } })
  assert.deepEqual([taken.status, places(taken)], [409, ['DUPLICATE_VALUE /slug']])
  const much = await send({ path: '/v2/orders', body: { ...order, article: 'Yacht', price: 600 } })
  assert.deepEqual([much.status, places(much)], [409, ['TOO_MUCH /total']])
  const path = `/v2/orders/${id}`
  const jump = await send({ method: 'PATCH', path, body: { status: 'sent' } })
  assert.deepEqual([jump.status, places(jump)], [409, ['INVALID_TRANSITION /status']])
  const { edits, updated_at, created_at } = (await send({ path })).json
  assert.deepEqual([edits, updated_at], [0, created_at])
})

it('RES-13: a repeated creation with one Idempotency-Key is prepared once', async (context) => {
  let calls = 0
  const { send } = await trialFor(
    context,
    counted(() => calls++),
  )
  const sent = { path: '/v1/things', body: { name: 'a' }, headers: { 'idempotency-key': '"k"' } }
  const first = await send(sent)
  assert.equal(first.status, 201)
  const before = calls
  assert.equal((await send(sent)).text, first.text)
  assert.deepEqual([before > 0, calls], [true, before])
})

it('RES-13: prepare is called with valid records only, and every mistake of the body is reported', async (context) => {
  let calls = 0
  const { send, make } = await trialFor(
    context,
    counted(() => calls++),
  )
  const refused = await send({ path: '/v1/things', body: { name: 7, size: 'x', more: 1 } })
  assert.equal(refused.status, 400)
  assert.deepEqual(places(refused).sort(), ['INVALID_TYPE /name', 'INVALID_TYPE /size', 'UNKNOWN_FIELD /more'])
  assert.equal(calls, 0)
  const { id } = await make('things', { name: 'a' })
  const before = calls
  assert.equal((await send({ method: 'PATCH', path: `/v1/things/${id}`, body: { name: null } })).status, 400)
  assert.equal((await send({ method: 'PATCH', path: `/v1/things/${id}`, body: {} })).status, 200)
  assert.equal((await send({ method: 'DELETE', path: `/v1/things/${id}` })).status, 204)
  assert.equal((await send({ method: 'POST', path: `/v1/things/${id}/restore` })).status, 200)
  assert.equal(calls, before)
})

function counted(call: () => void): InterfaceDeclaration {
  const prepare = ({ next }: PrepareContext) => {
    call()
    return next
  }
  return things({ prepare, owner: 'owner_id' })
}

function things(more: Partial<ResourceDeclaration>): InterfaceDeclaration {
  return { name: 'things', resources: { things: { fields, access: anyone, ...more } } }
}

const fields = {
  name: Type.String({ maxLength: 40, filter: true, search: true }),
  size: Type.Optional(Type.Integer({ maximum: 9 })),
  key: Type.Optional(Type.String({ writeOnly: true })),
  kind: Type.String({ immutable: true, default: 'plain' }),
  labels: Type.Optional(Type.Array(Type.String())),
  data: Type.Optional(Type.Any()),
  sum: Type.Optional(Type.Integer({ readOnly: true })),
  owner_id: Type.String({ readOnly: true }),
}

type Misdeed = (context: PrepareContext, given: Record<string, never[]>) => unknown
const getter = { enumerable: true, get: () => assert.fail('no') }
const circle: Record<string, unknown> = {}
circle['self'] = circle

/** What `prepare` tries, by the name of the record. */
const misdeeds: Readonly<Record<string, Misdeed>> = {
  'changes next': ({ next }) => Object.assign(next, { size: 3 }),
  'changes a value inside next': ({ next }, given) => [given['labels']?.push('x' as never), next][1],
  'changes current': ({ current, next }) => (current === undefined ? assert.fail('x') : Object.assign(current, next)),
  'becomes an administrator': ({ caller, next }) => [(caller.roles as string[]).push('admin'), next][1],
  'adds a property to its argument': (given) => Object.assign(given, { extra: 1 }),
  throws: (_, given) => assert.fail(`the key is ${given['key']}`),
  'returns nothing': () => undefined,
  'returns null': () => null,
  'returns an array': ({ next }) => [next],
  'returns a text': () => 'x',
  'returns a promise': async ({ next }) => next,
  'breaks its promise': () => Promise.reject(new Error('no')),
  'returns an unknown field': ({ next }) => ({ ...next, sise: 3 }),
  'changes the id': ({ next }) => ({ ...next, id: '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11' }),
  'changes created_at': ({ next }) => ({ ...next, created_at: '2020-01-01T00:00:00.000Z' }),
  'deletes the record': ({ next }) => ({ ...next, deleted_at: '2020-01-01T00:00:00.000Z' }),
  'gives the record away': ({ next }) => ({ ...next, owner_id: 'bob' }),
  'exceeds a bound': ({ next }) => ({ ...next, size: 10 }),
  'returns a value of another type': ({ next }) => ({ ...next, size: 'nine' }),
  'clears a required field': ({ next }) => ({ ...next, name: null }),
  'returns NaN': ({ next }) => ({ ...next, data: Number.NaN }),
  'returns infinity inside': ({ next }) => ({ ...next, data: { a: [1 / 0] } }),
  'returns a date': ({ next }) => ({ ...next, data: new Date() }),
  'returns a map': ({ next }) => ({ ...next, data: new Map() }),
  'returns a big integer': ({ next }) => ({ ...next, data: 1n }),
  'returns a function': ({ next }) => ({ ...next, data: { a: () => 1 } }),
  'returns a circle': ({ next }) => ({ ...next, data: circle }),
  'returns U+0000': ({ next }) => ({ ...next, data: ['a\0b'] }),
  'returns half a surrogate pair': ({ next }) => ({ ...next, data: { '\ud800': 1 } }),
  'returns a getter that throws': ({ next }) => Object.defineProperty({ ...next }, 'size', getter),
}

/** What the log has of failures, as it writes it. */
function logged({ seen }: Pick<Trial, 'seen'>): string[] {
  const lines: string[] = []
  const log = logTo('info', { write: (line: string) => void lines.push(line) })
  for (const each of seen.filter(({ kind }) => kind === 'failure')) log(each)
  return lines
}

const misbehaving = things({
  owner: 'owner_id',
  prepare: (context) => {
    const given = context.next as Record<string, never[]>
    return (misdeeds[String(given['name'])]?.(context, given) ?? missingAnswer(given)) as Record<string, unknown>
  },
})

function missingAnswer(given: Record<string, unknown>): unknown {
  const name = String(given['name'])
  return Object.hasOwn(misdeeds, name) ? misdeeds[name]?.({ next: given } as never, given as never) : given
}

for (const name of Object.keys(misdeeds)) {
  it(`RES-13: a prepare that ${name} is a fault of the declaration, and nothing changes`, async (context) => {
    const current = await trialFor(context, misbehaving)
    const { send, make } = current
    const body = { name, labels: ['a'], key: 'canary-1' }
    const { id } = await make('things', { ...body, name: 'fine' }, 'ann')
    const path = `/v1/things/${id}`
    const before = await send({ path })
    const replace = [{ op: 'replace', path: '/name', value: name }]
    const sent = [
      { method: 'POST', path: '/v1/things', body },
      { method: 'PUT', path, body },
      { method: 'PATCH', path, body: { name } },
      { method: 'PATCH', path, body: replace, headers: patch },
    ]
    for (const each of sent) {
      const { status, json, text } = await send({ ...each, as: 'ann' })
      assert.deepEqual([status, json.code], [500, 'INTERNAL_ERROR'], text)
      assert.doesNotMatch(text, /canary|prepare/)
    }
    const after = await send({ path })
    assert.deepEqual([after.text, after.headers.etag], [before.text, before.headers.etag])
    assert.equal((await send({ path: '/v1/things' })).json.pagination.total_count, 1)
    const lines = logged(current)
    assert.equal(lines.length, 4)
    for (const line of lines) {
      assert.match(line, /resources\.things\.prepare/)
      assert.doesNotMatch(line, /canary/)
    }
  })
}

it('RES-13: fields that the result leaves out keep their values, and null clears', async (context) => {
  const prepare = ({ next }: PrepareContext) => ({ sum: Number(next['size']) * 2, labels: null, data: undefined })
  const { make } = await trialFor(context, things({ prepare, owner: 'owner_id' }))
  const { name, size, sum, labels, data } = await make('things', { name: 'a', size: 4, labels: ['x'], data: [1] })
  assert.deepEqual([name, size, sum, labels, data], ['a', 4, 8, null, [1]])
})

it('RES-13: the owner is prepared for administrators, and immutable fields on creation alone', async (context) => {
  const prepare = ({ next }: PrepareContext) => ({ ...next, owner_id: next['name'], kind: `k-${next['name']}` })
  const trial = await trialFor(context, things({ prepare, owner: 'owner_id' }))
  const made = await trial.make('things', { name: 'bob' }, 'root')
  assert.deepEqual([made.owner_id, made.kind], ['bob', 'k-bob'])
  assert.equal((await trial.send({ path: '/v1/things', body: { name: 'bob' }, as: 'ann' })).status, 500)
  const changed = await trial.send({ method: 'PATCH', path: `/v1/things/${made.id}`, body: { name: 'ann' } })
  assert.equal(changed.status, 500)
  assert.match(logged(trial).at(-1) ?? '', /changed kind, which is immutable/)
})

it('RES-13: a required readOnly field that prepare leaves without a value is its fault', async (context) => {
  const number = Type.Integer({ readOnly: true })
  const declared = things({ fields: { ...fields, number }, prepare: ({ next }) => next, owner: 'owner_id' })
  assert.deepEqual(checkDeclaration(declared), [])
  const trial = await trialFor(context, declared)
  const { status, json } = await trial.send({ path: '/v1/things', body: { name: 'a' } })
  assert.deepEqual([status, json.code], [500, 'INTERNAL_ERROR'])
  assert.match(logged(trial)[0] ?? '', /left number without a value/)
})

/** Each caller is a team of their own, and `prepare` sets the team. */
const team = { where: { team: { caller: 'id' } } } as const
const teams = defineInterface({
  name: 'teams',
  resources: {
    boards: { fields: { name: Type.String(), team: Type.String() }, access: { ...anyone, read: team } },
    notes: {
      fields: {
        text: Type.String({ maxLength: 9 }),
        board_id: Type.Optional(reference('boards')),
        team: Type.String({ readOnly: true, default: 'nobody' }),
      },
      access: { read: team, create: team, update: team },
      prepare: ({ next, caller }) => ({ ...next, team: next.text === 'theft' ? 'bob' : caller.id }),
    },
  },
})

it('AUT-8: permissions are decided on the prepared record', async (context) => {
  const { send, make } = await trialFor(context, teams)
  const { id } = await make('notes', { text: 'mine' }, 'ann')
  const path = `/v1/notes/${id}`
  assert.equal((await send({ path, as: 'ann' })).json.team, 'ann')
  const refused = [
    await send({ method: 'PATCH', path, body: { text: 'theft' }, as: 'ann' }),
    await send({ method: 'PUT', path, body: { text: 'theft' }, as: 'ann' }),
    await send({ path: '/v1/notes', body: { text: 'theft' }, as: 'ann' }),
  ]
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 403, 403],
  )
  assert.equal((await send({ path, as: 'ann' })).json.text, 'mine')
})

it('AUT-9: a body that is not valid gets 400 without a word about other records', async (context) => {
  const { send, make } = await trialFor(context, teams)
  const board = await make('boards', { name: 'b', team: 'bob' }, 'bob')
  const { id } = await make('notes', { text: 'mine' }, 'ann')
  const body = { text: 'far too long', board_id: '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11' }
  for (const board_id of [body.board_id, board.id]) {
    const refused = await send({ path: '/v1/notes', body: { ...body, board_id }, as: 'ann' })
    assert.deepEqual([refused.status, places(refused)], [400, ['TOO_LONG /text']])
  }
  const missing = await send({ path: '/v1/notes', body: { ...body, text: 'fine' }, as: 'ann' })
  assert.deepEqual([missing.status, places(missing)], [400, ['INVALID_REFERENCE /board_id']])
  assert.equal((await send({ method: 'PATCH', path: `/v1/notes/${id}`, body, as: 'bob' })).status, 403)
})

it('AUT-9: a guess of a hidden value is a change, also where prepare makes it the same', async (context) => {
  const prepare = ({ next }: PrepareContext) => ({ ...next, key: String(next['key']).toLowerCase() })
  const { send, make } = await trialFor(context, things({ prepare, owner: 'owner_id' }))
  const { id } = await make('things', { name: 'a', key: 'secret' })
  const path = `/v1/things/${id}`
  const before = (await send({ path })).headers.etag
  const guessed = await send({ method: 'PATCH', path, body: { key: 'SECRET' } })
  assert.deepEqual([guessed.status, guessed.headers.etag === before], [200, false])
})

it('CON-5: concurrent changes are prepared from the record that they change', async () => {
  const current = await trial(shop)
  try {
    const { id } = await current.make('orders', order)
    const path = `/v2/orders/${id}`
    const sent = Array.from({ length: 20 }, (_, index) => ({ method: 'PATCH', path, body: { quantity: 10 + index } }))
    const statuses = await Promise.all(sent.map(async (each) => (await current.send(each)).status))
    assert.deepEqual(new Set(statuses), new Set([200]))
    const { edits, quantity, total } = (await current.send({ path })).json
    assert.deepEqual([edits, Number(total)], [20, Number((quantity * 9.9).toFixed(2))])
  } finally {
    await current.close()
  }
})

it('RES-13: imported records are prepared too', async (context) => {
  const { app, send } = await trialFor(context, shop)
  async function* records() {
    yield { line: 1, value: order, size: 10 }
    yield { line: 2, value: { ...order, article: ' lamp' }, size: 10 }
  }
  const caller = { id: 'import', roles: [], claims: {} }
  const resource = app.catalog.resources.get('orders') as Resource
  const problems: string[] = []
  const onProblem = ({ issues }: ImportProblem) => void problems.push(...issues.map(({ code }) => code))
  const imported = await importRecords({ storage: app.storage, resource, records: records(), caller, onProblem })
  assert.deepEqual([imported.imported, imported.stopped, problems], [1, true, ['DUPLICATE_VALUE']])
  const [{ total, editor }] = (await send({ path: '/v2/orders' })).json.data
  assert.deepEqual([total, editor], ['19.80', 'import'])
})

it('RES-13: a declaration with functions has background jobs, whose threads take no functions', async (context) => {
  const declared = { ...shop, authorize: () => true }
  const current = await trialFor(context, declared)
  const { id } = await current.make('orders', order)
  assert.equal((await current.send({ method: 'DELETE', path: `/v2/orders/${id}` })).status, 204)
  assert.equal(await purgeAt(current.app, Date.now() + 31 * 24 * 3_600_000), 1)
})

it('RES-13: prepare must be a function that does not await', () => {
  const found = (prepare: unknown) => checkDeclaration(things({ prepare: prepare as never, owner: 'owner_id' }))
  assert.deepEqual(
    found(async () => ({})).map(({ path }) => path),
    ['resources.things.prepare'],
  )
  const [problem] = found('next')
  assert.equal(problem?.path, 'resources.things.prepare')
  assert.match(problem?.remedy ?? '', /TypeScript or JavaScript/)
})
