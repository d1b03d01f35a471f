/** Following events: the stream is read by the rules of the HTML Standard, and resumed whenever it ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from './index.ts'
import { readServerSentEvents } from './read-server-sent-events.ts'

const streamOf = (pieces: readonly (string | Uint8Array)[]) =>
  new Response(ReadableStream.from(pieces.map((piece) => Buffer.from(piece as string))), {
    headers: { 'content-type': 'text/event-stream' },
  })

async function blocksOf(pieces: readonly (string | Uint8Array)[]) {
  const blocks: unknown[] = []
  for await (const block of readServerSentEvents(streamOf(pieces), () => {})) blocks.push(block)
  return blocks
}

const block = (data?: string, id?: string, retry?: number) => ({ data, id, retry })
const tables: readonly (readonly [text: string, blocks: readonly unknown[]])[] = [
  ['data: a\n\ndata: b\n\n', [block('a'), block('b')]],
  ['data: a\r\n\r\ndata: b\r\r', [block('a'), block('b')]],
  ['data: a\ndata: b\ndata\ndata:\n\n', [block('a\nb\n\n')]],
  ['id: 1\nevent: x\ndata:a\n\n', [block('a', '1')]],
  ['data:  two spaces\n\n', [block(' two spaces')]],
  [':comment\ndata: a:b: c\n\n', [block('a:b: c')]],
  ['id: 7\n\n', [block(undefined, '7')]],
  ['id\ndata: x\n\n', [block('x', '')]],
  ['id: a\0b\ndata: x\n\n', [block('x')]],
  ['retry: 250\n\nretry: soon\n\n', [block(undefined, undefined, 250), block()]],
  ['\uFEFFdata: käse €\n\n', [block('käse €')]],
  ['unknown: x\ndata: a\n\n', [block('a')]],
  ['data: lost', []],
  ['data: lost\n', []],
]
for (const [text, blocks] of tables) {
  test(`a stream of ${JSON.stringify(text)} is read, wherever it is cut`, async () => {
    assert.deepEqual(await blocksOf([text]), blocks)
    const bytes = Buffer.from(text)
    assert.deepEqual(await blocksOf([...bytes].map((byte) => Uint8Array.of(byte))), blocks)
    for (let cut = 1; cut < bytes.length; cut++) {
      assert.deepEqual(await blocksOf([bytes.subarray(0, cut), bytes.subarray(cut)]), blocks)
    }
  })
}

interface Asked {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** A client of a server that answers as it is told, one request after the other. */
function scripted(answers: readonly (() => Response)[], key?: (refused?: string) => string) {
  const asked: Asked[] = []
  const client = createClient({
    url: 'https://a.test/v1',
    retry: false,
    key,
    async fetch(url, init) {
      asked.push({ path: url.slice('https://a.test'.length), headers: init.headers as Asked['headers'] })
      const answer = answers[asked.length - 1]
      if (answer === undefined) throw new TypeError('refused')
      return answer()
    },
  })
  return { client, asked }
}

const event = (name: string) => `id: t${name}\nevent: created\ndata: {"id":"${name}","kind":"created"}\n\n`
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ status, code }), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })

test('a stream that ends is resumed after the last id, whether that was of an event or not', async () => {
  const { client, asked } = scripted([
    () => streamOf(['retry: 1\n\nid: t0\n\n', event('a'), event('b'), 'data: half']),
    () => streamOf([event('c'), 'id: t9\n\n']),
    () => problem(503, 'SHUTTING_DOWN', { 'retry-after': '0' }),
    () => streamOf([event('d')]),
  ])
  const got: unknown[] = []
  for await (const { id } of client.events({ collection: ['tasks', 'notes'], kind: 'created' })) {
    if (got.push(id) === 4) break
  }
  assert.deepEqual(got, ['a', 'b', 'c', 'd'])
  assert.equal(asked[0]?.path, '/v1/events?collection=tasks&collection=notes&kind=created')
  assert.equal(asked[0]?.headers['accept'], 'text/event-stream')
  assert.deepEqual(
    asked.map(({ headers }) => headers['last-event-id']),
    [undefined, 'tb', 't9', 't9'],
  )
})

test('a stream begins after the event that is named', async () => {
  const { client, asked } = scripted([() => streamOf([event('b')])])
  for await (const _ of client.events({ lastEventId: 'a' })) break
  assert.equal(asked[0]?.headers['last-event-id'], 'a')
})

test('what the server refuses is thrown', async () => {
  for (const [status, code] of [
    [400, 'INVALID_CURSOR'],
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [410, 'EVENTS_EXPIRED'],
  ] as const) {
    const { client } = scripted([() => streamOf(['retry: 1\n\n', event('a')]), () => problem(status, code)])
    const got: unknown[] = []
    await assert.rejects(
      async () => {
        for await (const { id } of client.events()) got.push(id)
      },
      { status, code },
    )
    assert.deepEqual(got, ['a'])
  }
})

test('a response that is no stream is thrown', async () => {
  const { client } = scripted([() => new Response('<html>', { headers: { 'content-type': 'text/html' } })])
  await assert.rejects(client.events().next(), { code: 'NO_PROBLEM', status: 200 })
})

test('a refused credential is renewed once for each connection', async () => {
  const { client, asked } = scripted(
    [() => streamOf(['retry: 1\n\n', event('a')]), () => problem(401, 'UNAUTHENTICATED'), () => streamOf([event('b')])],
    (refused) => (refused === undefined ? 'old' : 'new'),
  )
  const events = client.events()
  assert.deepEqual((await events.next()).value, { id: 'a', kind: 'created' })
  assert.deepEqual((await events.next()).value, { id: 'b', kind: 'created' })
  await events.return()
  assert.equal(asked[2]?.headers['authorization'], 'Bearer new')
})

test('a signal ends it: before, while it waits for an event, and between two connections', async () => {
  const open = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(event('a'))) }), {
      headers: { 'content-type': 'text/event-stream' },
    })
  const follow = async (answers: readonly (() => Response)[], after: number) => {
    const stop = new AbortController()
    if (after === 0) stop.abort()
    const { client, asked } = scripted(answers)
    const got: unknown[] = []
    for await (const { id } of client.events({ signal: stop.signal })) {
      got.push(id)
      setTimeout(() => stop.abort(), after)
    }
    return [got, asked.length]
  }
  assert.deepEqual(await follow([open], 0), [[], 0])
  assert.deepEqual(await follow([() => streamOf([event('a')])], 20), [['a'], 1])
})

test('the connection is closed when the loop is left', async () => {
  let isCancelled = false
  const { client } = scripted([
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from(event('a'))),
          cancel() {
            isCancelled = true
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  ])
  for await (const _ of client.events()) break
  assert.equal(isCancelled, true)
})

test('events are still a collection: list, all and get', async () => {
  const page = { data: [{ id: 'a' }], pagination: { total_count: 1, next_cursor: null } }
  const json = (body: object) => () =>
    new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })
  const { client, asked } = scripted([json(page), json(page), json({ id: 'a' })])
  assert.deepEqual(await client.events.list({ kind: 'created' }), page)
  assert.deepEqual(await Array.fromAsync(client.events.all()), page.data)
  assert.deepEqual(await client.events.get('a'), { id: 'a' })
  assert.deepEqual(
    asked.map(({ path }) => path),
    ['/v1/events?kind=created', '/v1/events', '/v1/events/a'],
  )
})
