/** EVT-12: functions of the declaration that run after a change. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InterfaceDeclaration, ResourceDeclaration } from 'resourced-contract/model/declaration'
import type { EventContext } from 'resourced-contract/model/declared-functions'
import { defineInterface, reference, Type } from '../../packages/server/src/index.ts'
import { logTo } from '../../packages/server/src/server/observe/log.ts'
import { purgeAt, type Trial, trial, trialFor } from '../harness.ts'

const day = 24 * 3_600_000
const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

/** What a function was called with. */
interface Call {
  readonly id: string
  readonly kind: string
  readonly record: string
  readonly text: unknown
}

/** A resource whose functions note their calls, and do something more. */
function noting(calls: Call[], more: (context: EventContext) => unknown = () => {}): Partial<ResourceDeclaration> {
  const run = async (context: EventContext) => {
    const { event, record } = context
    await more(context)
    calls.push({ id: event.id, kind: event.kind, record: event.record, text: record?.['text'] ?? record })
  }
  return { events: true, on: { created: run, updated: run, deleted: run, restored: run, purged: run } }
}

function declared(on: Partial<ResourceDeclaration>, limits: InterfaceDeclaration['limits'] = {}) {
  return defineInterface({
    name: 'notes',
    resources: {
      notes: {
        fields: {
          text: Type.String({ filter: true }),
          key: Type.Optional(Type.String({ writeOnly: true })),
          size: Type.Optional(Type.Integer()),
          parent_id: Type.Optional(reference('notes', { onDelete: 'cascade' })),
        },
        access: anyone,
        ...(on as { events: true }),
      },
    },
    limits,
  })
}

const settled = ({ app }: Trial) => app.deliveries?.settle()

/** The deliveries, as an administrator reads them. */
async function deliveriesOf({ send }: Trial) {
  const { status, json, text } = await send({ path: '/v1/deliveries?limit=100' })
  assert.equal(status, 200, text)
  // biome-ignore lint/suspicious/noExplicitAny: records have every shape
  return json.data as any[]
}

async function started(
  context: TestContext,
  on: Partial<ResourceDeclaration>,
  limits?: InterfaceDeclaration['limits'],
) {
  const current = await trialFor(context, declared(on, limits))
  // Functions get the events that follow the start of the first server.
  await settled(current)
  return current
}

it('EVT-12: each kind of change runs its function, with the record after the change', async (context) => {
  const calls: Call[] = []
  const current = await started(context, noting(calls))
  const { send, make } = current
  const { id } = await make('notes', { text: 'a' })
  const path = `/v1/notes/${id}`
  await send({ method: 'PATCH', path, body: { text: 'b' } })
  await send({ method: 'PATCH', path, body: { text: 'b' } })
  await send({ method: 'DELETE', path })
  await send({ method: 'POST', path: `${path}/restore` })
  await send({ method: 'PUT', path, body: { text: 'c' } })
  await send({ method: 'DELETE', path })
  await settled(current)
  await purgeAt(current.app, Date.now() + 31 * day)
  await settled(current)
  const kinds = ['created', 'updated', 'deleted', 'restored', 'updated', 'deleted', 'purged']
  assert.deepEqual(
    calls.map(({ kind }) => kind),
    kinds,
  )
  assert.deepEqual(
    calls.map(({ text }) => text),
    ['a', 'b', null, 'b', 'c', null, null],
  )
  assert.deepEqual(new Set(calls.map(({ record }) => record)), new Set([id]))
  assert.equal(new Set(calls.map(({ id: event }) => event)).size, 7)
  const found = await deliveriesOf(current)
  assert.deepEqual(
    new Set(found.map((each) => `${each.status} ${each.function}`)),
    new Set(['succeeded resources.notes.on']),
  )
})

