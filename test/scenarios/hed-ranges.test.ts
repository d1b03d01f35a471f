/** HED-3: byte ranges of representations. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { trialFor } from '../harness.ts'

it('HED-3: every representation supports byte ranges, with GET and HEAD', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'Größe 😀' })
  const paths = [`/v1/projects/${id}`, '/v1/projects', '/v1/projects?limit=1', '/v1/openapi.json', '/health/live']
  for (const path of paths) {
    const whole = await send({ path })
    assert.equal(whole.headers['accept-ranges'], 'bytes', path)
    const bytes = Buffer.from(whole.text)
    const size = bytes.length
    const table: [range: string, start: number, end: number][] = [
      ['bytes=0-9', 0, 9],
      ['bytes=5-', 5, size - 1],
      ['bytes=-4', size - 4, size - 1],
      [`bytes=3-${size + 100}`, 3, size - 1],
      [`bytes=-${size + 100}`, 0, size - 1],
      ['bytes=0-0', 0, 0],
    ]
    for (const [range, start, end] of table) {
      const part = await send({ path, headers: { range } })
      assert.equal(part.status, 206, `${path} ${range}`)
      assert.equal(part.headers['content-range'], `bytes ${start}-${end}/${size}`)
      assert.equal(part.headers.etag, whole.headers.etag)
      // A part may begin or end within a character.
      assert.equal(part.text, bytes.subarray(start, end + 1).toString())
      const head = await send({ method: 'HEAD', path, headers: { range } })
      assert.deepEqual([head.status, head.headers['content-range']], [206, part.headers['content-range']])
    }
    const beyond = await send({ path, headers: { range: `bytes=${size}-` } })
    assert.equal(beyond.status, 416)
    assert.equal(beyond.headers['content-range'], `bytes */${size}`)
    assert.equal(beyond.json.code, 'RANGE_NOT_SATISFIABLE')
    for (const range of ['bytes=9-5', 'bytes=', 'items=0-4', 'bytes=a-b', 'bytes=0-1,3-4', '']) {
      const answer = await send({ path, headers: { range } })
      assert.deepEqual([answer.status, answer.text], [200, whole.text], range)
    }
  }
})

it('HED-3: If-Range gets the range of an unchanged representation, and a changed representation completely', async (context) => {
  const { send, make, clock } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const { headers } = await send({ path })
  const etag = String(headers.etag)
  const date = String(headers['last-modified'])
  clock.ahead = 60_000
  const status = async (condition: string) =>
    (await send({ path, headers: { range: 'bytes=0-3', 'if-range': condition } })).status
  assert.equal(await status(etag), 206)
  assert.equal(await status(date), 206)
  for (const other of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2020 08:00:00 GMT', 'yesterday', '']) {
    assert.equal(await status(other), 200, other)
  }
  await send({ method: 'PATCH', path, body: { name: 'Two' } })
  assert.equal(await status(etag), 200)
  assert.equal(await status(date), 200)
})

it('HED-3: conditions are evaluated before ranges, and changes have no ranges', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const etag = String((await send({ path })).headers.etag)
  const range = 'bytes=0-3'
  assert.equal((await send({ path, headers: { range, 'if-none-match': etag } })).status, 304)
  assert.equal((await send({ path, headers: { range, 'if-match': '"other"' } })).status, 412)
  const patched = await send({ method: 'PATCH', path, headers: { range }, body: { name: 'Two' } })
  assert.equal(patched.status, 200)
  assert.equal(patched.headers['accept-ranges'], undefined)
})
