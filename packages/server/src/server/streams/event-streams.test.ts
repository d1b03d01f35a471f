/** Streams of events without sockets and without a database. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Predicate } from 'resourced-contract/model/predicate'
import { fault } from 'resourced-contract/spec/faults'
import { becomes } from '../../../../../test/open-files.ts'
import type { StreamsOptions } from './event-streams.ts'
import { callerOf, requestOf, TrialClient, TrialStore, trialStreams } from './trial-events.fixture.ts'

function start(context: TestContext, options: Partial<StreamsOptions> = {}) {
  const store = new TrialStore()
  const streams = trialStreams(store, options)
  context.after(() => streams.close())
  const open = async (more: Parameters<typeof requestOf>[1] = {}) =>
    new TrialClient(await streams.open(requestOf(streams, more)))
  const write = (...records: string[]) => {
    for (const record of records) store.write(record)
    streams.wake()
  }
  return { store, streams, open, write }
}

const owns = (id: string): Predicate => ({ kind: 'compare', field: 'owner', operator: 'eq', value: id })
const nativeRequest = { method: 'GET', target: '/', headers: {}, secure: true, address: '' }

test('EVT-6: a stream begins with the time to reconnect and an id, and sends events as they are written', async (context) => {
  const { open, write } = start(context)
  const client = await open()
  assert.match(client.text, /^retry: \d{4}\n\nid: [\w-]{22}\n\n$/)
  write('a', 'b')
  assert.ok(await becomes(() => client.records.length === 2))
  write('c')
  assert.ok(await becomes(() => client.records.join('') === 'abc'))
  assert.match(client.text, /\nid: [\w-]{22}\nevent: created\ndata: \{.*"record":"c".*\}\n\n$/)
})

test('EVT-6: a client that is cut off anywhere resumes without a loss, and gets nothing twice', async (context) => {
  const { store, streams, open, write } = start(context)
  store.mayRead = (_, { position }) => position % 3 !== 0
  store.examined = 7
  const got: string[] = []
  const first = await open()
  let { lastEventId } = first
  first.stream.closed()
  let written = 0
  const writing = setInterval(
    () => write(...Array.from({ length: Math.floor(Math.random() * 6) }, () => `r${++written}`)),
    2,
  )
  context.after(() => clearInterval(writing))
  for (let cut = 0; cut < 60 || written < 200; cut++) {
    const client = await open({ after: await streams.positionAfter(lastEventId) })
    await sleep(Math.random() * 15)
    // The connection breaks in the middle of a block, which the client must not count.
    const blocks = client.text
      .slice(0, Math.floor(Math.random() * client.text.length))
      .split('\n\n')
      .slice(0, -1)
    client.stream.closed()
    for (const block of blocks) {
      lastEventId = /^id: (.*)$/m.exec(block)?.[1] ?? lastEventId
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) got.push(JSON.parse(data).record)
    }
  }
  clearInterval(writing)
  const client = await open({ after: await streams.positionAfter(lastEventId) })
  const expected = store.events.filter(({ position }) => position % 3 !== 0).map(({ record }) => record)
  assert.ok(await becomes(() => got.length + client.records.length >= expected.length))
  assert.deepEqual([...got, ...client.records], expected)
  assert.ok(expected.length > 100, `${expected.length} events`)
})

test('EVT-6: a client that was never sent an event resumes after what was examined for it', async (context) => {
  const { store, streams, open, write } = start(context)
  store.mayRead = (_, { record }) => record === 'mine'
  const idle = await open()
  const { lastEventId } = idle
  write('other', 'mine')
  assert.ok(await becomes(() => idle.records.length === 1))
  idle.stream.closed()
  const next = await open({ after: await streams.positionAfter(lastEventId) })
  assert.ok(await becomes(() => next.records.length === 1))
})

test('EVT-6: ids of other servers, and ids that were made up, are told apart', async (context) => {
  const { store, streams, write } = start(context)
  write('a', 'b', 'c')
  const refused = async (id: string) => {
    try {
      return (await streams.positionAfter(id)).position
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  assert.equal(await refused('nonsense'), 'INVALID_CURSOR')
  assert.equal(await refused('A'.repeat(22)), 'INVALID_CURSOR')
  assert.equal(await refused(store.events[1]?.id ?? ''), 2)
  assert.equal(await refused('0190a000-0000-7000-8000-000000000000'), 'EVENTS_EXPIRED')
  assert.equal(await refused(''), 3)
})

test('EVT-5: who continues before what is kept gets EVENTS_EXPIRED, and an open stream that is overtaken ends', async (context) => {
  const { store, streams, open, write } = start(context)
  const client = await open()
  const { lastEventId } = client
  client.room = 0
  write('a')
  assert.ok(await becomes(() => client.records.length === 1))
  write('b', 'c')
  store.floorPosition = 2
  client.room = 1_000
  client.stream.drained()
  assert.ok(await becomes(() => client.state === 'ended'))
  assert.match(client.text, /\n: The next events are no longer kept, or .*\.\n\n$/)
  assert.deepEqual(client.records, ['a'])
  await assert.rejects(streams.positionAfter(lastEventId), { code: 'EVENTS_EXPIRED' })
  assert.equal((await streams.positionAfter(store.events[2]?.id)).position, 3)
})

test('EVT-5: an id from beyond the newest event is of another copy of the database', async (context) => {
  const { streams, store, write } = start(context)
  write(...'abcdef')
  const after = await streams.positionAfter('')
  const client = new TrialClient(await streams.open(requestOf(streams, { after })))
  store.events.length = 2
  const other = trialStreams(store, { secret: Buffer.alloc(32) })
  context.after(() => other.close())
  const made = new TrialClient(await other.open(requestOf(other, { after })))
  await assert.rejects(other.positionAfter(made.lastEventId), { code: 'EVENTS_EXPIRED' })
  assert.ok(await becomes(() => client.state === 'ended'))
})

for (const [what, written] of [
  ['silent', ''],
  ['beyond the lost positions', 'xyz'],
  ['as far as before', 'wx'],
] as const) {
  test(`EVT-6: after the database has lost events, and is ${what}, streams that have got them end`, async (context) => {
    const { streams, store, open, write } = start(context)
    write(...'abcd')
    const client = await open()
    assert.ok(await becomes(() => client.records.length === 4))
    const { lastEventId } = client
    const idOfEvent = store.events[3]?.id
    store.events.length = 2
    write(...written)
    assert.ok(await becomes(() => client.state === 'ended'))
    assert.deepEqual(client.records, [...'abcd'])
    for (const id of [lastEventId, client.lastEventId, idOfEvent]) {
      await assert.rejects(streams.positionAfter(id), { code: 'EVENTS_EXPIRED' }, id)
    }
    const anew = await open({ after: await streams.positionAfter('') })
    write('n')
    assert.ok(await becomes(() => anew.records.join('') === 'n'))
  })
}

test('EVT-6: a stream that has got nothing of what the database lost goes on', async (context) => {
  const { streams, store, open, write } = start(context)
  write(...'ab')
  const client = await open()
  assert.ok(await becomes(() => client.records.length === 2))
  client.room = 0
  write('c')
  assert.ok(await becomes(() => client.records.length === 3))
  write(...'def')
  // The horizon goes back, to no earlier than the last event that the client has got.
  await streams.positionAfter('')
  store.events.length = 3
  await streams.positionAfter('')
  client.room = Number.POSITIVE_INFINITY
  client.stream.drained()
  write('x')
  assert.ok(await becomes(() => client.records.join('') === 'abcx'))
  assert.equal(client.state, 'open')
  assert.equal((await streams.positionAfter(client.lastEventId)).position, 4)
})

test('streams with the same grants share a read, others have their own', async (context) => {
  const { store, open, write } = start(context, { perCaller: 5_000 })
  const clients = await Promise.all(
    Array.from({ length: 2_000 }, (_, index) => open({ grant: owns(`role${index % 3}`) })),
  )
  write('a')
  assert.ok(await becomes(() => clients.every(({ records }) => records.length === 1)))
  assert.ok(store.reads < 200, `${store.reads} reads`)
})

test('a result that was shared is not used for events that came later', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const { store, open, write } = start(context, { perCaller: 100 })
  const clients = [await open(), await open()]
  for (let event = 1; event <= 30; event++) {
    write(`r${event}`)
    assert.ok(await becomes(() => clients.every(({ records }) => records.length === event)))
    // What was just examined up to here must not hide the next event.
    await open({ after: { position: store.events.length, mark: await store.mark(store.events.length) } })
  }
})

test('EVT-7: a client that does not read gets no more, and the rest when it reads again', async (context) => {
  const { store, open, write } = start(context)
  const client = await open()
  client.room = 20_000
  for (let index = 0; index < 3_000; index++) store.write(`r${index}`, { size: 200 })
  write('last')
  await becomes(() => client.room <= 0)
  await sleep(50)
  assert.ok(client.text.length < 60_000, `${client.text.length} bytes`)
  const { reads } = store
  assert.ok(reads < 5, `${reads} reads`)
  client.room = Number.POSITIVE_INFINITY
  client.stream.drained()
  assert.ok(await becomes(() => client.records.length === 3_001))
  assert.deepEqual(new Set(client.records).size, 3_001)
})

test('EVT-7: a client that leaves everything unread is disconnected', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const { open, write } = start(context)
  const client = await open()
  client.room = 0
  write('a')
  assert.ok(await becomes(() => client.stream.isBlocked))
  client.stream.tick(performance.now() + 29_000)
  assert.equal(client.state, 'open')
  client.stream.tick(performance.now() + 31_000)
  assert.equal(client.state, 'aborted')
})

test('EVT-7: a caller has a number of streams, and a process has one too', async (context) => {
  const { streams, open } = start(context, { perCaller: 2, most: 3 })
  const [first] = [await open(), await open()]
  await assert.rejects(open(), { code: 'TOO_MANY_STREAMS' })
  await open({ id: 'bob' })
  await assert.rejects(open({ id: 'eve' }), { code: 'OVERLOADED' })
  first?.stream.closed()
  first?.stream.closed()
  await open()
  await assert.rejects(open({ id: 'eve' }), { code: 'OVERLOADED' })
  assert.equal(streams.size, 3)
})

test('EVT-6: heartbeats come at their time with a new id, whether there were events or not', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const { store, open, streams, write } = start(context)
  store.mayRead = () => false
  const client = await open()
  const before = client.text
  client.stream.tick(performance.now() + 1_000)
  assert.equal(client.text, before)
  for (let beat = 1; beat <= 2; beat++) client.stream.tick(performance.now() + beat * 16_000)
  await sleep(5)
  const ids = [...client.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
  assert.deepEqual([ids.length, new Set(ids).size], [3, 3])
  write('hidden')
  assert.ok(await becomes(() => store.reads > 0))
  client.stream.tick(performance.now() + 60_000)
  await sleep(5)
  assert.equal((await streams.positionAfter(client.lastEventId)).position, 1)
  assert.equal(client.records.length, 0)
})

/** Streams whose callers are checked by a function. */
async function withCheck(context: TestContext, authenticateOwn: NonNullable<StreamsOptions['authenticateOwn']>) {
  const clock = { ahead: 0 }
  const now = () => Date.now() + clock.ahead
  const parts = start(context, { authenticateOwn, now })
  const openOwn = (id = 'ann', expiresAt = 0) => {
    const credential = parts.streams.credentials.of(callerOf(id, 'own', expiresAt), nativeRequest, false)
    return parts.open({ id, credential })
  }
  return { ...parts, clock, openOwn }
}

