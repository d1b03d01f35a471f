/** EVT-6, EVT-7: events as a stream, over real connections. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { readCors } from '../../packages/server/src/http/cors.ts'
import { toFetchHandler } from '../../packages/server/src/server/fetch/fetch.ts'
import { localCertificate } from '../../packages/server/src/server/node/certificates.ts'
import { scenarios, type Trial, trialFor } from '../harness.ts'
import { becomes } from '../open-files.ts'
import { streamsOf } from '../wire/event-client.ts'
import type { OpenAnswer } from '../wire/open-stream.ts'
import { transports } from '../wire/transports.ts'

const folder = await mkdtemp(join(tmpdir(), 'resourced-events-'))
after(() => rm(folder, { recursive: true }))
const tls = await localCertificate(folder)

const everybody = { create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

const office: InterfaceDeclaration = {
  name: 'office',
  resources: {
    tasks: {
      fields: { title: { type: 'string' }, note: { type: 'string', optional: true }, owner_id: { type: 'string' } },
      owner: 'owner_id',
      access: { ...everybody, read: ['role:admin', 'owner'] },
      events: true,
    },
    stamps: {
      fields: { text: { type: 'string' }, shown: { type: 'boolean', default: true } },
      access: { ...everybody, read: { where: { shown: true } } },
      events: true,
    },
    notes: { fields: { text: { type: 'string' } }, access: { ...everybody, read: 'anyone' } },
  },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'tasks', rename: { name: 'title' } }],
  limits: { events: { streams: 3, retention: 'P1D' } },
}
const { versions: _versions, changes: _changes, ...own } = office

const path = '/v2/events'
const accept = 'text/event-stream'
scenarios(office, [
  {
    ...{ name: 'the list stays JSON unless a stream is preferred', rule: 'EVT-6', send: { path }, status: 200 },
    headers: { 'Content-Type': 'application/json', Vary: /Accept/ },
  },
  {
    ...{ name: 'a stream that is accepted less is not sent', rule: 'EVT-6', status: 200 },
    send: { path, headers: { accept: `application/json, ${accept};q=0.9` } },
    headers: { 'Content-Type': 'application/json' },
  },
  {
    ...{ name: 'anything is JSON', rule: 'EVT-6', send: { path, headers: { accept: '*/*' } }, status: 200 },
    headers: { 'Content-Type': 'application/json' },
  },
  {
    ...{ name: 'other collections are no streams', rule: 'EVT-6', status: 406, code: 'NOT_ACCEPTABLE' },
    send: { path: '/v2/tasks', headers: { accept } },
  },
  {
    ...{ name: 'neither is one event', rule: 'EVT-6', status: 406, code: 'NOT_ACCEPTABLE' },
    send: { path: `${path}/0190a000-0000-7000-8000-000000000000`, headers: { accept } },
  },
  {
    ...{ name: 'what the address cannot send is refused', rule: 'EVT-6', status: 406, code: 'NOT_ACCEPTABLE' },
    send: { path, headers: { accept: 'text/html' } },
    check: ({ json }) => assert.match(json.detail, /text\/event-stream/),
  },
  {
    ...{ name: 'a stream without a credential', rule: 'EVT-7', status: 401, code: 'UNAUTHENTICATED' },
    send: { path, headers: { accept }, as: null },
  },
  {
    ...{ name: 'an id that was not given here', rule: 'EVT-6', status: 400, code: 'INVALID_CURSOR' },
    send: { path, headers: { accept, 'last-event-id': 'yesterday' } },
    errors: ['INVALID_CURSOR Last-Event-ID'],
  },
  {
    ...{ name: 'an event that is not kept', rule: 'EVT-5', status: 410, code: 'EVENTS_EXPIRED' },
    send: { path, headers: { accept, 'last-event-id': '0190a000-0000-7000-8000-000000000000' } },
  },
  {
    ...{ name: 'parameters of pages', rule: 'EVT-6', status: 400, code: 'INVALID_QUERY' },
    send: { path: `${path}?kind=created&limit=5&sort=id&cursor=x&fields=id&after=x`, headers: { accept } },
    errors: [
      'UNKNOWN_PARAMETER limit',
      'UNKNOWN_PARAMETER sort',
      'UNKNOWN_PARAMETER cursor',
      'UNKNOWN_PARAMETER fields',
      'UNKNOWN_PARAMETER after',
    ],
  },
  {
    ...{ name: 'a kind that there is not', rule: 'EVT-6', status: 400, code: 'INVALID_QUERY' },
    send: { path: `${path}?kind=eaten`, headers: { accept } },
  },
  {
    ...{ name: 'another method', rule: 'EVT-6', status: 405, code: 'METHOD_NOT_ALLOWED' },
    send: { path, method: 'POST', headers: { accept } },
  },
])

