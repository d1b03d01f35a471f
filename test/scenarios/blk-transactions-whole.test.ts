/** BLK-4: what holds for a transaction as a whole: keys, preferences, versions, sizes, the function `authorize`. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { AuthorizationRequest } from 'resourced-contract/model/declared-functions'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { studio } from '../declarations.ts'
import { desk } from '../declarations-desk.ts'
import { places, type Received, type Sent, trialFor } from '../harness.ts'
import { countOf, fill } from '../steps.ts'

const everyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

const boxes = defineInterface({
  name: 'boxes',
  resources: {
    boxes: {
      fields: { name: { type: 'string' }, twin_id: { reference: 'boxes', onDelete: 'clear', optional: true } },
      access: everyone,
    },
    tickets: { fields: { box_id: { reference: 'boxes', onDelete: 'cascade' } }, access: everyone },
  },
})

function transaction(operations: unknown, more: Partial<Sent> = {}): Sent {
  return { path: '/v1/transactions', body: { operations }, ...more }
}

function statuses({ json }: Received): number[] {
  return json.results.map(({ status }: { status: number }) => status)
}

const create = (name: string, more: object = {}) => ({ method: 'POST', path: '/boxes', body: { name }, ...more })

it('BLK-4, MET-9: a key holds for the whole transaction', async (context) => {
  const current = await trialFor(context, boxes)
  const keyed = (operations: unknown, key = '"k"', as = 'root') =>
    current.send(transaction(operations, { headers: { 'idempotency-key': key }, as }))
  const change = { method: 'PATCH', path: '/boxes/{two.id}', body: { name: 'Two' } }
  const gone = { method: 'DELETE', path: '/boxes/{box.id}' }
  const operations = [create('One', { as: 'box' }), gone, create('2', { as: 'two' }), change]
  const first = await keyed(operations)
  assert.equal(first.status, 200, first.text)
  const again = await keyed(operations)
  assert.deepEqual([again.status, again.text], [200, first.text])
  assert.equal(await countOf(current, 'boxes'), 1)
  const other = await keyed([create('Three')])
  assert.deepEqual([other.status, other.json.code], [422, 'IDEMPOTENCY_KEY_REUSED'])
  // A refused transaction keeps nothing.
  const wrong = [create('Four'), { method: 'DELETE', path: '/boxes/nothing' }]
  for (let count = 0; count < 2; count++) assert.equal((await keyed(wrong, '"w"')).status, 404)
  assert.equal((await keyed([create('Four')], '"w"')).status, 200)
  assert.equal(await countOf(current, 'boxes'), 2)
})

it('BLK-4, AUT-9: a repeated answer shows nothing that the caller may no longer read', async (context) => {
  const current = await trialFor(context, studio)
  const project = await current.make('projects', { name: 'P', visibility: 'public' })
  const task = await current.make('tasks', { title: 'T', project_id: project.id })
  const own = { method: 'POST', path: '/projects', body: { name: 'Mine' } }
  const change = { method: 'PATCH', path: `/tasks/${task.id}`, body: { title: 'Secret' } }
  const sent = transaction([own, change], { headers: { 'idempotency-key': '"k"' } })
  const first = await current.send(sent)
  assert.equal(first.json.results[1].body.title, 'Secret')
  assert.equal((await current.send({ method: 'DELETE', path: `/v1/tasks/${task.id}` })).status, 204)
  const again = await current.send(sent)
  assert.deepEqual(again.json.results[0], first.json.results[0])
  assert.deepEqual(again.json.results[1], { status: 204 })
})

it('BLK-4, MET-8: `return=minimal` leaves the bodies out, and references have their values', async (context) => {
  const { send } = await trialFor(context, boxes)
  const minimal = { headers: { prefer: 'return=minimal' } }
  const pair = [
    create('One', { as: 'box' }),
    { method: 'POST', path: '/tickets', body: { box_id: { $ref: 'box.id' } } },
    create('x', { body: { name: { $ref: 'box.name' } } }),
  ]
  const answer = await send(transaction(pair, minimal))
  assert.deepEqual(statuses(answer), [201, 201, 201])
  assert.equal(answer.headers['preference-applied'], 'return=minimal')
  assert.deepEqual(Object.keys(answer.json.results[0]), ['status', 'location', 'etag'])
  const { name } = (await send({ path: answer.json.results[2].location })).json
  assert.equal(name, 'One')
})

it('BLK-4, DEL-8: at most 1,000 records change together, cascades and cleared references included, and no job', async (context) => {
  const current = await trialFor(context, boxes)
  const { make, send } = current
  const box = await make('boxes', { name: 'Full' })
  const twin = await make('boxes', { name: 'Twin' })
  await fill(current, 'tickets', Array(999).fill({ box_id: box.id }))
  const gone = { method: 'DELETE', path: `/boxes/${box.id}` }
  const tooLarge = await send(transaction([create('One'), gone]))
  assert.deepEqual([tooLarge.status, tooLarge.json.code], [409, 'TRANSACTION_TOO_LARGE'], tooLarge.text)
  assert.deepEqual(places(tooLarge), ['TRANSACTION_TOO_LARGE /operations/1'])
  const restore = { method: 'POST', path: `/boxes/${box.id}/restore` }
  assert.deepEqual(places(await send(transaction([gone, restore]))), ['TRANSACTION_TOO_LARGE /operations/1'])
  assert.equal(await countOf(current, 'tickets'), 999)
  assert.deepEqual(statuses(await send(transaction([gone]))), [204])
  assert.deepEqual(places(await send(transaction([restore, create('One')]))), ['TRANSACTION_TOO_LARGE /operations/1'])
  await fill(current, 'boxes', Array(1_000).fill({ name: 'x', twin_id: twin.id }))
  const cleared = await send(transaction([{ method: 'DELETE', path: `/boxes/${twin.id}` }]))
  assert.deepEqual(places(cleared), ['TRANSACTION_TOO_LARGE /operations/0'])
  assert.equal(await countOf(current, 'boxes'), 1_001)
  const small = { ...boxes.resources.boxes, deletion: { asynchronous: { above: 1 } } } as const
  const jobs = await trialFor(context, { ...boxes, resources: { ...boxes.resources, boxes: small } })
  const one = await jobs.make('boxes', { name: 'One' })
  await jobs.make('tickets', { box_id: one.id })
  const job = await jobs.send(transaction([{ method: 'DELETE', path: `/boxes/${one.id}` }]))
  assert.deepEqual([job.status, job.json.code], [409, 'TRANSACTION_TOO_LARGE'], job.text)
})

it('BLK-4, VER-2: paths, bodies, references, results and errors have the names and values of the version', async (context) => {
  const { send } = await trialFor(context, desk)
  const person = { method: 'POST', path: '/people', body: { name: 'Ann' }, as: 'ann' }
  const ticket = { subject: 'Help', price: 1.5 }
  const v1 = (operations: unknown) => send({ path: '/v1/transactions', body: { operations } })
  const answer = await v1([
    person,
    { method: 'POST', path: '/people/{ann.id}/tickets', body: ticket, as: 'first' },
    {
      method: 'POST',
      path: '/tickets',
      body: { subject: { $ref: 'first.subject' }, price: { $ref: 'first.price' }, asker_id: { $ref: 'ann.id' } },
    },
    { method: 'PATCH', path: '/tickets/{first.id}', body: { state: 'done', colour: { $ref: 'first.state' } } },
  ])
  assert.equal(answer.status, 200, answer.text)
  const [, first, second, patched] = answer.json.results
  assert.equal(first.location, `/v1/tickets/${first.body.id}`)
  assert.deepEqual([second.body.subject, second.body.price, second.body.asker_id], ['Help', 1.5, first.body.asker_id])
  assert.equal(patched.body.state, 'done')
  assert.equal((await send({ path: `/v3/cases/${second.body.id}` })).json.cents, 150)
  const wrong = await v1([person, { method: 'POST', path: '/tickets', body: { subject: 'x', price: -1 } }])
  assert.deepEqual(places(wrong).sort(), ['DUPLICATE_VALUE /operations/0/body/name'])
  const invalid = await v1([{ method: 'POST', path: '/tickets', body: { subject: 'x', price: -1 } }])
  assert.deepEqual(places(invalid).sort(), [
    'REQUIRED /operations/0/body/asker_id',
    'TOO_SHORT /operations/0/body/subject',
    'TOO_SMALL /operations/0/body/price',
  ])
  const newer = await v1([{ method: 'POST', path: '/cases', body: {} }])
  assert.equal(newer.json.code, 'OPERATION_NOT_ALLOWED')
})

it('BLK-4, AUT-12: the function is asked about the transaction, and about each operation as about a request', async (context) => {
  const asked: string[] = []
  const authorize = ({ method, path, collection, action, id }: AuthorizationRequest) => {
    asked.push(`${method} ${path} ${collection} ${action} ${id ?? '-'}`)
    return action === 'delete' ? { code: 'NOT_TODAY', message: 'Nothing is deleted today.' } : true
  }
  const current = await trialFor(context, { ...boxes, authorize })
  const { id } = await current.make('boxes', { name: 'There' })
  asked.length = 0
  const operations = [
    create('One', { as: 'new' }),
    { method: 'PATCH', path: `/boxes/${id}`, body: { name: 'x' }, as: 'old' },
    { method: 'DELETE', path: '/boxes/{old.id}' },
    create('Two'),
  ]
  const refused = await current.send(transaction(operations))
  assert.deepEqual([refused.status, places(refused)], [403, ['NOT_TODAY /operations/2']], refused.text)
  assert.deepEqual(asked, [
    'POST /v1/transactions undefined undefined -',
    'POST /v1/boxes boxes create -',
    `PATCH /v1/boxes/${id} boxes update ${id}`,
    `DELETE /v1/boxes/${id} boxes delete ${id}`,
  ])
  // An earlier operation that fails decides.
  const earlier = await current.send(transaction([create('One', { body: {} }), operations[1], operations[2]]))
  assert.deepEqual([earlier.status, places(earlier)], [400, ['REQUIRED /operations/0/body/name']])
  assert.equal(await countOf(current, 'boxes'), 1)
})

it('BLK-4, RES-3: a declared collection of the name keeps its address', async (context) => {
  const own = { fields: { amount: { type: 'integer' } }, access: everyone } as const
  const { send } = await trialFor(context, { ...boxes, resources: { ...boxes.resources, transactions: own } })
  assert.equal((await send({ path: '/v1/transactions', body: { amount: 1 } })).status, 201)
  assert.equal((await send({ path: '/v1/transactions' })).json.pagination.total_count, 1)
  assert.equal((await send(transaction([create('One')]))).status, 400)
  const { paths } = (await send({ path: '/v1/openapi.json' })).json
  assert.equal(paths['/transactions'].post.operationId, 'createTransaction')
})

it('BLK-4, EVT-1: each changed record has its events, in the order of the operations', async (context) => {
  const resources = Object.entries(boxes.resources).map(([name, each]) => [name, { ...each, events: true }])
  const current = await trialFor(context, { ...boxes, resources: Object.fromEntries(resources) })
  const made = await current.send(
    transaction([
      create('One', { as: 'box' }),
      { method: 'POST', path: '/tickets', body: { box_id: { $ref: 'box.id' } } },
      { method: 'PATCH', path: '/boxes/{box.id}', body: { name: 'Two' } },
      { method: 'DELETE', path: '/boxes/{box.id}' },
    ]),
  )
  assert.deepEqual(statuses(made), [201, 201, 200, 204], made.text)
  await current.send(transaction([create('Three'), { method: 'DELETE', path: '/boxes/nothing' }]))
  const { data } = (await current.send({ path: '/v1/events?sort=created_at' })).json
  const kinds = data.map((each: { collection: string; kind: string }) => `${each.collection} ${each.kind}`)
  const expected = ['boxes created', 'tickets created', 'boxes updated', 'boxes deleted', 'tickets deleted']
  assert.deepEqual(kinds.sort(), expected.sort())
})

it('BLK-4, HIS-1: each changed record keeps its states, with the request that changed it', async (context) => {
  const resources = Object.entries(boxes.resources).map(([name, each]) => [name, { ...each, history: true }])
  const { send } = await trialFor(context, { ...boxes, resources: Object.fromEntries(resources) })
  const made = await send(
    transaction([
      create('One', { as: 'box' }),
      { method: 'POST', path: '/tickets', body: { box_id: { $ref: 'box.id' } }, as: 'ticket' },
      { method: 'PATCH', path: '/boxes/{box.id}', body: { name: 'Two' } },
    ]),
  )
  assert.deepEqual(statuses(made), [201, 201, 200], made.text)
  for (const [at, kinds] of [
    [0, ['updated', 'created']],
    [1, ['created']],
  ] as const) {
    const { data } = (await send({ path: `${made.json.results[at].location}/revisions` })).json
    assert.deepEqual(data.map(({ kind }: { kind: string }) => kind), kinds) // biome-ignore format: a line
    for (const { caller, request_id } of data) {
      assert.deepEqual([caller, request_id], ['root', made.headers['x-request-id']])
    }
  }
})

it('BLK-4, BLK-1, BLK-2: an operation may have an array, and refer to earlier results in it', async (context) => {
  const current = await trialFor(context, boxes)
  const { send } = current
  const many = (...$refs: string[]) => $refs.map(($ref) => ({ box_id: { $ref } }))
  const there = await current.make('boxes', { name: 'There' })
  const made = await send(
    transaction([
      create('One', { as: 'box' }),
      { method: 'POST', path: '/tickets', body: many('box.id', 'box.id') },
      { method: 'POST', path: '/boxes', body: [{ name: 'Two' }, { name: 'Three', twin_id: { $ref: 'box.id' } }] },
      {
        method: 'PATCH',
        path: '/boxes',
        body: [
          { id: { $ref: 'box.id' }, name: 'First' },
          { id: there.id, name: 'x' },
        ],
      },
    ]),
  )
  assert.deepEqual(statuses(made), [201, 201, 201, 200], made.text)
  const [box, tickets, , patched] = made.json.results
  assert.deepEqual(tickets.body.data.map((each: { box_id: string }) => each.box_id), [box.body.id, box.body.id]) // biome-ignore format: a line
  assert.deepEqual(patched.body.data.map((each: { name: string }) => each.name), ['First', 'x']) // biome-ignore format: a line
  assert.equal(await countOf(current, 'boxes'), 4)
  const wrong = await send(
    transaction([
      create('Five', { as: 'box' }),
      { method: 'POST', path: '/boxes', body: [{ name: 'a' }, { name: 1 }] },
    ]),
  )
  assert.deepEqual([wrong.status, places(wrong)], [400, ['INVALID_TYPE /operations/1/body/1/name']], wrong.text)
  const refused = await send(
    transaction([
      { method: 'POST', path: '/boxes', body: [{ name: 'a' }], as: 'list' },
      create('b', { body: { name: { $ref: 'list.id' } } }),
      { method: 'DELETE', path: '/boxes/{list.id}' },
      { method: 'PATCH', path: '/boxes', body: { name: 'all' } },
    ]),
  )
  assert.deepEqual(places(refused), [
    'INVALID_TYPE /operations/3/body',
    'INVALID_VALUE /operations/1/body/name',
    'INVALID_VALUE /operations/2/path',
  ])
  const large = await send(
    transaction([create('c'), { method: 'POST', path: '/boxes', body: Array(1_000).fill({ name: 'c' }) }]),
  )
  assert.deepEqual(places(large), ['TRANSACTION_TOO_LARGE /operations/1'])
  assert.equal(await countOf(current, 'boxes'), 4)
})

it('BLK-4: creations, changes and deletions are carried out in order, or none of them', async (context) => {
  const fields = { name: { type: 'string', unique: true, sort: true } } as const
  const current = await trialFor(
    context,
    defineInterface({ name: 'notes', resources: { notes: { fields, access: everyone } } }),
  )
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push((await current.make('notes', { name })).id)
  const [a, b, c, d, e] = ids.map((id) => `/notes/${id}`)
  const names = async () => {
    const { json } = await current.send({ path: '/v1/notes?sort=name' })
    return json.data.map((each: { readonly name: string }) => each.name)
  }
  const done = await current.send(
    transaction([
      { method: 'PATCH', path: a, body: { name: 'first' } },
      { method: 'DELETE', path: b },
      { method: 'POST', path: '/notes', body: { name: 'b' } },
      { method: 'PATCH', path: c, body: { name: 'a' } },
      { method: 'DELETE', path: d },
    ]),
  )
  assert.deepEqual([done.status, statuses(done)], [200, [200, 204, 201, 200, 204]], done.text)
  assert.deepEqual(await names(), ['a', 'b', 'e', 'first'])
  const left = { method: 'PATCH', path: e, body: { name: 'left' } }
  for (const [refused, status] of [
    [{ method: 'POST', path: '/notes', body: { name: 'left' } }, 409],
    [{ method: 'DELETE', path: d }, 404],
    [{ method: 'DELETE', path: c, if_match: '"other"' }, 412],
  ] as const) {
    const { status: found, text } = await current.send(transaction([{ method: 'DELETE', path: a }, left, refused]))
    assert.equal(found, status, text)
  }
  assert.deepEqual(await names(), ['a', 'b', 'e', 'first'])
  const gone = await current.send(transaction([a, e].map((path) => ({ method: 'DELETE', path }))))
  assert.deepEqual(statuses(gone), [204, 204], gone.text)
  assert.deepEqual(await names(), ['a', 'b'])
})
