/** CON-5: concurrent writers. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { counters, studio } from '../../declarations.ts'
import { trialFor } from '../../harness.ts'

it('CON-5: of 32 concurrent writers with the same tag exactly one succeeds, in each round', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  for (let round = 0; round < 10; round++) {
    const tag = String((await send({ path })).headers.etag)
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, writer) => {
        // None of them is 404, which a rule refuses: so would be who comes first.
        const count = 1_000 + round * 100 + writer
        const method = writer % 2 === 0 ? 'PUT' : 'PATCH'
        return send({ method, path, headers: { 'if-match': tag }, body: { name: 'c', count }, as: 'root' })
      }),
    )
    const won = answers.filter(({ status }) => status === 200)
    assert.equal(won.length, 1, answers.map(({ status }) => status).join())
    assert.deepEqual(
      answers.flatMap(({ status, text }) => (status === 200 || status === 412 ? [] : [[status, text]])),
      [],
    )
    assert.deepEqual((await send({ path })).json, won[0]?.json)
  }
})

it('CON-5: 32 writers that read, add one and write with If-Match lose no update', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  const addOne = async (writer: number) => {
    for (let tries = 1; ; tries++) {
      assert.ok(tries < 1_000, 'somebody makes progress')
      const { json, headers } = await send({ path })
      // Not everybody reads and writes in the same turn.
      if (writer % 3 === 0) await new Promise((resolve) => setTimeout(resolve, writer % 5))
      const body = { count: json.count + 1 }
      const answer = await send({ method: 'PATCH', path, headers: { 'if-match': String(headers.etag) }, body })
      if (answer.status === 200) return
      assert.equal(answer.status, 412, answer.text)
    }
  }
  const rounds = 3
  await Promise.all(
    Array.from({ length: 32 }, async (_, writer) => {
      for (let round = 0; round < rounds; round++) await addOne(writer)
    }),
  )
  assert.equal((await send({ path })).json.count, 32 * rounds)
})

it('CON-5: of 32 concurrent deletions and changes with one tag exactly one succeeds', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  for (let round = 0; round < 5; round++) {
    const { id } = await make('counters', { name: `c${round}` })
    const path = `/v1/counters/${id}`
    const headers = { 'if-match': String((await send({ path })).headers.etag) }
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, writer) =>
        writer % 2 === round % 2
          ? send({ method: 'DELETE', path, headers })
          : send({ method: 'PATCH', path, headers, body: { count: writer } }),
      ),
    )
    const [won, ...more] = answers.filter(({ status }) => status < 300)
    assert.ok(won !== undefined && more.length === 0, answers.map(({ status }) => status).join())
    for (const { status } of answers) assert.ok([200, 204, 404, 412].includes(status))
    assert.equal((await send({ path })).status, won.status === 204 ? 404 : 200)
  }
})

it('CON-5: of 32 concurrent creations with one unique value exactly one succeeds', async (context) => {
  const { send } = await trialFor(context, studio)
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => send({ path: '/v1/projects', body: { name: 'One' } })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(31).fill(409)])
  assert.equal((await send({ path: '/v1/projects' })).json.pagination.total_count, 1)
})

it('CON-5: without a condition the last writer wins, with the whole record', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, writer) =>
      send({ method: 'PUT', path, body: { name: `c${writer}`, count: writer } }),
    ),
  )
  assert.ok(answers.every(({ status }) => status === 200))
  const { json } = await send({ path })
  assert.equal(json.name, `c${json.count}`)
})