for (const transport of transports) {
  it(`EVT-6: ${transport}: a stream has the events of the list, from now on`, async (context) => {
    const current = await trialFor(context, own)
    await current.make('tasks', { title: 'before' })
    const { open } = await streamsOf(context, current, transport, transport === 'HTTP/1.1' ? undefined : tls)
    const client = await open()
    const { headers } = client
    assert.deepEqual(
      [client.status, headers['content-type'], headers['cache-control'], headers['x-accel-buffering']],
      [200, 'text/event-stream', 'no-store, no-transform', 'no'],
    )
    assert.match(String(headers['vary']), /Accept/)
    assert.equal(headers['content-length'], undefined)
    const task = await current.make('tasks', { title: 'Käse\r\n"\u2028', note: 'x' })
    await current.send({ path: `/v1/tasks/${task.id}`, method: 'PATCH', body: { note: null } })
    await current.send({ path: `/v1/tasks/${task.id}`, method: 'DELETE' })
    const events = await client.until(3)
    const { data } = (await current.send({ path: '/v1/events' })).json
    assert.deepEqual(events, data.slice(1))
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['created', 'updated', 'deleted'],
    )
    assert.deepEqual(client.text().match(/^event: .*$/gm), ['event: created', 'event: updated', 'event: deleted'])
  })
}

it('EVT-6: HEAD has the header fields of the stream, and is none', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  for (let again = 0; again < 5; again++) {
    const head = await open('/v1/events', { method: 'HEAD' })
    assert.equal(await head.ended, true)
    assert.deepEqual([head.status, head.headers['content-type'], head.text()], [200, 'text/event-stream', ''])
  }
})

it('EVT-6: filters choose events as in the list, and each may be repeated', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const first = await current.make('tasks', { title: 'a' })
  const [byCollection, byRecord] = [
    await open('/v1/events?collection=stamps'),
    await open(`/v1/events?record=${first.id}`),
  ]
  const byKind = await open('/v1/events?kind=updated&kind=deleted')
  const stamp = await current.make('stamps', { text: 's' })
  await current.send({ path: `/v1/tasks/${first.id}`, method: 'PATCH', body: { title: 'b' } })
  await current.send({ path: `/v1/stamps/${stamp.id}`, method: 'DELETE' })
  const short = (events: { collection: string; kind: string }[]) =>
    events.map(({ collection, kind }) => `${collection} ${kind}`)
  assert.deepEqual(short(await byCollection.until(2)), ['stamps created', 'stamps deleted'])
  assert.deepEqual(short(await byRecord.until(1)), ['tasks updated'])
  assert.deepEqual(short(await byKind.until(2)), ['tasks updated', 'stamps deleted'])
})

it('EVT-3, EVT-6: a stream speaks the version of its client', async (context) => {
  const current = await trialFor(context, office)
  const { open } = await streamsOf(context, current)
  const [older, newer] = [await open('/v1/events'), await open('/v2/events')]
  await current.make('tasks', { title: 'a' })
  const [[old], [now]] = [await older.until(1), await newer.until(1)]
  assert.deepEqual([old.data.name, old.data.title, now.data.title], ['a', undefined, 'a'])
  assert.deepEqual(old, (await current.send({ path: '/v1/events' })).json.data[0])
})

