/** DOC-1: the OpenAPI document is compressed for clients that can read that. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { studio } from '../../declarations.ts'
import { trialFor } from '../../harness.ts'

it('DOC-1: each encoding of the document is the same text, under a tag of its own', async (context) => {
  const { app, keys } = await trialFor(context, studio, { memory: true })
  const get = (fields: Readonly<Record<string, string>>, method = 'GET') =>
    app.respond({
      ...{ method, target: '/v1/openapi.json', secure: true, address: '127.0.0.1' },
      headers: { host: 'localhost', authorization: `Bearer ${keys.get('ann')}`, ...fields },
      readBody: async () => new Uint8Array(),
    })
  const plain = await get({})
  const packed = await get({ 'accept-encoding': 'gzip, deflate, br' })
  assert.deepEqual([plain.headers['Content-Encoding'], packed.headers['Content-Encoding']], [undefined, 'br'])
  assert.equal(plain.headers['Vary'], 'Accept, Accept-Encoding')
  assert.equal(packed.headers['Vary'], plain.headers['Vary'])
  const { body } = packed
  assert.ok(body instanceof Uint8Array)
  assert.equal(brotliDecompressSync(body).toString(), plain.body)
  assert.ok(body.length * 5 < String(plain.body).length, `${body.length} bytes`)
  assert.notEqual(packed.headers['ETag'], plain.headers['ETag'])
  const tag = { 'if-none-match': String(packed.headers['ETag']) }
  assert.equal((await get({ 'accept-encoding': 'gzip', ...tag })).status, 304)
  assert.equal((await get({ 'accept-encoding': 'gzip', 'if-none-match': '"other-gzip"' })).status, 200)
  for (const accepted of ['identity', 'gzip;q=0', '', ','.repeat(2_000)]) {
    assert.equal((await get({ 'accept-encoding': accepted })).headers['Content-Encoding'], undefined, accepted)
  }
  const head = await get({ 'accept-encoding': 'gzip, br' }, 'HEAD')
  assert.deepEqual({ ...head.headers, 'X-Request-Id': '' }, { ...packed.headers, 'X-Request-Id': '' })
})
