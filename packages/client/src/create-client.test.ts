import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type ClientOptions, createClient } from './index.ts'

type Answer = (url: string, init: RequestInit, count: number) => Response | Promise<Response>

/** A client whose `fetch` answers as given, and the requests that it received. */
function clientOf(answer: Answer, options: Partial<ClientOptions> = {}) {
  const sent: { readonly url: string; readonly headers: Readonly<Record<string, string>> }[] = []
  const client = createClient({
    url: 'https://api.test/v1',
    async fetch(url, init) {
      const count = sent.push({ url, headers: init.headers as Record<string, string> })
      return answer(url, init, count)
    },
    ...options,
  })
  return { client, sent }
}

const json = (body: unknown, init: ResponseInit = {}) =>
  new Response(JSON.stringify(body), { ...init, headers: { 'Content-Type': 'application/json', ...init.headers } })

for (const [name, options, expected] of [
  ['as it is', {}, 'https://api.test/v1/notes?limit=1'],
  ['with a slash at its end', { url: 'https://api.test/v1/' }, 'https://api.test/v1/notes?limit=1'],
  ['and a version', { url: 'https://api.test', version: 'v2' }, 'https://api.test/v2/notes?limit=1'],
  ['below a path', { url: 'https://api.test/base', version: 'v2' }, 'https://api.test/base/v2/notes?limit=1'],
  ['with a parameter', { url: 'https://api.test/?version=v2' }, 'https://api.test/notes?version=v2&limit=1'],
] as const) {
  it(`sends to the url ${name}`, async () => {
    const { client, sent } = clientOf(() => json({ data: [] }), options)
    await client['notes']?.list({ limit: 1 })
    assert.equal(sent[0]?.url, expected)
  })
}

it('sends the key, and header fields of every request', async () => {
  const headers = { 'API-Version': 'v2' }
  const { client, sent } = clientOf(() => json({}), { key: 'rsk_1', headers })
  await client.caller.get()
  assert.deepEqual(sent[0]?.headers, { 'API-Version': 'v2', authorization: 'Bearer rsk_1' })
})

it('asks for another key after a 401, once', async () => {
  const refused: (string | undefined)[] = []
  const key = (given?: string) => {
    refused.push(given)
    return given === undefined ? 'old' : 'new'
  }
  const { client, sent } = clientOf(
    (_, init) => {
      const { authorization } = init.headers as Record<string, string>
      return authorization === 'Bearer new' ? json({ id: 'ann' }) : json({ code: 'UNAUTHENTICATED' }, { status: 401 })
    },
    { key },
  )
  assert.equal((await client.caller.get()).id, 'ann')
  assert.deepEqual([refused, sent.length], [[undefined, 'old'], 2])
  const again = clientOf(() => json({ code: 'UNAUTHENTICATED' }, { status: 401 }), { key: () => 'same' })
  await assert.rejects(again.client.caller.get(), { status: 401, code: 'UNAUTHENTICATED' })
  assert.equal(again.sent.length, 1)
})

it('shows a caller nothing that was read for another', async () => {
  let key = 'ann'
  const { client, sent } = clientOf(() => json({ id: key }, { headers: { ETag: '"1"' } }), { key: () => key })
  await client.caller.get()
  key = 'bob'
  await client.caller.get()
  key = 'ann'
  await client.caller.get()
  assert.deepEqual(
    sent.map(({ headers }) => headers['if-none-match']),
    [undefined, undefined, '"1"'],
  )
})

it('keeps the last responses only, and none that are large', async () => {
  const answer: Answer = (url) => json(url.endsWith('/big') ? 'x'.repeat(70_000) : {}, { headers: { ETag: '"1"' } })
  const { client, sent } = clientOf(answer, { cache: 2 })
  for (const id of ['a', 'b', 'a', 'c', 'b', 'big', 'big', 'c']) await client['notes']?.get(id)
  assert.deepEqual(
    sent.map(({ headers }) => headers['if-none-match'] !== undefined),
    [false, false, true, false, false, false, false, true],
  )
})

it('sends the strong form of a tag that a proxy has made weak', async () => {
  const { client, sent } = clientOf(() => json({ id: 'a' }, { headers: { ETag: 'W/"1"' } }))
  await client['notes']?.update((await client['notes']?.get('a')) ?? 'a', {})
  assert.equal(sent[1]?.headers['if-match'], '"1"')
})

it('ends an attempt that takes too long, and repeats it', async () => {
  const { client, sent } = clientOf(
    (_, { signal }, count) =>
      count > 1
        ? json({ id: 'ann' })
        : new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    { timeout: 20, retry: { pause: 1 } },
  )
  assert.equal((await client.caller.get()).id, 'ann')
  assert.equal(sent.length, 2)
})

it('says that an address serves something else', async () => {
  const { client, sent } = clientOf(() => new Response('<h1>Hello</h1>', { headers: { 'Content-Type': 'text/html' } }))
  await assert.rejects(client.caller.get(), { code: 'NO_PROBLEM', detail: /text\/html: check the option url/ })
  assert.equal(sent.length, 1)
})

it('repeats a read whose JSON ends too early', async () => {
  const { client } = clientOf((_, __, count) =>
    count > 1 ? json({ id: 'ann' }) : new Response('{"id":"a', { headers: { 'Content-Type': 'application/json' } }),
  )
  assert.equal((await client.caller.get()).id, 'ann')
})

it('takes an update as made that was, although its response was lost', async () => {
  const { client } = clientOf(
    (_, { method }, count) => {
      if (count === 1) throw new TypeError('fetch failed')
      if (method === 'PATCH') return json({ code: 'PRECONDITION_FAILED' }, { status: 412 })
      return json({ id: 'a', title: 'Tea', count: null }, { headers: { ETag: '"2"' } })
    },
    { retry: { pause: 1 } },
  )
  const updated = await client['notes']?.update('a', { title: 'Tea', count: null }, { ifMatch: '"1"' })
  assert.equal(updated?.['title'], 'Tea')
})

it('reports the conflict if the record is not what a lost update would have made it', async () => {
  const { client } = clientOf(
    (_, { method }, count) => {
      if (count === 1) throw new TypeError('fetch failed')
      if (method === 'PATCH') return json({ code: 'PRECONDITION_FAILED' }, { status: 412 })
      return json({ id: 'a', title: 'Oil' }, { headers: { ETag: '"2"' } })
    },
    { retry: { pause: 1 } },
  )
  const update = client['notes']?.update('a', { title: 'Tea' }, { ifMatch: '"1"' })
  await assert.rejects(update ?? Promise.resolve(), { code: 'PRECONDITION_FAILED' })
})

it('can be returned by an asynchronous function', async () => {
  const { client } = clientOf(() => json({}))
  assert.equal(await client, client)
})