it('EVT-12: cascades and bulk deletions run functions, and refused changes do not', async (context) => {
  const calls: Call[] = []
  const current = await started(context, noting(calls))
  const { send, make } = current
  const parent = await make('notes', { text: 'parent' })
  const child = await make('notes', { text: 'child', parent_id: parent.id })
  const other = await make('notes', { text: 'other' })
  for (const refused of [
    { path: '/v1/notes', body: { text: 7 } },
    { method: 'PATCH', path: `/v1/notes/${child.id}`, body: { text: 'x' }, headers: { 'if-match': '"other"' } },
    { method: 'PATCH', path: `/v1/notes/${child.id}`, body: { parent_id: '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11' } },
  ]) {
    assert.ok((await send(refused)).status >= 400)
  }
  await send({ method: 'DELETE', path: `/v1/notes/${parent.id}` })
  await send({ path: '/v1/notes/bulk-delete', body: { ids: [other.id] } })
  await settled(current)
  const of = (kind: string) => calls.filter((call) => call.kind === kind).map(({ record }) => record)
  assert.deepEqual(of('created').sort(), [parent.id, child.id, other.id].sort())
  assert.deepEqual(of('deleted').sort(), [parent.id, child.id, other.id].sort())
  assert.deepEqual(of('updated'), [])
})

it('EVT-12: what fails is run again, later changes of its record wait, and other records go on', async (context) => {
  const calls: Call[] = []
  let isDown = true
  const more = ({ record }: EventContext) =>
    isDown && record?.['text'] === 'first' ? Promise.reject('down') : undefined
  const current = await started(context, noting(calls, more))
  const { make, send, clock } = current
  const { id } = await make('notes', { text: 'first' })
  await send({ method: 'PATCH', path: `/v1/notes/${id}`, body: { text: 'second' } })
  await make('notes', { text: 'other' })
  await settled(current)
  assert.deepEqual(
    calls.map(({ text }) => text),
    ['other'],
  )
  isDown = false
  clock.ahead += 10_000
  await settled(current)
  assert.deepEqual(
    calls.map(({ text }) => text),
    ['other', 'first', 'second'],
  )
  const found = await deliveriesOf(current)
  assert.deepEqual(found.map(({ attempts }) => attempts).sort(), [1, 1, 2])
})

it('EVT-12: a function that keeps failing leaves a failed delivery, which can be made again', async (context) => {
  const calls: Call[] = []
  let isDown = true
  const more = ({ record }: EventContext) => {
    if (isDown) throw new Error(`no mail for ${record?.['text']} and canary-1`)
  }
  const current = await started(context, noting(calls, more))
  const { make, send, clock, seen } = current
  await make('notes', { text: 'canary-text', key: 'canary-1' })
  for (let step = 0; step < 40; step++) {
    await settled(current)
    clock.ahead += day / 8
  }
  await settled(current)
  const [failed] = await deliveriesOf(current)
  assert.deepEqual([failed.status, failed.kind, calls.length], ['failed', 'created', 0])
  assert.match(failed.answer.error, /resources\.notes\.on\.created threw Error: no mail for \*\*\*/)
  const lines: string[] = []
  const log = logTo('error', { write: (line: string) => void lines.push(line) })
  for (const each of seen) log(each)
  assert.match(lines.join(''), /resources\.notes\.on\.created threw Error/)
  assert.doesNotMatch(lines.join(''), /canary-text/)
  assert.equal((await send({ path: '/v1/deliveries', as: 'ann' })).json.data?.length ?? 0, 0)
  isDown = false
  const again = await send({ path: '/v1/deliveries', body: { function: failed.function, event_id: failed.event_id } })
  assert.ok(again.status === 201 || again.status === 202, again.text)
  await settled(current)
  assert.deepEqual(
    calls.map(({ text }) => text),
    ['canary-text'],
  )
})

