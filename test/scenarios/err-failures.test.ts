/** ERR: internal failures stay internal. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { assemble } from '../../packages/server/src/server/app.ts'
import { logTo } from '../../packages/server/src/server/observe/log.ts'
import type { Observation } from '../../packages/server/src/server/observe/observe.ts'
import { type Storage, StorageFault } from '../../packages/server/src/storage/storage.ts'
import { counters, samples, studio } from '../declarations.ts'
import { type Sent, trialFor } from '../harness.ts'
import { ask, failing, nowhere } from '../steps.ts'

// What goes wrong inside, and what nobody outside may read of it.
const inner = [
  'secret_table',
  'select',
  '/srv/app',
  'resources.ts',
  'at Object',
  'hunter2',
  'TypeError',
  'ECONNREFUSED',
  'node:',
]

class Odd extends Error {
  override name = 'TypeError'
}

const broken = (make: () => unknown): [string, () => unknown] => [String(make()).slice(0, 40), make]

const causes: readonly [string, () => unknown, number, string][] = [
  [...broken(() => new Odd('select hunter2 from secret_table at /srv/app/resources.ts')), 500, 'INTERNAL_ERROR'],
  [
    ...broken(() => new StorageFault('failed', 'secret_table: ECONNREFUSED', new Error('select hunter2'))),
    502,
    'STORAGE_FAILED',
  ],
  [...broken(() => new StorageFault('busy', 'secret_table is locked by /srv/app')), 503, 'OVERLOADED'],
  ['a text', () => 'select hunter2 from secret_table', 500, 'INTERNAL_ERROR'],
  ['nothing', () => undefined, 500, 'INTERNAL_ERROR'],
  ['null', () => null, 500, 'INTERNAL_ERROR'],
  [
    'an object that poses as a problem',
    () => ({
      status: 200,
      code: 'secret_table',
      detail: 'hunter2',
      message: 'select',
      headers: { 'X-Inner': '/srv/app' },
    }),
    500,
    'INTERNAL_ERROR',
  ],
  [
    'an error of the system',
    () =>
      Object.assign(new Error('ENOENT: open /srv/app/resources.ts'), { code: 'ENOENT', path: '/srv/app', errno: -2 }),
    500,
    'INTERNAL_ERROR',
  ],
  [
    'an object that throws when it is read',
    () =>
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('hunter2')
          },
        },
      ),
    500,
    'INTERNAL_ERROR',
  ],
  [
    'several errors in one',
    () => new AggregateError([new Error('secret_table')], 'select hunter2'),
    500,
    'INTERNAL_ERROR',
  ],
]

for (const [name, make, status, code] of causes) {
  it(`ERR-4: a storage that fails with ${name} gives ${status}, without its message`, async (context) => {
    const { app, keys } = await trialFor(context, studio)
    const seen: Observation[] = []
    const thrown: unknown[] = []
    const broken = failing(app, () => thrown[thrown.push(make()) - 1], seen)
    const requests: Sent[] = [
      { path: '/v1/projects' },
      { path: `/v1/projects/${nowhere}` },
      { path: '/v1/projects', body: { name: 'x' } },
      { method: 'PUT', path: `/v1/projects/${nowhere}`, body: { name: 'x' } },
      { method: 'PATCH', path: `/v1/projects/${nowhere}`, body: {} },
      { method: 'DELETE', path: `/v1/projects/${nowhere}` },
      { path: '/health/ready' },
    ]
    for (const sent of requests) {
      const { received, whole } = await ask(broken, sent, keys.get('root'))
      const isUnready = sent.path === '/health/ready' && status === 502
      const expected = isUnready
        ? { status: 503, code: 'NOT_READY', retry: '5' }
        : { status, code, retry: status === 502 ? '5' : '1' }
      assert.deepEqual([received.status, received.json.code], [expected.status, expected.code], received.text)
      assert.equal(received.headers['retry-after'], expected.status > 500 ? expected.retry : undefined)
      assert.equal(received.headers['cache-control'], 'no-store')
      for (const word of inner) assert.ok(!whole.includes(word), `${word} in ${whole}`)
      const failure = seen.find((each) => each.kind === 'failure')
      assert.ok(failure !== undefined, 'the log hears of it')
      assert.equal(failure.requestId, received.json.request_id)
      assert.ok(Object.is(failure.error, thrown.at(-1)), 'whole, as it was thrown')
      const last = seen.at(-1)
      assert.ok(last?.kind === 'request' && last.status === expected.status && last.code === expected.code)
      seen.length = 0
    }
  })
}

for (const [kind, code, retry] of [
  ['too-long', 'READ_TOO_LONG', '10'],
  ['crowded', 'OVERLOADED', '2'],
] as const) {
  it(`LIM-7: a read that the storage refuses as ${kind} gives 503 ${code}, and is no failure`, async (context) => {
    const { app, keys } = await trialFor(context, studio)
    const seen: Observation[] = []
    const refusing = failing(app, () => new StorageFault(kind, 'select hunter2 from secret_table'), seen)
    const { received, whole } = await ask(refusing, { path: '/v1/projects' }, keys.get('root'))
    assert.deepEqual([received.status, received.json.code, received.headers['retry-after']], [503, code, retry])
    for (const word of inner) assert.ok(!whole.includes(word), `${word} in ${whole}`)
    assert.deepEqual(
      seen.filter((each) => each.kind === 'failure'),
      [],
    )
  })
}

it('ERR-4: the log has the details that the response leaves out, with the same request_id', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  const lines: string[] = []
  const log = logTo('info', { write: (line: string) => void lines.push(line) })
  const storage: Storage = {
    ...app.storage,
    run: () => Promise.reject(new StorageFault('failed', 'no', new Error('secret_table'))),
  }
  const broken = assemble(app.catalog, storage, { observe: log })
  const { received } = await ask(broken, { path: '/v1/projects' }, keys.get('root'))
  const entries = lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    entries.map(({ msg }) => msg),
    ['failure', 'request'],
  )
  for (const entry of entries) assert.equal(entry.request_id, received.json.request_id)
  assert.match(lines[0] as string, /secret_table/)
})

it('ERR-4: a rule that throws is a 500 without details', async (context) => {
  const { send, make, seen } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  const before = await send({ path })
  const answer = await send({ method: 'PATCH', path, body: { count: 666 } })
  assert.deepEqual([answer.status, answer.json.code], [500, 'INTERNAL_ERROR'])
  for (const word of inner) assert.ok(!answer.text.includes(word), answer.text)
  const failure = seen.find(({ kind }) => kind === 'failure')
  assert.ok(failure?.kind === 'failure' && failure.requestId === answer.json.request_id)
  assert.match(String(failure.error), /secrets/)
  const after = await send({ path })
  assert.deepEqual([after.text, after.headers.etag], [before.text, before.headers.etag])
  assert.equal((await send({ method: 'PATCH', path, body: { count: 1 } })).status, 200, 'and the writer goes on')
})

it('ERR-6: a storage that cannot look up credentials is a 502 too, never a 401', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  const down: Storage = {
    ...app.storage,
    keys: { ...app.storage.keys, find: () => Promise.reject(new StorageFault('failed', 'secret_table')) },
  }
  const { received } = await ask(assemble(app.catalog, down), { path: '/v1/projects' }, keys.get('root'))
  assert.deepEqual([received.status, received.json.code], [502, 'STORAGE_FAILED'])
  assert.equal(received.headers['retry-after'], '5')
})

it('ERR-6: during shutdown new requests get 503 with Retry-After, and running requests finish', async (context) => {
  const { app, send } = await trialFor(context, studio)
  const running = send({ path: '/v1/projects', body: { name: 'One' } })
  await new Promise<void>((resolve) => queueMicrotask(resolve))
  app.stop()
  const refused = await send({ path: '/v1/projects' })
  assert.deepEqual([refused.status, refused.json.code, refused.headers['retry-after']], [503, 'SHUTTING_DOWN', '5'])
  assert.ok([201, 503].includes((await running).status))
  assert.equal((await send({ path: '/health/ready' })).status, 503)
  assert.equal((await send({ path: '/health/live' })).status, 200)
})

it('ERR-6: a database without its tables is a 502, without any SQL', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  // The catalog knows a collection that this database was never given.
  const catalog = completeCatalog(samples)
  const seen: Observation[] = []
  const { projects } = Object.fromEntries(app.catalog.resources)
  const ghost = { ...projects, name: 'ghosts' } as NonNullable<typeof projects>
  const broken = assemble({ ...catalog, resources: new Map([['ghosts', ghost]]) }, app.storage, {
    observe: (each) => seen.push(each),
  })
  for (const sent of [
    { path: '/v1/ghosts?visibility=public' },
    { path: `/v1/ghosts/${nowhere}` },
    { path: '/v1/ghosts', body: { name: 'x' } },
  ]) {
    const { received, whole } = await ask(broken, sent, keys.get('root'))
    assert.deepEqual([received.status, received.json.code], [502, 'STORAGE_FAILED'], received.text)
    assert.ok(!/sqlite|no such|select|ghosts"/i.test(whole.replace('"instance":"/v1/ghosts"', '')), whole)
  }
  assert.equal(seen.filter(({ kind }) => kind === 'failure').length, 3)
})