it('EVT-4: a stream has what its caller may read at the moment', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const [ann, bob] = [await open('/v1/events', { as: 'ann' }), await open('/v1/events', { as: 'bob' })]
  const stamp = await current.make('stamps', { text: 'shown' })
  await current.make('tasks', { title: 'of ann' }, 'ann')
  await current.make('tasks', { title: 'of bob' }, 'bob')
  assert.deepEqual(
    (await ann.until(2)).map(({ data }) => data.text ?? data.title),
    ['shown', 'of ann'],
  )
  assert.deepEqual(
    (await bob.until(2)).map(({ data }) => data.text ?? data.title),
    ['shown', 'of bob'],
  )
  // Nobody may read the record any more; the next event shows that the stream goes on.
  await current.send({ path: `/v1/stamps/${stamp.id}`, method: 'PATCH', body: { shown: false } })
  await current.send({ path: `/v1/stamps/${stamp.id}`, method: 'PATCH', body: { text: 'hidden' } })
  await current.make('tasks', { title: 'more' }, 'ann')
  assert.deepEqual((await ann.until(3)).at(-1)?.data.title, 'more')
  assert.equal(ann.text().includes('hidden'), false)
})

it('EVT-6: clients that are cut off at random resume on either server without a loss or a double', async (context) => {
  // A server may notice late that a client has left.
  const declaration = { ...own, limits: { events: { streams: 100 } } }
  const first = await trialFor(context, declaration)
  const second = await trialFor(context, declaration, { database: first.database })
  const servers = [await streamsOf(context, first), await streamsOf(context, { app: second.app, keys: first.keys })]
  let isWriting = true
  let written = 0
  const write = async (trial: Trial) => {
    for (; isWriting; await sleep(1)) {
      const { id } = await trial.make('tasks', { title: `t${written++}` }, Math.random() < 0.5 ? 'ann' : 'bob')
      if (Math.random() < 0.3) await trial.send({ path: `/v1/tasks/${id}`, method: 'PATCH', body: { note: 'n' } })
      if (Math.random() < 0.1) await trial.send({ path: `/v1/tasks/${id}`, method: 'DELETE' })
    }
  }
  const follow = (as: string) => {
    const got: string[] = []
    let lastEventId: string | undefined
    let cuts = 0
    const connect = async () => {
      const headers = lastEventId ? { 'last-event-id': lastEventId } : undefined
      const client = await servers[cuts++ % 2]!.open('/v1/events', { as, ...(headers && { headers }) })
      assert.equal(client.status, 200)
      return client
    }
    const readAWhile = async () => {
      const client = await connect()
      assert.ok(await becomes(() => client.lastEventId() !== undefined))
      await sleep(Math.random() * 60)
      client.leave()
      got.push(...client.events().map(({ id }) => id))
      lastEventId = client.lastEventId()
    }
    const readOn = async () => {
      while (cuts < 30 || written < 60) await readAWhile()
      const last = await connect()
      return { as, seen: () => [...got, ...last.events().map(({ id }) => id)] }
    }
    return { readAWhile, readOn }
  }
  const readers = ['root', 'ann', 'bob'].map(follow)
  // A stream without Last-Event-ID begins with what is written afterwards.
  await Promise.all(readers.map(({ readAWhile }) => readAWhile()))
  const writing = [first, second].map((trial) => write(trial))
  const results = await Promise.all(readers.map(({ readOn }) => readOn())).finally(() => {
    isWriting = false
  })
  await Promise.all(writing)
  for (const { as, seen } of results) {
    const ids = await readAll(first, as)
    assert.ok(await becomes(() => seen().includes(ids.at(-1) as string)), `${as} has not got the last event`)
    // What was deleted meanwhile is not in the list any more, and may have been in the stream.
    const inStream = seen()
    assert.equal(new Set(inStream).size, inStream.length, 'no event came twice')
    assert.deepEqual(
      inStream.filter((id) => ids.includes(id)),
      ids,
    )
  }
})