it('EVT-12: a function that never settles is ended, and delays no other record', async (context) => {
  const calls: Call[] = []
  const signals: AbortSignal[] = []
  const more = ({ record, signal }: EventContext) => {
    if (record?.['text'] !== 'hangs') return undefined
    signals.push(signal)
    return new Promise(() => {})
  }
  const current = await started(context, noting(calls, more), { functionTime: 50 })
  await current.make('notes', { text: 'hangs' })
  await current.make('notes', { text: 'fine' })
  await settled(current)
  assert.deepEqual(
    calls.map(({ text }) => text),
    ['fine'],
  )
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
  )
  const found = await deliveriesOf(current)
  const hanging = found.find(({ status }) => status === 'pending')
  assert.match(hanging.answer.error, /took more than 0\.05 seconds/)
})

it('EVT-12: the client of a function changes records as an administrator, and that runs functions too', async (context) => {
  const calls: Call[] = []
  const more = async ({ event, record, client }: EventContext) => {
    if (event.kind === 'created' && record?.['text'] === 'cause') await client['notes']?.create({ text: 'effect' })
  }
  const current = await started(context, noting(calls, more))
  await current.make('notes', { text: 'cause' }, 'ann')
  await settled(current)
  assert.deepEqual(calls.map(({ text }) => text).sort(), ['cause', 'effect'])
})

it('EVT-12: the log names the event that a function failed for, and no value of the record', async (context) => {
  const fail = ({ event, record }: EventContext) => {
    const { kind, collection, id } = event
    throw new Error(`${kind} ${collection} ${event.record} ${id}: ${record?.['text']} is not 42`)
  }
  const current = await started(context, noting([], fail))
  const { id } = await current.make('notes', { text: 'private', size: 42 })
  await settled(current)
  const failures = () =>
    current.seen.flatMap((each) => (each.kind === 'failure' ? [String((each.error as Error).message)] : []))
  const [event] = (await current.send({ path: '/v1/events' })).json.data
  assert.deepEqual(failures(), [
    `resources.notes.on.created threw Error: created notes ${id} ${event.id}: *** is not ***`,
  ])
  const found = await deliveriesOf(current)
  assert.equal(found[0].answer.error, failures()[0])
})

it('EVT-12: functions see neither writeOnly fields nor anything that they could change', async (context) => {
  const contexts: EventContext[] = []
  const current = await started(
    context,
    noting([], (given) => void contexts.push(given)),
  )
  await current.make('notes', { text: 'a', key: 'canary' })
  await settled(current)
  const [given] = contexts as [EventContext]
  assert.equal(JSON.stringify([given.event, given.record]).includes('canary'), false)
  assert.deepEqual(Object.keys(given.record ?? {}).includes('key'), false)
  assert.ok([given, given.event, given.record].every(Object.isFrozen))
})

it('EVT-12: functions see every field that is not writeOnly, whoever else may read it', async (context) => {
  const seen: unknown[] = []
  const on = noting([], ({ record }) => void seen.push(record?.['size']))
  const access = { ...anyone, fields: { size: { read: 'nobody' } } } as const
  const declaration = declared({ ...on, access } as Partial<ResourceDeclaration>)
  const current = await trialFor(context, declaration)
  await settled(current)
  const { size } = await current.make('notes', { text: 'a', size: 5 })
  await settled(current)
  assert.deepEqual([size, seen], [null, [5]])
})

it('EVT-12: a server that closes gives a running function to another server', async (context) => {
  const calls: string[] = []
  let hangs = true
  const on = (server: string) =>
    noting([], ({ signal }) => {
      calls.push(server)
      if (server === 'one' && hangs) return new Promise((_, reject) => signal.addEventListener('abort', reject))
      return undefined
    })
  const one = await trial(declared(on('one')))
  await settled(one)
  await one.make('notes', { text: 'a' })
  const settling = settled(one)
  while (calls.length === 0) await sleep(5)
  const two = await trialFor(context, declared(on('two')), { database: one.database })
  hangs = true
  await one.app.close()
  await settling
  for (let time = 0; time < 200 && !calls.includes('two'); time++) {
    await settled(two)
    await sleep(10)
  }
  assert.deepEqual(calls, ['one', 'two'])
  assert.equal((await deliveriesOf(two))[0].status, 'succeeded')
})
