/** BLK-4: several changes in one transaction. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { studio } from '../declarations.ts'
import { places, type Sent, trialFor } from '../harness.ts'
import { countOf, nowhere } from '../steps.ts'

/** Boxes with tickets. */
const boxes = defineInterface({
  name: 'boxes',
  resources: {
    boxes: {
      fields: {
        name: { type: 'string', minLength: 1, maxLength: 50, unique: true },
        size: { type: 'integer', default: 1 },
        secret: { type: 'string', optional: true, writeOnly: true },
        settings: { type: 'object', properties: {}, additionalProperties: true, optional: true },
      },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' },
    },
    tickets: {
      fields: {
        title: { type: 'string', minLength: 1, maxLength: 50 },
        note: { type: 'string', optional: true },
        box_id: { reference: 'boxes', onDelete: 'cascade' },
      },
      within: 'box_id',
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' },
    },
  },
})

function transaction(operations: unknown, more: Partial<Sent> = {}): Sent {
  return { path: '/v1/transactions', body: { operations }, ...more }
}

const started = (context: Parameters<typeof trialFor>[0]) => trialFor(context, boxes)

it('BLK-4: operations run in order, results follow them, and references take what earlier ones have made', async (context) => {
  const current = await started(context)
  const { send } = current
  const answer = await send(
    transaction([
      { method: 'POST', path: '/boxes', body: { name: 'One' }, as: 'box' },
      { method: 'POST', path: '/boxes/{box.id}/tickets', body: { title: { $ref: 'box.name' } }, as: 'ticket' },
      { method: 'POST', path: '/tickets', body: { title: 'Two', box_id: { $ref: 'box.id' } } },
      { method: 'PATCH', path: '/tickets/{ticket.id}', body: { note: { $ref: 'ticket.created_at' } } },
      { method: 'DELETE', path: '/tickets/{ticket.id}' },
    ]),
  )
  assert.equal(answer.status, 200, answer.text)
  const { results } = answer.json
  assert.deepEqual(results.map((each: { status: number }) => each.status), [201, 201, 201, 200, 204]) // biome-ignore format: a line
  const [box, first, second, patched, deleted] = results
  assert.equal(box.location, `/v1/boxes/${box.body.id}`)
  assert.deepEqual([first.body.title, first.body.box_id, second.body.box_id], ['One', box.body.id, box.body.id])
  assert.equal(patched.body.note, first.body.created_at)
  assert.deepEqual(Object.keys(deleted), ['status'])
  assert.equal(await countOf(current, 'tickets'), 1)
  const read = await send({ path: `/v1/tickets/${second.body.id}` })
  assert.deepEqual([read.headers['etag'], read.json], [second.etag, second.body])
})

it('BLK-4: the first operation that fails decides, and nothing is left', async (context) => {
  const current = await started(context)
  const { make } = current
  const box = await make('boxes', { name: 'There' })
  const good = { method: 'POST', path: '/boxes', body: { name: 'New' } }
  const table: [operations: unknown[], status: number, code: string, errors: string[]][] = [
    [[good, { ...good, body: { name: '' } }], 400, 'VALIDATION_FAILED', ['TOO_SHORT /operations/1/body/name']],
    [[good, good], 409, 'DUPLICATE_VALUE', ['DUPLICATE_VALUE /operations/1/body/name']],
    [[good, { ...good, body: { name: 'There' } }], 409, 'DUPLICATE_VALUE', ['DUPLICATE_VALUE /operations/1/body/name']],
    [[good, { method: 'DELETE', path: `/boxes/${nowhere}` }], 404, 'NOT_FOUND', ['NOT_FOUND /operations/1']],
    [
      [good, { method: 'PATCH', path: `/boxes/${box.id}`, body: { size: 2 }, if_match: '"no"' }],
      412,
      'PRECONDITION_FAILED',
      ['PRECONDITION_FAILED /operations/1/if_match'],
    ],
    [[good, { method: 'POST', path: `/boxes/${box.id}/restore` }], 409, 'NOT_DELETED', ['NOT_DELETED /operations/1']],
    [
      [good, { method: 'POST', path: '/tickets', body: { title: 'T', box_id: nowhere } }],
      400,
      'VALIDATION_FAILED',
      ['INVALID_REFERENCE /operations/1/body/box_id'],
    ],
    [
      [good, { method: 'PATCH', path: `/boxes/${box.id}`, body: [{ op: 'test', path: '/size', value: 9 }] }],
      409,
      'CONFLICT',
      ['CONFLICT /operations/1/body/0'],
    ],
  ]
  for (const [operations, status, code, errors] of table) {
    const answer = await current.send(transaction(operations))
    assert.deepEqual([answer.status, answer.json.code], [status, code], answer.text)
    assert.deepEqual(places(answer), errors)
    assert.equal(await countOf(current, 'boxes'), 1)
  }
})