async function readAll({ send }: Trial, as: string): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { json } = await send({ path: `/v1/events?limit=100${cursor && `&cursor=${cursor}`}`, as })
    ids.push(...json.data.map(({ id }: { id: string }) => id))
    cursor = json.pagination.next_cursor
  }
  return ids
}

/** The problem in place of a stream. A stream that was opened fails at once, because it has no end. */
async function problemOf({ status, ended, text }: OpenAnswer, expected: number) {
  assert.equal(status, expected)
  await ended
  return JSON.parse(text()) as { readonly code: string; readonly detail: string }
}

it('EVT-6: a stream continues after an event by its id, from the stream or from the list', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  for (const title of ['a', 'b', 'c']) await current.make('tasks', { title })
  const { data } = (await current.send({ path: '/v1/events' })).json
  const after = await open('/v1/events', { headers: { 'last-event-id': data[0].id } })
  assert.deepEqual(await after.until(2), data.slice(1))
  const nothing = await open('/v1/events', { headers: { 'last-event-id': after.lastEventId() ?? '' } })
  assert.ok(await becomes(() => nothing.lastEventId() !== undefined))
  assert.deepEqual(nothing.events(), [])
})

it('EVT-5: a stream that would continue before what is kept is refused', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const early = await open()
  assert.ok(await becomes(() => early.lastEventId() !== undefined))
  early.leave()
  for (const title of ['a', 'b', 'c']) await current.make('tasks', { title })
  const resumed = await open('/v1/events', { headers: { 'last-event-id': early.lastEventId() ?? '' } })
  await resumed.until(3)
  assert.equal(await current.app.storage.jobs.deleteExpired(Date.now() + 3 * 86_400_000), 2)
  await sleep(5)
  const expired = await open('/v1/events', { headers: { 'last-event-id': early.lastEventId() ?? '' } })
  const { code } = await problemOf(expired, 410)
  assert.equal(code, 'EVENTS_EXPIRED')
})

it('EVT-7: a revoked key ends its stream at once, and no other', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const { key, id } = await current.make('api-keys', { subject: 'root', roles: ['admin'] })
  const [revoked, other] = [await open('/v1/events', { as: key }), await open()]
  await current.make('tasks', { title: 'a' })
  await revoked.until(1)
  const began = performance.now()
  await current.send({ path: `/v1/api-keys/${id}`, method: 'DELETE' })
  assert.equal(await revoked.ended, true)
  assert.ok(performance.now() - began < 7_000, 'the next heartbeat was awaited')
  await current.make('tasks', { title: 'b' })
  await other.until(2)
  assert.equal(revoked.events().length, 1)
  await problemOf(await open('/v1/events', { as: key }), 401)
})

it('EVT-7: a key that another server revokes gets no event a second later', async (context) => {
  const current = await trialFor(context, own)
  const other = await trialFor(context, own, { database: current.database })
  const { open } = await streamsOf(context, current)
  const { key, id } = await current.make('api-keys', { subject: 'root', roles: ['admin'] })
  const stream = await open('/v1/events', { as: key })
  await current.make('tasks', { title: 'a' })
  await stream.until(1)
  assert.equal((await other.send({ path: `/v1/api-keys/${id}`, method: 'DELETE' })).status, 204)
  await sleep(1_100)
  const began = performance.now()
  await current.make('tasks', { title: 'b' })
  assert.equal(await stream.ended, true)
  assert.ok(performance.now() - began < 7_000, 'the next heartbeat was awaited')
  assert.equal(stream.events().length, 1)
})

it('EVT-7: a key ends its stream when it expires', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const { key } = await current.make('api-keys', { subject: 'root', roles: ['admin'], expires_at })
  const stream = await open('/v1/events', { as: key })
  await sleep(20)
  current.clock.ahead = 61_000
  assert.equal(await stream.ended, true)
  assert.match(stream.text(), /: The credential has ended\.\n\n$/)
})

