/** RES-16: numbers that the server assigns on creation, without gaps. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { always } from 'resourced-contract/model/predicate'
import { uuidv7 } from 'uuidv7'
import { defineInterface, Type } from '../../packages/server/src/index.ts'
import type { Create } from '../../packages/server/src/plan/plan.ts'
import { places, purgeAt, type Trial, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

const tracker = defineInterface({
  name: 'tracker',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'tickets', rename: { no: 'number' }, add: ['place'] }],
  resources: {
    projects: {
      fields: { name: Type.String() },
      access: { ...anyone, read: ['role:admin', { where: { name: { not: 'secret' } } }] },
    },
    tickets: {
      fields: {
        title: Type.String({ unique: true, maxLength: 20 }),
        project_id: Type.reference('projects', { onDelete: 'cascade', immutable: true }),
        number: Type.Sequence({ per: 'project_id', filter: true, sort: true }),
        place: Type.Sequence(),
        status: Type.Enum(['open', 'done'], { default: 'open' }),
      },
      within: 'project_id',
      access: { ...anyone, create: { through: 'project_id', action: 'read' } },
      rules: [
        {
          on: 'create',
          check: ({ next }) =>
            next?.title === 'bad' ? { code: 'BAD_TITLE', message: 'This title is bad.' } : undefined,
        },
      ],
    },
    bills: {
      fields: { year: Type.Integer({ immutable: true }), number: Type.Sequence({ per: 'year' }) },
      access: anyone,
      deletion: { variant: 'hard' },
    },
  },
})

async function ticket({ make }: Trial, project: { readonly id: string }, title = uuidv7().slice(-12)) {
  return make('tickets', { title, project_id: project.id })
}

it('RES-16: records are numbered for each value of a field, and for the collection', async (context) => {
  const current = await trialFor(context, tracker)
  const { send, make } = current
  const [one, two] = [await make('projects', { name: 'one' }), await make('projects', { name: 'two' })]
  const made = [
    await ticket(current, one),
    await ticket(current, one),
    await ticket(current, two),
    await ticket(current, one),
  ]
  assert.deepEqual(
    made.map(({ number, place }) => [number, place]),
    [
      [1, 1],
      [2, 2],
      [1, 3],
      [3, 4],
    ],
  )
  const nested = await send({ path: `/v2/projects/${two.id}/tickets`, body: { title: 'nested' } })
  assert.deepEqual([nested.status, nested.json.number, nested.json.place], [201, 2, 5], nested.text)
  assert.equal((await send({ path: nested.headers.location ?? '' })).text, nested.text)
  const list = await send({ path: `/v2/tickets?project_id=${one.id}&sort=-number&number[gte]=2` })
  assert.deepEqual(
    list.json.data.map(({ number }: { number: number }) => number),
    [3, 2],
  )
  const bills = [2026, 2027, 2026].map(async (year) => (await make('bills', { year })).number)
  assert.deepEqual((await Promise.all(bills)).sort(), [1, 1, 2])
})

it('RES-16: refused creations take no number', async (context) => {
  const current = await trialFor(context, tracker)
  const { send, make } = current
  const [open, secret] = [await make('projects', { name: 'open' }), await make('projects', { name: 'secret' })]
  await ticket(current, open, 'first')
  const refusals: [body: object, as: string, status: number][] = [
    [{ title: 'first', project_id: open.id }, 'ann', 409],
    [{ title: 'bad', project_id: open.id }, 'ann', 409],
    [{ title: 7, project_id: open.id }, 'ann', 400],
    [{ title: 'a', project_id: open.id, number: 2 }, 'ann', 400],
    [{ title: 'a', project_id: uuidv7() }, 'ann', 400],
    [{ title: 'a', project_id: secret.id }, 'ann', 400],
  ]
  // They arrive with others, and share commits.
  const statuses = refusals.map(async ([body, as, status]) => {
    const answer = await send({ path: '/v2/tickets', body, as })
    assert.equal(answer.status, status, answer.text)
  })
  await Promise.all([...statuses, ticket(current, open), ticket(current, secret)])
  const last = await ticket(current, open)
  assert.deepEqual([last.number, last.place], [3, 4])
  const keyed = (body: object) =>
    send({ path: '/v2/tickets', body, headers: { 'idempotency-key': `"${JSON.stringify(body).length}"` } })
  const body = { title: 'keyed', project_id: open.id }
  const [first, again] = [await keyed(body), await keyed(body)]
  assert.deepEqual([first.status, first.json.number, again.text], [201, 4, first.text])
})

it('RES-16: a number is read-only', async (context) => {
  const current = await trialFor(context, tracker)
  const { send, make } = current
  const project = await make('projects', { name: 'one' })
  const { id, ...body } = await ticket(current, project)
  const path = `/v2/tickets/${id}`
  for (const [method, sent] of [
    ['PATCH', { number: 2 }],
    ['PUT', { ...body, number: 2 }],
  ] as const) {
    const refused = await send({ method, path, body: sent })
    assert.deepEqual([refused.status, places(refused)], [400, ['READ_ONLY /number']])
  }
  const repeated = await send({ method: 'PUT', path, body: { ...body, status: 'done' } })
  assert.deepEqual([repeated.status, repeated.json.number, repeated.json.place], [200, 1, 1])
  const left = await send({ method: 'PUT', path, body: { title: 'other', project_id: project.id } })
  assert.deepEqual([left.status, left.json.number], [200, 1])
})

it('RES-16: a number of a deleted record is not assigned again, and a restored record keeps its number', async (context) => {
  const current = await trialFor(context, tracker)
  const { send, make, app } = current
  const project = await make('projects', { name: 'one' })
  const [first, second] = [await ticket(current, project), await ticket(current, project)]
  for (const { id } of [first, second]) await send({ method: 'DELETE', path: `/v2/tickets/${id}` })
  assert.equal((await ticket(current, project)).number, 3)
  const restored = await send({ method: 'POST', path: `/v2/tickets/${second.id}/restore` })
  assert.deepEqual([restored.status, restored.json.number], [200, 2])
  assert.equal(await purgeAt(app, Date.now() + 40 * 86_400_000), 1)
  assert.equal((await ticket(current, project)).number, 4)
  const bill = await make('bills', { year: 2026 })
  await send({ method: 'DELETE', path: `/v2/bills/${bill.id}` })
  assert.equal((await make('bills', { year: 2026 })).number, 2)
})

it('RES-16, DEL-7: the counters of a record go when it is purged', async (context) => {
  const current = await trialFor(context, tracker)
  const { send, make, app, database } = current
  const [gone, kept] = [await make('projects', { name: 'gone' }), await make('projects', { name: 'kept' })]
  for (const project of [gone, kept]) await ticket(current, project)
  assert.equal((await send({ method: 'DELETE', path: `/v2/projects/${gone.id}` })).status, 204)
  const counters = async () =>
    (await database.rows('select name from resourced_counters')).map(({ name }) => name).sort()
  assert.equal((await counters()).length, 3)
  await purgeAt(app, Date.now() + 40 * 86_400_000)
  assert.deepEqual(await counters(), [`tickets/number/${kept.id}`, 'tickets/place/'].sort())
})

it('RES-16, VER-2: clients of an older version get numbers under the name that these have there', async (context) => {
  const current = await trialFor(context, tracker)
  const project = await current.make('projects', { name: 'one' })
  const made = await current.send({ path: '/v1/tickets', body: { title: 'a', project_id: project.id } })
  assert.deepEqual(
    [made.status, made.json.no, made.json.number, made.json.place],
    [201, 1, undefined, undefined],
    made.text,
  )
  assert.equal((await current.send({ path: `/v2/tickets/${made.json.id}` })).json.place, 1)
  const refused = await current.send({ path: '/v1/tickets', body: { title: 'b', project_id: project.id, no: 1 } })
  assert.deepEqual([refused.status, places(refused)], [400, ['READ_ONLY /no']])
})

it('RES-16: an import numbers its records, and refused ones take no number', async (context) => {
  const current = await trialFor(context, tracker)
  const { app, make } = current
  const projects = [await make('projects', { name: 'one' }), await make('projects', { name: 'two' })]
  const resource = app.catalog.resources.get('tickets')
  assert.ok(resource)
  const plans = Array.from({ length: 30 }, (_, index): Create => {
    const title = index % 5 === 4 ? 'bad' : `t${index}`
    const body = { title, project_id: projects[index % 2]?.id }
    const right = { permitted: always, mayAssignOwner: true, caller: { id: 'me', roles: [], claims: {} } }
    return { kind: 'create', resource, id: uuidv7(), parent: undefined, body, now: Date.now(), ...right }
  })
  const [outcomes, beside] = await Promise.all([app.storage.load(plans, 'skip'), ticket(current, projects[0])])
  assert.equal(outcomes.filter((each) => each === undefined).length, 24)
  assert.ok(beside.number === 1 || beside.number === 13)
  const { data } = (await current.send({ path: '/v2/tickets?limit=100' })).json
  for (const { id } of projects) {
    const numbers = data.flatMap((each: Record<string, unknown>) => (each['project_id'] === id ? [each['number']] : []))
    const expected = Array.from({ length: numbers.length }, (_, index) => index + 1)
    assert.deepEqual(
      numbers.toSorted((a: number, b: number) => a - b),
      expected,
    )
  }
})

it('RES-16: the document describes numbers, and no request has them', async (context) => {
  const { send } = await trialFor(context, tracker)
  const { Ticket, TicketCreate } = (await send({ path: '/v2/openapi.json' })).json.components.schemas
  const { description, ...schema } = Ticket.properties.number
  assert.deepEqual(schema, { type: 'integer', minimum: 1, readOnly: true })
  assert.match(description, /without gaps, for each project_id/)
  assert.deepEqual(TicketCreate.required, ['title', 'project_id'])
  assert.equal('number' in TicketCreate.properties, false)
})
