import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { createClient, type ProblemError } from './index.ts'
import { type RetryOptions, retrying } from './retrying.ts'
import type { ClientRequest, ClientResponse } from './send.ts'

type Outcome = Partial<Omit<ClientResponse, 'headers'>> & { readonly headers?: Record<string, string> }

/** Sends a request whose attempts have these outcomes in turn; `lost`: there is no response. */
async function attempt(
  context: TestContext,
  given: Partial<ClientRequest>,
  outcomes: readonly (Outcome | 'lost')[],
  options?: RetryOptions,
) {
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  context.mock.method(Math, 'random', () => 0.5)
  const sent: ClientRequest[] = []
  const times: number[] = []
  const send = async (request: ClientRequest): Promise<ClientResponse> => {
    const outcome = outcomes[sent.push(request) - 1] ?? assert.fail('one attempt more than expected')
    times.push(Date.now())
    if (outcome === 'lost') throw new TypeError('fetch failed')
    return { status: 200, text: '', body: undefined, ...outcome, headers: new Headers(outcome.headers) }
  }
  const request = { method: 'GET', path: '/notes', headers: {}, body: undefined, signal: undefined, ...given }
  const result = retrying(
    send,
    options,
  )(request).then(
    (response) => ({ response }),
    (error: ProblemError) => ({ error }),
  )
  let settled = false
  void result.then(() => (settled = true))
  for (let step = 0; step < 2000 && !settled; step++) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    context.mock.timers.tick(50)
  }
  return { sent, times, ...((await result) as { response?: ClientResponse; error?: ProblemError }) }
}

const later = (status: number, seconds?: number | string, code = ''): Outcome => ({
  status,
  body: { code },
  ...(seconds !== undefined && { headers: { 'Retry-After': String(seconds) } }),
})

it('repeats a POST with one key', async (context) => {
  const { sent, response } = await attempt(context, { method: 'POST' }, [
    'lost',
    later(503, 1),
    later(502),
    { status: 201 },
  ])
  assert.equal(response?.status, 201)
  const keys = sent.map(({ headers }) => headers['idempotency-key'])
  assert.match(keys[0] ?? '', /^"[\da-f-]{36}"$/)
  assert.equal(new Set(keys).size, 1)
})

it('keeps the key that the caller gives', async (context) => {
  const headers = { 'idempotency-key': 'mine' }
  const { sent } = await attempt(context, { method: 'POST', headers }, ['lost', { status: 201 }])
  assert.deepEqual(
    sent.map((each) => each.headers),
    [headers, headers],
  )
})

it('repeats a POST while its first attempt still runs', async (context) => {
  const outcomes = ['lost', later(409, 1, 'IDEMPOTENCY_KEY_IN_USE'), { status: 201 }] as const
  assert.equal((await attempt(context, { method: 'POST' }, outcomes)).response?.status, 201)
})

for (const [name, given, outcomes, attempts] of [
  ['a conflict', { method: 'POST' }, [later(409, 1, 'DUPLICATE_VALUE')], 1],
  ['a read that takes too long', {}, [later(503, 1, 'READ_TOO_LONG')], 1],
  ['an internal error', {}, [later(500, 1)], 1],
  ['a lost PATCH without a condition', { method: 'PATCH' }, ['lost'], 1],
  ['a PATCH without a condition after 502', { method: 'PATCH' }, [later(502)], 1],
  ['a lost PATCH with a condition', { method: 'PATCH', headers: { 'if-match': '"1"' } }, ['lost', {}], 2],
  ['a refused PATCH', { method: 'PATCH' }, [later(429, 1), later(503, 1), {}], 3],
  ['a lost PUT', { method: 'PUT' }, ['lost', {}], 2],
  ['a gateway that waited too long', {}, [later(504), {}], 2],
] as const) {
  it(`sends ${attempts === 1 ? 'once' : 'again'}: ${name}`, async (context) => {
    assert.equal((await attempt(context, given, outcomes)).sent.length, attempts)
  })
}

it('takes a record as deleted that is gone after a lost deletion, but not otherwise', async (context) => {
  const lost = await attempt(context, { method: 'DELETE' }, ['lost', { status: 404, body: {} }])
  assert.deepEqual([lost.response?.status, lost.response?.body], [204, undefined])
})

it('says so if a deletion was refused before the record was gone', async (context) => {
  const refused = await attempt(context, { method: 'DELETE' }, [later(503, 1), { status: 404 }])
  assert.equal(refused.response?.status, 404)
})

it('waits for Retry-After and a random part, otherwise twice as long each time', async (context) => {
  const { times } = await attempt(context, {}, [later(503, 2), later(429), later(429), 'lost', {}])
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  // 2 s and 0.5 of 200 ms; then 400, 800, 1600 ms.
  assert.deepEqual(pauses, [2100, 400, 800, 1600])
})

it('reads a date in Retry-After', async (context) => {
  const { times } = await attempt(context, {}, [later(503, 'Thu, 01 Jan 1970 00:00:05 GMT'), {}])
  assert.ok((times[1] ?? 0) >= 5000)
})

it('gives up after the most attempts, and says what is uncertain', async (context) => {
  const { error, sent } = await attempt(context, { method: 'POST' }, ['lost', 'lost', 'lost'], { attempts: 3 })
  assert.equal(sent.length, 3)
  assert.deepEqual([error?.name, error?.status, error?.code], ['ProblemError', 0, 'NO_RESPONSE'])
  assert.match(error?.detail ?? '', /POST \/notes got no response: fetch failed\. The server may have carried it out/)
  assert.ok(error?.cause instanceof TypeError)
})

it('does not wait for longer than the whole time', async (context) => {
  const { response, sent } = await attempt(context, {}, [later(503, 3600)])
  assert.deepEqual([response?.status, sent.length], [503, 1])
})

it('stops in a pause, and before the first attempt, when the signal says so', async () => {
  const reason = new Error('no longer needed')
  const controller = new AbortController()
  let attempts = 0
  const client = createClient({
    url: 'http://client.test',
    async fetch() {
      attempts += 1
      setTimeout(() => controller.abort(reason), 20)
      return new Response('', { status: 503, headers: { 'Retry-After': '30' } })
    },
  })
  const started = performance.now()
  await assert.rejects(client.caller.get({ signal: controller.signal }), reason)
  assert.ok(performance.now() - started < 5000)
  assert.equal(attempts, 1)
})
