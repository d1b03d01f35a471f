/** AUT-2, ERR-6: a change of keys or maintenance on one server soon applies to the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMaintenance } from '../../packages/server/src/server/open-database.ts'
import { clientOf } from '../durability/client.ts'
import { until } from '../until.ts'
import { atOnce, raceOf, skip, tally } from './servers.ts'

const race = raceOf({
  name: 'keys',
  resources: { notes: { fields: { name: { type: 'string' } }, access: { read: 'anyone' } } },
})

test('AUT-2: a key revoked on one server is refused on the other within five seconds', { skip }, async (context) => {
  const delays: number[] = []
  await atOnce(6, async (number) => {
    const made = await race.on(number).send('POST', '/v1/api-keys', { body: { subject: `s${number}`, roles: [] } })
    assert.equal(made.status, 201, JSON.stringify(made.json))
    const { send, close } = clientOf(race.on(number + 1).process.origin, made.json.key ?? made.json.secret)
    // It is known there, and in use.
    assert.equal((await send('GET', '/v1/notes')).status, 200)
    const revoking = race.on(number).send('DELETE', `/v1/api-keys/${made.json.id}`)
    const before = [await send('GET', '/v1/notes'), await send('GET', '/v1/notes')]
    assert.ok(before.every(({ status }) => status === 200 || status === 401))
    assert.equal((await revoking).status, 204)
    const began = performance.now()
    await until(async () => (await send('GET', '/v1/notes')).status === 401, 'the key is refused', 5)
    delays.push(performance.now() - began)
    close()
  })
  context.diagnostic(`refused after at most ${Math.max(...delays).toFixed(0)} ms`)
})

test('AUT-2: of two concurrent revocations of one key, one succeeds', { skip }, async (context) => {
  const found: string[] = []
  for (let round = 0; round < 10; round++) {
    const { id } = await race.make('api-keys', { subject: 's', roles: [] })
    const answers = await atOnce(4, (number) => race.on(number).send('DELETE', `/v1/api-keys/${id}`))
    const won = answers.filter(({ status }) => status === 204)
    assert.equal(won.length, 1)
    assert.ok(answers.every(({ status }) => status === 204 || status === 404))
    found.push(`server ${answers.findIndex(({ status }) => status === 204) % 2}`)
  }
  context.diagnostic(JSON.stringify(tally(found)))
})

test('AUT-10: while a key is revoked with its descendants, no key that it creates stays valid', {
  skip,
}, async (context) => {
  const found: string[] = []
  for (let round = 0; round < 12; round++) {
    const first = await race.on(round).send('POST', '/v1/api-keys', { body: { subject: `r${round}`, roles: [] } })
    const { id, key } = first.json
    const { send, close } = clientOf(race.on(round + 1).process.origin, key)
    const making = Array.from({ length: 8 }, () => send('POST', '/v1/api-keys', { body: {} }))
    const revoking = race.on(round).send('DELETE', `/v1/api-keys/${id}?descendants=true`)
    const answers = await Promise.all(making)
    assert.equal((await revoking).status, 204)
    close()
    assert.ok(
      answers.every(({ status }) => [201, 401, 403].includes(status)),
      JSON.stringify(tally(answers.map(({ status }) => String(status)))),
    )
    const left = await race.on(round).send('GET', `/v1/api-keys?made_by=${id}&revoked_at[null]=true`)
    assert.equal(left.json.pagination.total_count, 0)
    found.push(`${answers.filter(({ status }) => status === 201).length} made before`)
  }
  context.diagnostic(JSON.stringify(tally(found)))
})

test('AUT-10: concurrent requests to two servers create no more keys for a subject than are allowed', {
  skip,
}, async () => {
  const subject = 'many'
  const make = (number: number) => race.on(number).send('POST', '/v1/api-keys', { body: { subject, roles: [] } })
  for (let made = 0; made < 95; made++) assert.equal((await make(made)).status, 201)
  const answers = await atOnce(20, make)
  assert.equal(answers.filter(({ status }) => status === 201).length, 5)
  assert.ok(answers.every(({ status, json }) => status === 201 || json.code === 'KEY_QUOTA'))
})

test('ERR-6: both servers enter and leave maintenance', { skip }, async (context) => {
  const { maintenance, close } = await openMaintenance({ database: race.url, databaseUnsafe: true })
  context.after(close)
  const clients = race.servers.map(({ process }) => clientOf(process.origin, race.key))
  context.after(() => {
    for (const client of clients) client.close()
  })
  const all = (status: number) =>
    until(
      async () => {
        const answers = await Promise.all(clients.map(({ send }) => send('GET', '/v1/notes')))
        return answers.every((answer) => answer.status === status)
      },
      'all answer so',
      10,
    )
  await maintenance.begin({ since: new Date().toISOString(), message: 'Back soon.', retryAfter: 7 })
  await all(503)
  const [told] = await Promise.all(clients.map(({ send }) => send('GET', '/v1/notes')))
  assert.deepEqual([told?.json.code, told?.headers['retry-after']], ['MAINTENANCE', '7'])
  await maintenance.end()
  await all(200)
})