test('EVT-7: nothing is delivered once the credential has ended', async (context) => {
  // Neither the time of its end nor a heartbeat is noticed: only the next delivery.
  context.mock.timers.enable({ apis: ['setInterval'] })
  let isValid = true
  const { openOwn, write, clock, streams } = await withCheck(context, async () => {
    if (!isValid) throw fault('UNAUTHENTICATED')
    return callerOf('ann')
  })
  const client = await openOwn()
  write('a')
  assert.ok(await becomes(() => client.records.length === 1))
  isValid = false
  clock.ahead += 1_000
  write('b')
  assert.ok(await becomes(() => client.state === 'ended'))
  assert.deepEqual(client.records, ['a'])
  assert.match(client.text, /\n: The credential has ended\.\n\n$/)
  assert.equal(streams.size, 0)
})

test('EVT-7: nothing is delivered from the moment on at which the credential ends', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const { openOwn, write, clock } = await withCheck(context, async () => callerOf('ann'))
  const client = await openOwn('ann', Date.now() + 500)
  clock.ahead += 500
  write('a')
  assert.ok(await becomes(() => client.state === 'ended'))
  assert.deepEqual(client.records, [])
})

test('EVT-7: a credential that cannot be checked, or is of somebody else now, ends the stream', async (context) => {
  for (const found of [new Error('no answer'), undefined, callerOf('bob')]) {
    const { openOwn, write, clock } = await withCheck(context, async () => {
      if (found instanceof Error) throw found
      return found
    })
    const client = await openOwn()
    clock.ahead += 1_000
    write('a')
    assert.ok(await becomes(() => client.state === 'ended'))
    assert.deepEqual(client.records, [])
  }
})

