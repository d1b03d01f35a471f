/** CON-3, CON-8, HED-1: responses that the server compresses, under entity tags of their own. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { type Received, scenarios, type Trial, trialFor } from '../harness.ts'
import { fill } from '../steps.ts'

const notes = defineInterface({
  name: 'notes',
  resources: {
    notes: {
      fields: { text: { type: 'string', maxLength: 10_000 }, short: { type: 'string', optional: true } },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
      events: true,
    },
  },
})

// Longer than a kibibyte, and two bytes for each of its characters.
const text = 'Größe und Grüße über Äpfel öffnen Türen. '.repeat(40)
const codings = ['zstd', 'br', 'gzip'] as const

const start = async (context: TestContext, options = {}) => {
  const trial = await trialFor(context, notes, { memory: true, ...options })
  const { id } = await trial.make('notes', { text, short: 'a' })
  return { ...trial, id: id as string, path: `/v1/notes/${id}` }
}
const opaqueOf = ({ headers }: Received) => String(headers.etag).slice(1, -1)
const withRandom = ({ 'x-request-id': _, ...rest }: Received['headers']) => rest

describe('which encoding', () => {
  const table: readonly (readonly [accepted: string | undefined, encoding: string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['*', 'zstd'],
    ['zstd;q=0, *', 'br'],
    ['zstd;q=0.1, gzip;q=0.9', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.5, identity', undefined],
    ['gzip;q=0.5, identity;q=0.4', 'gzip'],
    ['identity;q=0', undefined],
    ['*;q=0', undefined],
    ['gzip, *;q=0', 'gzip'],
    ['gzip;q=banana', undefined],
    [','.repeat(2_000), undefined],
  ]
  for (const [accepted, encoding] of table) {
    it(`CON-8: Accept-Encoding ${accepted?.slice(0, 40) ?? 'absent'} gets ${encoding ?? 'identity'}`, async (context) => {
      const { send, path } = await start(context)
      const plain = await send({ path })
      const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted }
      for (const sent of [{ path }, { path: '/v1/notes' }, { path: '/v1/openapi.json' }]) {
        const answer = await send({ ...sent, headers })
        assert.equal(answer.headers['content-encoding'], encoding, sent.path)
        assert.equal(answer.headers.vary, 'Accept, Accept-Encoding')
      }
      const answer = await send({ path, headers })
      assert.equal(answer.text, plain.text)
      assert.equal(opaqueOf(answer), encoding === undefined ? opaqueOf(plain) : `${opaqueOf(plain)}-${encoding}`)
    })
  }
})

scenarios(notes, [
  {
    name: 'a response of up to a kibibyte is not compressed',
    rule: 'CON-8',
    send: async ({ make }) => {
      const { id } = await make('notes', { text: 'x'.repeat(600) })
      return { path: `/v1/notes/${id}`, headers: { 'accept-encoding': 'gzip' } }
    },
    status: 200,
    headers: { 'Content-Encoding': undefined, Vary: 'Accept, Accept-Encoding' },
  },
  {
    name: 'a short response is compressed for a client that refuses it otherwise',
    rule: 'CON-8',
    send: async ({ make }) => {
      const { id } = await make('notes', { text: 'short' })
      return { path: `/v1/notes/${id}`, headers: { 'accept-encoding': 'identity;q=0, br' } }
    },
    status: 200,
    headers: { 'Content-Encoding': 'br', ETag: /-br"$/ },
  },
  {
    name: 'the bytes count, not the characters',
    rule: 'CON-8',
    send: async ({ make }) => {
      const { id } = await make('notes', { text: '€'.repeat(300) })
      return { path: `/v1/notes/${id}`, headers: { 'accept-encoding': 'zstd' } }
    },
    status: 200,
    headers: { 'Content-Encoding': 'zstd' },
  },
  {
    name: 'QUERY is compressed too',
    rule: 'MET-10',
    send: async ({ make }) => {
      await make('notes', { text })
      return { method: 'QUERY', path: '/v1/notes', body: { limit: 5 }, headers: { 'accept-encoding': 'gzip' } }
    },
    status: 200,
    headers: { 'Content-Encoding': 'gzip', ETag: /-gzip"$/ },
  },
  {
    name: 'a range has the bytes of the uncompressed representation, and its tag',
    rule: 'HED-3',
    send: async ({ make }) => {
      const { id } = await make('notes', { text })
      return { path: `/v1/notes/${id}`, headers: { 'accept-encoding': 'gzip', range: 'bytes=1-4' } }
    },
    status: 206,
    headers: { 'Content-Encoding': undefined, ETag: /^"(?!.*-gzip)/, Vary: 'Accept, Accept-Encoding' },
    check: ({ text: part }) => assert.equal(part, '"id"'),
  },
  {
    name: 'errors repeat parts of the request, and stay as they are',
    rule: 'SEC-3',
    send: {
      path: `/v1/notes?${Array.from({ length: 40 }, (_, index) => `field${index}=1`).join('&')}`,
      headers: { 'accept-encoding': 'gzip' },
    },
    status: 400,
    headers: { 'Content-Encoding': undefined },
  },
])

describe('secrets', () => {
  for (const [path, body, member] of [
    ['/v1/api-keys', { subject: 'a'.repeat(100), roles: [] }, 'key'],
    ['/v1/webhooks', { url: `https://example.com/${'a'.repeat(1_500)}` }, 'secret'],
  ] as const) {
    it(`SEC-3: POST ${path}, whose response alone shows the ${member}, is never compressed`, async (context) => {
      const { send } = await start(context)
      const headers = { 'accept-encoding': 'identity;q=0, gzip' }
      const made = await send({ path, body, headers })
      assert.equal(made.status, 201, made.text)
      assert.ok(member in made.json)
      assert.equal(made.headers['content-encoding'], undefined)
      const read = await send({ path: `${path}/${made.json.id}`, headers })
      assert.equal(read.headers['content-encoding'], 'gzip')
      assert.ok(!(member in read.json))
    })
  }

  it('SEC-3: the response to a change is never compressed', async (context) => {
    const { send, path } = await start(context)
    const answer = await send({ method: 'PATCH', path, body: { short: 'b' }, headers: { 'accept-encoding': 'gzip' } })
    assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, undefined])
    assert.ok(!opaqueOf(answer).endsWith('-gzip'))
  })
})

for (const coding of codings) {
  describe(`tags of ${coding}`, () => {
    it('CON-3: are accepted by If-Match, strong and weak, and by no other state', async (context) => {
      const { send, path } = await start(context)
      const headers = { 'accept-encoding': coding }
      for (const form of ['', 'W/']) {
        const { etag } = (await send({ path, headers })).headers
        assert.match(String(etag), new RegExp(`-${coding}"$`))
        const change = { method: 'PATCH', path, headers: { 'if-match': `${form}${etag}` } }
        assert.equal((await send({ ...change, body: { short: `${form}b` } })).status, 200)
        assert.equal((await send({ ...change, body: { short: `${form}c` } })).status, 412)
        assert.equal((await send({ path })).json.short, `${form}b`)
      }
    })

    it('CON-4: are accepted by If-None-Match; the 304 has the header fields of the 200', async (context) => {
      const { send, path } = await start(context)
      const headers = { 'accept-encoding': coding }
      for (const sent of [
        { path },
        { path: '/v1/notes' },
        { path: '/v1/notes?limit=3' },
        { path: '/v1/openapi.json' },
      ]) {
        for (const method of ['GET', 'HEAD']) {
          const whole = await send({ ...sent, method, headers })
          const { etag, ...others } = whole.headers
          for (const form of [String(etag), `W/${etag}`, `"other", ${etag}`]) {
            const same = await send({ ...sent, method, headers: { ...headers, 'if-none-match': form } })
            assert.equal(same.status, 304, form)
            for (const name of ['cache-control', 'vary', 'last-modified']) {
              assert.equal(same.headers[name], others[name], name)
            }
            assert.equal(same.headers.etag, etag)
            assert.deepEqual([same.text, same.headers['content-encoding']], ['', undefined])
          }
        }
      }
    })

    it('CON-4: a 304 confirms the tag that the client has, whatever it takes now', async (context) => {
      const { send, path } = await start(context)
      const plain = String((await send({ path })).headers.etag)
      const packed = `"${plain.slice(1, -1)}-${coding}"`
      const confirmed = async (tags: string, accepted: string) => {
        const headers = { 'if-none-match': tags, 'accept-encoding': accepted }
        const { status, headers: received } = await send({ path, headers })
        return [status, received.etag]
      }
      assert.deepEqual(await confirmed(packed, 'identity'), [304, packed])
      assert.deepEqual(await confirmed(plain, coding), [304, plain])
      assert.deepEqual(await confirmed(`${plain}, ${packed}`, coding), [304, packed])
      assert.deepEqual(await confirmed(`${packed}, ${plain}`, 'identity'), [304, plain])
      assert.deepEqual(await confirmed('*', 'identity'), [304, plain])
      await send({ method: 'PATCH', path, body: { short: 'b' } })
      assert.equal((await confirmed(packed, coding))[0], 200)
    })

    it('HED-3: are not accepted by If-Range, whose bytes are the uncompressed ones', async (context) => {
      const { send, path } = await start(context)
      const headers = { 'accept-encoding': coding }
      const whole = await send({ path, headers })
      const part = (tag: string) => send({ path, headers: { ...headers, range: 'bytes=0-9', 'if-range': tag } })
      const again = await part(String(whole.headers.etag))
      assert.deepEqual([again.status, again.headers['content-encoding']], [200, coding])
      assert.equal(again.text, whole.text)
      assert.equal((await part(String((await send({ path })).headers.etag))).status, 206)
    })

    it('HED-1: HEAD has the header fields of GET, the tag and the encoding included', async (context) => {
      const { send, path } = await start(context)
      const headers = { 'accept-encoding': coding }
      for (const each of [path, '/v1/notes', '/v1/openapi.json']) {
        const got = await send({ path: each, headers })
        const head = await send({ method: 'HEAD', path: each, headers })
        assert.deepEqual(withRandom(head.headers), withRandom(got.headers))
        assert.equal(head.headers['content-encoding'], coding)
      }
    })
  })
}

it('JOB-6: the file of an export has one form, and its ranges are of that', async (context) => {
  const { send, app } = await start(context)
  const job = (await send({ path: '/v1/exports', body: { collection: 'notes', format: 'json' } })).json
  await app.runner.idle()
  const path = `/v1/exports/${job.job_id}/content`
  const headers = { 'accept-encoding': 'gzip' }
  const whole = await send({ path, headers })
  assert.ok(whole.text.length > 1_024)
  assert.deepEqual([whole.headers['content-encoding'], whole.headers.vary], [undefined, 'Accept'])
  const tag = String(whole.headers.etag)
  const same = await send({ path, headers: { ...headers, 'if-none-match': tag } })
  assert.deepEqual([same.status, same.headers.etag, same.headers.vary], [304, tag, 'Accept'])
  const part = await send({ path, headers: { ...headers, range: 'bytes=0-0', 'if-range': tag } })
  assert.deepEqual([part.status, part.text], [206, '['])
})

it('EVT-6: a stream of events is never compressed', async (context) => {
  const { app, keys } = await start(context)
  const response = await app.respond({
    ...{ method: 'GET', target: '/v1/events', secure: true, address: '127.0.0.1' },
    headers: {
      ...{ host: 'localhost', authorization: `Bearer ${keys.get('root')}` },
      ...{ accept: 'text/event-stream', 'accept-encoding': 'identity;q=0, gzip' },
    },
    readBody: async () => new Uint8Array(),
  })
  assert.deepEqual([response.status, response.headers['Content-Type']], [200, 'text/event-stream'])
  assert.equal(response.headers['Content-Encoding'], undefined)
  assert.ok(typeof response.body === 'object' && 'closed' in response.body)
  response.body.closed()
})

it('LIM-6: bytes that are remembered compressed are those of the record as it is', async (context) => {
  const trial: Trial & { path: string } = await start(context)
  const { send, path } = trial
  const headers = { 'accept-encoding': 'gzip' }
  for (const short of ['b', 'c', 'd']) {
    await send({ method: 'PATCH', path, body: { short } })
    for (let time = 0; time < 3; time++) assert.equal((await send({ path, headers })).json.short, short)
    assert.equal((await send({ path: '/v1/notes', headers })).json.data[0].short, short)
  }
  await fill(
    trial,
    'notes',
    Array.from({ length: 120 }, () => ({ text })),
  )
  const pages = await Promise.all(
    Array.from({ length: 30 }, (_, index) => send({ path: `/v1/notes?page=${(index % 3) + 1}&per_page=40`, headers })),
  )
  for (const { status, json } of pages) assert.deepEqual([status, json.pagination.total_count], [200, 121])
})
