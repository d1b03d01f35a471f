/**
 * LIM-6: the bytes of unread responses are bounded, for each caller and for all, and clients that read too slowly are
 * disconnected.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { type Trial, trial } from '../../../../../test/harness.ts'
import { until } from '../../../../../test/until.ts'
import { type Download, download, takeSteadily } from '../../../../../test/wire/download.ts'
import { transports } from '../../../../../test/wire/transports.ts'
import { localCertificate } from './certificates.ts'
import { createNodeServer, type NodeServerOptions } from './listener.ts'

const mebibyte = 1_048_576
const folder = await mkdtemp(join(tmpdir(), 'resourced-unread-'))
const tls = await localCertificate(folder)
let current: Trial

// Far more than systems take over of a connection.
const records = 30
const whole = `/v1/papers?limit=${records}`
const small = `${whole}&fields=created_at`

before(async () => {
  const papers = defineInterface({
    name: 'papers',
    limits: { pageBytes: 64 * mebibyte },
    resources: { papers: { fields: { text: Type.String() }, access: { read: 'anyone', update: 'anyone' } } },
  })
  current = await trial(papers, { memory: true })
  for (let index = 0; index < records; index++) await current.make('papers', { text: 'x'.repeat(1_000_000) })
})
after(async () => {
  await current.close()
  await rm(folder, { recursive: true })
})

interface Served {
  /** How many answers with status 200 a caller has been given, read or not. */
  answersTo(caller: string): number
  ask(caller: string, path?: string, method?: string, headers?: Readonly<Record<string, string>>): Download
  statusOf(caller: string, path?: string): Promise<number>
}

async function serve(
  context: TestContext,
  transport: (typeof transports)[number],
  options: Partial<NodeServerOptions>,
): Promise<Served> {
  const { respond: answer, refuse: problem } = current.app
  const given: (string | undefined)[] = []
  const respond: typeof answer = async (request) => {
    const response = await answer(request)
    if (response.status === 200) given.push(request.headers['authorization'])
    return response
  }
  const answersTo = (caller: string) => given.filter((each) => each === `Bearer ${current.keys.get(caller)}`).length
  const secure = transport === 'HTTP/1.1' ? {} : { tls }
  const server = createNodeServer({ respond, problem, ...secure, ...options })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(100))
  const ask: Served['ask'] = (caller, path = whole, method = 'GET', headers = {}) =>
    download(origin, path, transport, {
      ...{ method, keep: 1_000 },
      headers: { ...headers, authorization: `Bearer ${current.keys.get(caller)}` },
    })
  const statusOf = async (caller: string, path?: string) => {
    const asked = ask(caller, path)
    asked.stream.resume()
    const { status, error } = await asked.ended
    assert.equal(error, undefined)
    return status
  }
  return { ask, statusOf, answersTo }
}

for (const transport of transports) {
  test(`LIM-6: ${transport}: unread responses are limited for each caller, and for all callers together`, async (context) => {
    const unread = { caller: 40 * mebibyte, server: 60 * mebibyte }
    const { ask, statusOf, answersTo } = await serve(context, transport, { unread })
    const first = ask('ann')
    await until(async () => answersTo('ann') > 0)
    // No other request is sent before this response is. A single response may have any size; a second one of this size
    // would exceed the limit.
    await until(async () => (await statusOf('ann')) === 429)
    assert.equal(await statusOf('ann', small), 200)
    assert.equal(await statusOf('bob'), 200)
    const before = answersTo('bob')
    const second = ask('bob')
    await until(async () => answersTo('bob') > before)
    await until(async () => (await statusOf('eve')) === 503)
    assert.equal(await statusOf('eve', small), 200)
    // The responses were read, or dropped.
    first.stream.resume()
    const { status, size, error } = await first.ended
    assert.deepEqual([status, error], [200, undefined])
    assert.ok(size > records * 1_000_000)
    second.stream.destroy()
    await until(async () => (await statusOf('eve')) === 200)
    await until(async () => (await statusOf('ann')) === 200)
  })

  test(`LIM-6: ${transport}: a client that reads a response too slowly is disconnected, even if it reads steadily`, async (context) => {
    // 10 MB a second at least: the answer in four seconds and half of one.
    const timeouts = { head: 5_000, interval: 100, bytes: 100_000, idle: 1_500 }
    const { ask, statusOf } = await serve(context, transport, { timeouts, unread: { caller: 20 * mebibyte } })
    const slow = ask('ann')
    takeSteadily(slow, 20_000, 20)
    await until(async () => (await statusOf('ann', small)) === 429)
    const started = performance.now()
    // Bytes in the system's buffers still arrive.
    await until(async () => (await statusOf('ann', small)) === 200)
    context.diagnostic(`cut off after ${Math.round(performance.now() - started)} ms`)
    slow.stream.resume()
    const { size, error } = await slow.ended
    assert.ok(size < records * 1_000_000, `${size} bytes, ${error}`)
  })
}

for (const method of ['GET', 'HEAD']) {
  test(`LIM-6: the response to ${method} is counted whole while it is compressed, and no longer`, async (context) => {
    const { ask } = await serve(context, 'HTTP/1.1', { unread: { caller: 40 * mebibyte } })
    const compressed = async () => {
      const asked = ask('ann', whole, method, { 'accept-encoding': 'gzip' })
      asked.stream.resume()
      return (await asked.ended).status
    }
    // Of many at once some have to wait for others.
    await until(async () => (await Promise.all(Array.from({ length: 4 }, compressed))).includes(429))
    for (let count = 0; count < 4; count++) await until(async () => (await compressed()) === 200)
  })
}

test('LIM-6: responses to changes are sent at any size, and a caller with too many unread bytes cannot change anything', async (context) => {
  const { ask, statusOf } = await serve(context, 'HTTP/1.1', { unread: { caller: 20 * mebibyte } })
  const slow = ask('ann')
  await until(async () => (await statusOf('ann', '/v1/papers?limit=1&fields=created_at')) === 429)
  const patched = ask('ann', '/v1/papers/none', 'PATCH')
  patched.stream.resume()
  assert.equal((await patched.ended).status, 429)
  const [paper] = (await current.send({ path: '/v1/papers?limit=1' })).json.data
  let refused: unknown
  const answer = await current.app.respond({
    ...{ method: 'PATCH', target: `/v1/papers/${paper.id}`, secure: true, address: '127.0.0.1' },
    headers: { authorization: `Bearer ${current.keys.get('ann')}`, 'content-type': 'application/json' },
    readBody: async () => Buffer.from(`{"text":"${'y'.repeat(1_000_000)}"}`),
    reserve: (_caller, bytes, mayRefuse) => {
      if (bytes > 0) refused = mayRefuse
      return undefined
    },
  })
  assert.deepEqual([answer.status, refused], [200, false])
  slow.stream.destroy()
})