test('EVT-7: a credential with an end ends its stream then, with or without events', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const { openOwn, clock } = await withCheck(context, async () => callerOf('ann'))
  const client = await openOwn('ann', Date.now() + 5_000)
  client.stream.tick(performance.now())
  assert.equal(client.state, 'open')
  clock.ahead += 5_000
  client.stream.tick(performance.now())
  assert.equal(client.state, 'ended')
})

test('EVT-4: a read counts with the grants of the moment when it is sent', async (context) => {
  const { store, streams, open, write } = start(context)
  const held = Promise.withResolvers<void>()
  const read = store.read.bind(store)
  store.read = async (plan) => {
    const outcome = await read(plan)
    await held.promise
    return outcome
  }
  let grants: Predicate = owns('ann')
  let caller = callerOf('ann')
  const credential = { known: () => caller, check: async () => caller, endsAt: Infinity, isRevocable: false }
  const { plan } = requestOf(streams, {})
  const client = await open({
    credential,
    plan: (found, after, limit) => ({ ...plan(found, after, limit)!, permitted: grants }),
  })
  store.mayRead = ({ permitted }) => permitted.kind === 'compare' && permitted.value === 'ann'
  write('a')
  assert.ok(await becomes(() => store.reads === 1))
  grants = owns('nobody')
  caller = callerOf('ann')
  held.resolve()
  assert.ok(await becomes(() => store.reads === 2))
  await sleep(5)
  assert.deepEqual(client.records, [])
})

