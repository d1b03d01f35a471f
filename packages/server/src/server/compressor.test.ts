import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { studio } from '../../../../test/declarations.ts'
import { trialFor } from '../../../../test/harness.ts'
import { fill } from '../../../../test/steps.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { Compressor } from './compressor.ts'

/** Compresses a response if the client takes that, as the server does. */
async function encode(compressor: Compressor, request: HttpRequest, response: HttpResponse, caller: string) {
  const coding = compressor.choose(request, response)
  return coding === undefined ? response : compressor.compress(request, response, coding, { caller })
}

const mebibyte = 1_048_576
const request = (more: Partial<HttpRequest> = {}): HttpRequest => ({
  ...{ method: 'GET', target: '/', secure: true, address: '127.0.0.1', readBody: async () => new Uint8Array() },
  headers: { 'accept-encoding': 'gzip' },
  ...more,
})
const response = (body: string, tag = '"7"'): HttpResponse => ({ status: 200, headers: { ETag: tag }, body })
const randomText = (bytes: number) => randomBytes(bytes / 2).toString('hex')

test('a body is compressed once, whoever gets it, as long as it is remembered', async () => {
  const compressor = new Compressor()
  const [one, other] = [randomText(10_000), randomText(10_000)]
  const { headers, body } = await encode(compressor, request(), response(one), 'ann')
  assert.deepEqual(headers, { ETag: '"7-gzip"', Vary: 'Accept-Encoding', 'Content-Encoding': 'gzip' })
  const again = await encode(compressor, request(), response(one, '"8"'), 'bob')
  assert.equal(again.headers['ETag'], '"8-gzip"')
  assert.equal(again.body, body, 'the same bytes in memory')
  // Another body under the same tag, and another encoding of the same body.
  const different = await encode(compressor, request(), response(other), 'ann')
  assert.equal(gunzipSync(different.body as Uint8Array).toString(), other)
  const headersOf = { 'accept-encoding': 'br' }
  const brotli = await encode(compressor, request({ headers: headersOf }), response(one), 'ann')
  assert.equal(brotliDecompressSync(brotli.body as Uint8Array).toString(), one)
})

test('equal bodies that are requested together are compressed once', async () => {
  const compressor = new Compressor()
  const body = randomText(200_000)
  const all = await Promise.all(Array.from({ length: 20 }, () => encode(compressor, request(), response(body), 'ann')))
  assert.ok(new Set(all.map((each) => each.body)).size <= 3)
})

test('what is remembered is bounded, and bodies without a tag are not remembered', async () => {
  const compressor = new Compressor()
  const bytesOf = async (made: HttpResponse) => (await encode(compressor, request(), made, 'ann')).body
  const first = randomText(500_000)
  const before = await bytesOf(response(first))
  assert.equal(await bytesOf(response(first)), before, 'it is remembered')
  for (let count = 0; count < 40; count++) await bytesOf(response(randomText(500_000)))
  assert.notEqual(await bytesOf(response(first)), before, 'it was forgotten')
  const small = randomText(10_000)
  const untagged = (): HttpResponse => ({ status: 200, headers: {}, body: small })
  assert.notEqual(await bytesOf(untagged()), await bytesOf(untagged()))
  const huge = randomText(2 * mebibyte)
  assert.notEqual(await bytesOf(response(huge)), await bytesOf(response(huge)), 'it is too large')
})

test('callers take turns: one with many large bodies holds up nobody', async () => {
  const compressor = new Compressor()
  let ended = 0
  const large = Array.from({ length: 30 }, async () => {
    await encode(compressor, request(), response(randomText(2 * mebibyte)), 'greedy')
    ended++
  })
  await encode(compressor, request(), response(randomText(2_000)), 'modest')
  assert.ok(ended < 30, 'the other caller did not wait for all of them')
  await Promise.all(large)
})

test('a client that has gone gives up its turn', async () => {
  const compressor = new Compressor()
  const gone = new AbortController()
  const texts = Array.from({ length: 8 }, () => randomText(mebibyte))
  const abandoned = texts.map((text) =>
    Promise.resolve(encode(compressor, request({ abandoned: () => gone.signal }), response(text), 'ann')),
  )
  gone.abort()
  const outcomes = await Promise.allSettled(abandoned)
  assert.ok(outcomes.some(({ status }) => status === 'rejected'))
  assert.equal((await encode(compressor, request(), response(texts[0]!), 'ann')).headers['Content-Encoding'], 'gzip')
})

test('LIM-6: a body is counted whole while it waits to be compressed, and then by its compressed bytes', async (context) => {
  const trial = await trialFor(context, studio, { memory: true })
  await fill(
    trial,
    'users',
    Array.from({ length: 100 }, (_, number) => ({ name: 'Ann '.repeat(30), email: `a${number}@example.com` })),
  )
  for (const method of ['GET', 'HEAD']) {
    const counted: (readonly [number, boolean])[] = []
    const { body } = await trial.app.respond(
      request({
        ...{ method, target: '/v1/users?limit=100' },
        headers: { authorization: `Bearer ${trial.keys.get('ann')}`, 'accept-encoding': 'zstd' },
        reserve: (_, bytes, mayRefuse) => void (bytes > 0 && counted.push([bytes, mayRefuse])),
      }),
    )
    assert.ok(body instanceof Uint8Array)
    const [whole, ...rest] = counted
    assert.ok(whole !== undefined && whole[0] > 20_000 && whole[1])
    assert.deepEqual(rest, [[body.length, false]])
  }
})
