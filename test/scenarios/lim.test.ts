/** LIM: limits of bodies, paths and nesting. (Header fields and slow clients are tested on sockets.) */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { samples, studio } from '../declarations.ts'
import { places, type Sent, scenarios, trialFor } from '../harness.ts'

const mebibyte = 1_048_576
/** A valid body of so many bytes. */
const bodyOf = (bytes: number) => '{"name":"One"}'.padEnd(bytes)

scenarios(studio, [
  {
    name: 'a body of exactly 1 MiB is read',
    rule: 'LIM-3',
    send: { path: '/v1/projects', body: bodyOf(mebibyte) },
    status: 201,
  },
  ...['POST', 'PUT', 'PATCH'].map(
    (method) =>
      ({
        name: `${method} with a byte more is not read`,
        rule: 'LIM-3',
        send: async ({ make }): Promise<Sent> => {
          const { id } = await make('projects', { name: 'Before' })
          return { method, path: method === 'POST' ? '/v1/projects' : `/v1/projects/${id}`, body: bodyOf(mebibyte + 1) }
        },
        status: 413,
        code: 'BODY_TOO_LARGE',
        check: async (_, { send }) => {
          const { data } = (await send({ path: '/v1/projects' })).json
          assert.deepEqual(
            data.map(({ name }: { name: string }) => name),
            ['Before'],
          )
        },
      }) satisfies Parameters<typeof scenarios>[1][number],
  ),
  {
    name: 'bytes count, not characters',
    rule: 'LIM-3',
    send: { path: '/v1/projects', body: JSON.stringify({ name: 'x', description: '€'.repeat(mebibyte / 3) }) },
    status: 413,
  },
  {
    name: 'an address of 8,000 bytes is read',
    rule: 'LIM-3',
    send: { path: '/v1/projects?q='.padEnd(8_000, 'x') },
    status: 200,
  },
  {
    name: 'an address of 8,001 bytes is not',
    rule: 'LIM-3',
    send: { path: '/v1/projects?q='.padEnd(8_001, 'x') },
    status: 414,
    code: 'URL_TOO_LONG',
  },
  {
    name: 'nor where nothing is, for anybody',
    rule: 'LIM-3',
    send: { path: '/'.padEnd(8_001, 'x'), as: null },
    status: 414,
  },
])

it('LIM-3: a lower limit can be declared', async (context) => {
  const { send } = await trialFor(context, { ...studio, limits: { bodyBytes: 100 } })
  assert.equal((await send({ path: '/v1/projects', body: bodyOf(100) })).status, 201)
  assert.equal((await send({ path: '/v1/projects', body: bodyOf(101) })).status, 413)
})

/** The bodies hold the list at depth 2: the object around it counts 1. */
const nestings: readonly [depth: number, status: number][] = [
  [1, 201],
  [31, 201],
  [32, 400],
  [33, 400],
  [5_000, 400],
  [500_000, 400],
]

for (const [depth, status] of nestings) {
  for (const [kind, open, inner, close] of [
    ['arrays', '[', '', ']'],
    ['objects', '{"a":', '1', '}'],
  ] as const) {
    it(`LIM-3: a field of ${depth} nested ${kind} is ${status === 201 ? 'kept' : 'refused'}`, async (context) => {
      if (open.length * depth > mebibyte) return assert.ok(status === 400)
      const { send } = await trialFor(context, samples)
      const value = open.repeat(depth) + inner + close.repeat(depth)
      const answer = await send({ path: '/v1/samples', body: `{"title":"x","anything":${value}}` })
      assert.equal(answer.status, status, answer.text.slice(0, 500))
      if (status === 201) {
        assert.deepEqual(answer.json.anything, JSON.parse(value))
        return
      }
      assert.equal(answer.json.code, 'MALFORMED_JSON')
      const step = kind === 'arrays' ? '/0' : '/a'
      assert.deepEqual(places(answer), [`TOO_DEEP /anything${step.repeat(31)}`])
      assert.equal((await send({ path: '/v1/samples' })).json.pagination.total_count, 0)
    })
  }
}

it('LIM-3: repeated merge patches never nest a record deeper than a body may be nested', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const { id } = await make('samples', { title: 'x', payload: {} })
  const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  assert.equal(
    (await send({ method: 'PATCH', path: `/v1/samples/${id}`, body: `{"payload":${deep(31)}}` })).status,
    200,
  )
  assert.equal(
    (await send({ method: 'PATCH', path: `/v1/samples/${id}`, body: `{"payload":${deep(32)}}` })).status,
    400,
  )
  const { json, text } = await send({ path: `/v1/samples/${id}` })
  assert.equal(JSON.stringify(json.payload), deep(31))
  assert.equal(
    (await send({ method: 'PUT', path: `/v1/samples/${id}`, body: text })).status,
    200,
    'and it can be put back',
  )
})