it('EVT-7: a caller has as many streams as are declared, and has one more when one has ended', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const clients = [await open(), await open(), await open()]
  const refused = await open()
  const { code, detail } = await problemOf(refused, 429)
  assert.deepEqual([code, refused.headers['retry-after']], ['TOO_MANY_STREAMS', '5'])
  assert.match(detail, /3 open streams/)
  assert.equal((await open('/v1/events', { as: 'ann' })).status, 200)
  clients[0]?.leave()
  while ((await open()).status !== 200) await sleep(20)
})

it('EVT-7: the opening of a stream counts once as a request', async (context) => {
  const current = await trialFor(
    context,
    { ...own, limits: { rate: { caller: '3/hour' } } },
    { rates: { rateLimit: 'declared' } },
  )
  const { open } = await streamsOf(context, current)
  const client = await open()
  assert.equal(client.headers['ratelimit'], '"caller";r=2;t=3600')
})

it('EVT-6: maintenance ends streams, and so does the end of the server, in its usual time', async (context) => {
  const current = await trialFor(context, own)
  const { open, server } = await streamsOf(context, current)
  const first = await open()
  await current.app.storage.maintenance.begin({ since: new Date().toISOString(), message: 'Back soon.', retryAfter: 5 })
  assert.equal(await first.ended, true)
  assert.match(first.text(), /: The service is under maintenance\.\n\n$/)
  await problemOf(await open(), 503)
  await current.app.storage.maintenance.end()
  await current.app.maintenance.poll()
  const second = await open()
  assert.equal(second.status, 200)
  const began = performance.now()
  await Promise.all([server.close(120_000), second.ended])
  assert.ok(performance.now() - began < 60_000)
})

it('EVT-6: an application that stops ends its streams', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const client = await open()
  current.app.stop()
  assert.equal(await client.ended, true)
  await problemOf(await open(), 503)
})

it('EVT-6: pages of other origins may read streams where they may read responses', async (context) => {
  const cors = readCors(['https://app.example.com'], undefined)
  const current = await trialFor(context, own, { ...(cors && { cors }) })
  const { open } = await streamsOf(context, current)
  const { headers } = await open('/v1/events', { headers: { origin: 'https://app.example.com' } })
  assert.equal(headers['access-control-allow-origin'], 'https://app.example.com')
})

it('EVT-6: the fetch API has streams too', async (context) => {
  const current = await trialFor(context, own)
  const handle = toFetchHandler({ respond: current.app.respond, refuse: current.app.refuse }, { address: () => '' })
  const headers = { accept, authorization: `Bearer ${current.keys.get('root')}` }
  const { body, status } = await handle(new Request('https://a.test/v1/events', { headers }))
  assert.equal(status, 200)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  await reader?.read()
  await current.make('tasks', { title: 'a' })
  const { value = '' } = (await reader?.read()) ?? {}
  assert.match(value, /^id: .*\nevent: created\ndata: \{.*"title":"a".*\}\n\n$/)
  await reader?.cancel()
})

it('EVT-7: a client that stops to read holds nothing up, and gets the rest when it reads again', async (context) => {
  const current = await trialFor(context, own)
  const { open } = await streamsOf(context, current)
  const [slow, quick] = [await open(), await open('/v1/events?kind=deleted')]
  slow.stream.pause()
  const note = 'x'.repeat(200_000)
  for (let event = 0; event < 60; event++) await current.make('tasks', { title: `t${event}`, note })
  const { id } = await current.make('tasks', { title: 'last' })
  await current.send({ path: `/v1/tasks/${id}`, method: 'DELETE' })
  await quick.until(1)
  const last = new Promise<void>((resolve) => {
    slow.stream.on('data', (piece: Buffer) => piece.includes('event: deleted') && resolve())
  })
  slow.stream.resume()
  await last
  const titles = slow.events().map(({ data }) => data?.title)
  assert.deepEqual(titles, [...Array.from({ length: 60 }, (_, index) => `t${index}`), 'last', undefined])
})