it('BLK-4: what is no operation is refused before any is run, with all places', async (context) => {
  const current = await started(context)
  const { id } = await current.make('boxes', { name: 'There' })
  const body = { name: 'New' }
  const foreign = [
    { method: 'GET', path: `/boxes/${id}` },
    { method: 'POST', path: '/transactions', body: { operations: [] } },
    { method: 'POST', path: '/exports', body: {} },
    { method: 'POST', path: '/api-keys', body: {} },
    { method: 'POST', path: '/boxes/bulk-delete', body: { ids: [id] } },
    { method: 'DELETE', path: '/boxes' },
    { method: 'DELETE', path: '/boxes?name=There' },
    { method: 'PATCH', path: `/boxes/${id}?fields=name`, body },
    { method: 'PUT', path: '/boxes?name=There', body },
    { method: 'POST', path: '/v1/boxes', body },
    { method: 'POST', path: 'boxes', body },
    { method: 'POST', path: '/caller', body },
    { method: 'POST', path: '/health/live', body },
    { method: 'POST', path: '/%zz', body },
    { method: 'constructor', path: '/boxes', body },
  ]
  const refused = await current.send(transaction([{ method: 'POST', path: '/boxes', body }, ...foreign]))
  assert.deepEqual([refused.status, refused.json.code], [400, 'OPERATION_NOT_ALLOWED'], refused.text)
  assert.deepEqual(
    places(refused),
    foreign.map((_, index) => `OPERATION_NOT_ALLOWED /operations/${index + 1}`),
  )
  assert.match(refused.json.errors[0].message, /^GET "\/boxes\/.+ PUT, PATCH and DELETE \/COLLECTION\/ID, /)
  const wrong: [body: unknown, errors: string[]][] = [
    [[], ['INVALID_TYPE ']],
    [{}, ['REQUIRED /operations']],
    [{ operations: [] }, ['TOO_FEW_ITEMS /operations']],
    [{ operations: {} }, ['INVALID_TYPE /operations']],
    [{ operations: Array(101).fill({ method: 'POST', path: '/boxes', body }) }, ['TOO_MANY_ITEMS /operations']],
    [{ operations: [null], mode: 1 }, ['UNKNOWN_FIELD /mode', 'INVALID_TYPE /operations/0']],
    [
      { operations: [{ path: 1, if: 1 }] },
      ['UNKNOWN_FIELD /operations/0/if', 'REQUIRED /operations/0/method', 'INVALID_TYPE /operations/0/path'],
    ],
    [
      { operations: [{ method: 'POST', path: '/boxes', if_match: '*' }] },
      ['REQUIRED /operations/0/body', 'INVALID_VALUE /operations/0/if_match'],
    ],
    [
      { operations: [{ method: 'DELETE', path: `/boxes/${id}`, body: {}, if_match: 'x', as: '__proto__' }] },
      [
        'INVALID_VALUE /operations/0/body',
        'MALFORMED_CONDITION /operations/0/if_match',
        'INVALID_VALUE /operations/0/as',
      ],
    ],
    [
      { operations: [1, 2].map(() => ({ method: 'POST', path: '/boxes', body, as: 'box' })) },
      ['INVALID_VALUE /operations/1/as'],
    ],
  ]
  for (const [body, errors] of wrong) {
    const answer = await current.send({ path: '/v1/transactions', body })
    assert.deepEqual([answer.status, answer.json.code], [400, 'VALIDATION_FAILED'], answer.text)
    assert.deepEqual(
      places(answer),
      errors.map((each) => each.trim()),
    )
  }
  const other = await current.send({ path: '/v1/transactions' })
  assert.deepEqual([other.status, other.headers['allow']], [405, 'POST, OPTIONS'])
  assert.equal((await current.send({ path: '/v1/transactions/1', body: {} })).status, 404)
  assert.equal(await countOf(current, 'boxes'), 1)
})

it('BLK-4: references name earlier results and what they show, and everything else passes literally', async (context) => {
  const current = await started(context)
  const settings = { $ref: '#/definitions/box', list: [{ $ref: 'elsewhere.id' }, { $ref: 7 }, { $ref: 'box' }] }
  const literal = await current.send(
    transaction([
      { method: 'POST', path: '/boxes', body: { name: 'One', secret: 's', settings }, as: 'box' },
      {
        method: 'POST',
        path: '/boxes',
        body: {
          name: 'Two',
          settings: {
            taken: { $ref: 'box.settings' },
            given: { $value: { $ref: 'box.id' } },
            twice: { $value: { $value: 1 } },
            beside: { $ref: 'box.id', more: 1 },
            deep: [{ size: { $ref: 'box.size' } }],
          },
        },
      },
    ]),
  )
  assert.equal(literal.status, 200, literal.text)
  const [{ body: one }, { body: two }] = literal.json.results
  assert.deepEqual(one.settings, settings)
  assert.deepEqual(two.settings, {
    taken: settings,
    given: { $ref: 'box.id' },
    twice: { $value: 1 },
    beside: { $ref: 'box.id', more: 1 },
    deep: [{ size: 1 }],
  })
  const hostile = [
    'box.secret',
    'box.__proto__',
    'box.constructor',
    'box.',
    'box.id.x',
    'box.deleted_at',
    'later.id',
    'own.id',
    'gone.name',
  ]
  const refused = await current.send(
    transaction([
      { method: 'POST', path: '/boxes', body: { name: 'Three' }, as: 'box' },
      { method: 'DELETE', path: `/boxes/${one.id}`, as: 'gone' },
      { method: 'POST', path: '/boxes', body: { name: 'x', settings: hostile.map(($ref) => ({ $ref })) }, as: 'own' },
      { method: 'PATCH', path: '/boxes/{box.name}', body: {} },
      { method: 'DELETE', path: '/boxes/{later.id}' },
      { method: 'POST', path: '/boxes', body: { name: 'y' }, as: 'later' },
    ]),
  )
  assert.equal(refused.status, 400, refused.text)
  assert.deepEqual(places(refused), [
    ...hostile.map((_, index) => `INVALID_VALUE /operations/2/body/settings/${index}`),
    'INVALID_VALUE /operations/3/path',
    'INVALID_VALUE /operations/4/path',
  ])
  const missing = await current.send(transaction([{ method: 'DELETE', path: '/boxes/{nobody.id}' }]))
  assert.equal(missing.status, 404)
  assert.equal(await countOf(current, 'boxes'), 2)
})

it('BLK-4: what references repeat is bounded, in bytes and in depth', async (context) => {
  const { send } = await trialFor(context, { ...boxes, limits: { bodyBytes: 20_000 } })
  const text = 'x'.repeat(5_000)
  const take = { $ref: 'box.settings' }
  const large = (count: number) => [
    { method: 'POST', path: '/boxes', body: { name: 'One', settings: { text } }, as: 'box' },
    { method: 'POST', path: '/boxes', body: { name: 'Two', settings: { list: Array(count).fill(take) } } },
  ]
  const refused = await send(transaction(large(4)))
  assert.deepEqual([refused.status, places(refused)], [400, ['INVALID_VALUE /operations/1/body/settings/list/3']])
  assert.equal((await send(transaction(large(3)))).status, 200)
  let nested: object = {}
  for (let level = 0; level < 12; level++) nested = { nested }
  const deep = await send(
    transaction([
      { method: 'POST', path: '/boxes', body: { name: 'A', settings: nested }, as: 'a' },
      { method: 'POST', path: '/boxes', body: { name: 'B', settings: { of: { a: { $ref: 'a.settings' } } } }, as: 'b' },
      { method: 'POST', path: '/boxes', body: { name: 'C', settings: { of: { b: { $ref: 'b.settings' } } } }, as: 'c' },
      {
        method: 'POST',
        path: '/boxes',
        body: { name: 'D', settings: { of: [[[[[[[[[[[[[[{ $ref: 'c.settings' }]]]]]]]]]]]]]] } },
      },
      ...['E', 'F'].map((name) => ({ method: 'POST', path: '/boxes', body: { name, settings: {} } })),
    ]),
  )
  const at = `INVALID_VALUE /operations/3/body/settings/of${'/0'.repeat(14)}`
  assert.deepEqual([deep.status, places(deep)], [400, [at]], deep.text)
})

it('BLK-4: an operation sees the state that earlier ones have made: values, tags, rules', async (context) => {
  const current = await started(context)
  const box = await current.make('boxes', { name: 'There' })
  const { etag } = (await current.send({ path: `/v1/boxes/${box.id}` })).headers
  const swap = await current.send(
    transaction([
      { method: 'PATCH', path: `/boxes/${box.id}`, body: { name: 'Other' }, if_match: etag },
      { method: 'POST', path: '/boxes', body: { name: 'There' } },
      { method: 'PATCH', path: `/boxes/${box.id}`, body: { size: 3 }, if_match: etag },
    ]),
  )
  assert.deepEqual([swap.status, places(swap)], [412, ['PRECONDITION_FAILED /operations/2/if_match']])
  const studioTrial = await trialFor(context, studio)
  const project = await studioTrial.make('projects', { name: 'P' })
  const open = { method: 'POST', path: '/tasks', body: { title: 'T', project_id: project.id }, as: 'task' }
  const gone = { method: 'DELETE', path: `/projects/${project.id}` }
  const refused = await studioTrial.send(transaction([open, gone]))
  assert.deepEqual([refused.status, refused.json.code], [409, 'PROJECT_HAS_OPEN_TASKS'], refused.text)
  assert.deepEqual(places(refused), ['PROJECT_HAS_OPEN_TASKS /operations/1'])
  const closed = await studioTrial.send(
    transaction([open, { method: 'PATCH', path: '/tasks/{task.id}', body: { status: 'done' } }, gone]),
  )
  assert.equal(closed.status, 200, closed.text)
  const restored = await studioTrial.send(
    transaction([
      { method: 'POST', path: `/projects/${project.id}/restore`, as: 'project' },
      { method: 'POST', path: '/projects/{project.id}/tasks', body: { title: { $ref: 'project.name' } } },
    ]),
  )
  assert.deepEqual(
    restored.json.results.map((each: { status: number }) => each.status),
    [200, 201],
  )
  assert.equal(await countOf(studioTrial, 'tasks'), 2)
})

it('BLK-4: every operation needs the permission that it needs alone, and shows what it shows alone', async (context) => {
  const current = await trialFor(context, studio)
  const foreign = await current.make('projects', { name: 'Foreign' })
  const project = { method: 'POST', path: '/projects', body: { name: 'Mine' }, as: 'mine' }
  const table: [operation: { method: string; path: string; body: object }, places: string[]][] = [
    [{ method: 'PATCH', path: `/projects/${foreign.id}`, body: { name: 'x' } }, ['FORBIDDEN /operations/1']],
    [{ method: 'POST', path: `/projects/${foreign.id}/tasks`, body: { title: 'x' } }, ['FORBIDDEN /operations/1']],
    [{ method: 'POST', path: '/users', body: { name: 'x', email: 'x@example.org' } }, ['FORBIDDEN /operations/1']],
    [
      { method: 'POST', path: '/projects', body: { name: 'y', owner_id: 'bob' } },
      ['READ_ONLY /operations/1/body/owner_id'],
    ],
  ]
  for (const [operation, errors] of table) {
    const alone = await current.send({ ...operation, path: `/v1${operation.path}`, as: 'ann' })
    const answer = await current.send(transaction([project, operation], { as: 'ann' }))
    assert.deepEqual([answer.status, answer.json.code], [alone.status, alone.json.code], answer.text)
    assert.deepEqual(places(answer), errors)
  }
  // The first operation that fails decides, also where a later one could be refused without the database.
  const first = await current.send(transaction([{ ...project, body: {} }, table[2]?.[0]], { as: 'ann' }))
  assert.deepEqual([first.status, places(first)], [400, ['REQUIRED /operations/0/body/name']])
  const mine = await current.send(
    transaction([project, { method: 'POST', path: '/projects/{mine.id}/tasks', body: { title: 'T' } }], { as: 'ann' }),
  )
  assert.equal(mine.status, 200, mine.text)
  assert.equal((await current.send(transaction([project], { as: null }))).status, 401)
})

it('BLK-4, AUT-13: a reference takes nothing that the caller may not read', async (context) => {
  const drop = defineInterface({
    name: 'drop',
    resources: {
      notes: {
        fields: {
          text: { type: 'string' },
          pay: { type: 'integer', optional: true },
          owner: { type: 'string', readOnly: true },
        },
        owner: 'owner',
        access: {
          ...{ read: ['owner'], create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' },
          fields: { pay: { read: 'role:editor' } },
        },
      },
    },
  })
  const { send, make } = await trialFor(context, drop)
  const { id } = await make('notes', { text: 'Secret', pay: 7 }, 'bob')
  const update = { method: 'PATCH', path: `/notes/${id}`, body: { pay: 8 }, as: 'note' }
  const take = ($ref: string) => ({ method: 'POST', path: '/notes', body: { text: { $ref } } })
  const hidden = await send(transaction([update, take('note.text')], { as: 'ann' }))
  assert.deepEqual([hidden.status, places(hidden)], [400, ['INVALID_VALUE /operations/1/body/text']], hidden.text)
  assert.doesNotMatch(hidden.text, /Secret/)
  const shown = await send(transaction([update, take('note.id')], { as: 'ann' }))
  assert.deepEqual(
    shown.json.results.map((each: { status: number }) => each.status),
    [204, 201],
  )
  assert.deepEqual(Object.keys(shown.json.results[0]), ['status'])
  // Of a field that the caller may not read a reference takes what the result shows.
  const masked = { method: 'POST', path: '/notes', body: { text: 'x', pay: { $ref: 'note.pay' } } }
  const own = await send(transaction([update, masked], { as: 'bob' }))
  assert.deepEqual(
    own.json.results.map((each: { body: { pay: unknown } }) => each.body.pay),
    [null, null],
  )
  const eve = await send({ path: `/v1/notes/${own.json.results[1].body.id}`, as: 'bob' })
  assert.equal(eve.json.pay, null)
})