test('EVT-4: a caller who may read no events any more is disconnected', async (context) => {
  const { streams, open, write } = start(context)
  const { plan } = requestOf(streams, {})
  let mayRead = true
  const client = await open({ plan: (...given) => (mayRead ? plan(...given) : undefined) })
  mayRead = false
  write('a')
  assert.ok(await becomes(() => client.state === 'ended'))
  assert.deepEqual(client.records, [])
})

test('maintenance, a retired version and the end of the server end streams', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  let isPaused = false
  const { streams, open } = start(context, { paused: () => isPaused })
  const retired = await open({ version: { sunsetAt: 0 } })
  retired.stream.tick(performance.now() + 20_000)
  assert.equal(retired.state, 'ended')
  const paused = await open()
  isPaused = true
  context.mock.timers.tick(1_000)
  assert.equal(paused.state, 'ended')
  isPaused = false
  const last = await open()
  streams.close()
  assert.equal(last.state, 'ended')
  await assert.rejects(open(), { code: 'SHUTTING_DOWN' })
})

test('a read that fails ends its streams: who reconnects gets the reason', async (context) => {
  const { store, open, write } = start(context)
  const client = await open()
  store.read = async () => {
    throw new Error('no database')
  }
  write('a')
  assert.ok(await becomes(() => client.state === 'ended'))
  assert.doesNotMatch(client.text, /no database/)
})

test('a response that its edge drops frees its place', async (context) => {
  const { streams } = start(context, { perCaller: 1 })
  const stream = await streams.open(requestOf(streams, {}))
  await assert.rejects(streams.open(requestOf(streams, {})))
  stream.tick(performance.now() + 61_000)
  await streams.open(requestOf(streams, {}))
})

test('a burst of events takes turns with everything else', async (context) => {
  const { store, streams, open } = start(context, { perCaller: 200 })
  const clients = await Promise.all(Array.from({ length: 20 }, (_, index) => open({ grant: owns(`${index}`) })))
  for (let index = 0; index < 3_000; index++) store.write(`r${index}`)
  // Processor time: on a busy machine others take turns too.
  let longest = 0
  let last = process.cpuUsage()
  const watch = setInterval(() => {
    const { user, system } = process.cpuUsage(last)
    longest = Math.max(longest, (user + system) / 1_000)
    last = process.cpuUsage()
  }, 1)
  streams.wake()
  assert.ok(await becomes(() => clients.every(({ text }) => text.includes('"record":"r2999"'))))
  clearInterval(watch)
  assert.ok(longest < 500, `${longest} ms`)
})
