/** TEN-1, TEN-3, TEN-4: tenants begin, end, sleep and migrate while they are used, with two threads that answer. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { openKeys } from '../../packages/server/src/server/open-database.ts'
import { type Answer, clientOf, type Send, sendAgain } from '../durability/client.ts'
import { startServer } from '../durability/command.ts'
import { newDatabase } from '../engine.ts'

const path = '/v1/notes'
const most = 15

function declarationOf(fields: object = {}): InterfaceDeclaration {
  return {
    name: 'notes',
    tenants: { caller: 'claims.team', create: 'first-use', gracePeriod: 'PT1S' },
    limits: { tenants: most },
    resources: {
      notes: {
        ...{ events: true, access: { read: 'anyone', create: 'anyone' } },
        fields: { text: { type: 'string', unique: true }, ...fields },
      },
    },
  }
}

interface Place {
  readonly origin: string
  /** Sends as a member of a tenant; without a name as an operator. */
  as(name?: string): Send
  key(name?: string): string
  declare(declaration: InterfaceDeclaration): void
  signal(): void
}

/** A server with two threads that answer, and a key for each tenant. */
async function served(t: TestContext, names: readonly string[]): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-life-'))
  const declare = (declaration: InterfaceDeclaration) =>
    writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  declare(declarationOf())
  const database = await newDatabase()
  const { keys, close } = await openKeys({ database: database.address, databaseUnsafe: true })
  const made = new Map<string, string>()
  for (const name of ['', ...names]) {
    const claims = name === '' ? null : { team: name }
    const { key, stored } = makeKey('ann', [name === '' ? 'operator' : 'admin'], null, claims)
    await keys.add(stored)
    made.set(name, key)
  }
  await close()
  process.env.TEST_WORKERS = '2'
  const { child, origin, ended, errors } = await startServer(folder, ['--http'], {}, database.address)
  const clients = new Map([...made].map(([name, key]) => [name, clientOf(origin, key, 60)]))
  t.after(async () => {
    for (const client of clients.values()) client.close()
    child.kill('SIGTERM')
    assert.equal(await ended, 0, errors.join(''))
    await database.remove()
    rmSync(folder, { recursive: true })
  })
  return {
    ...{ origin, declare },
    as: (name = '') => (clients.get(name) as { readonly send: Send }).send,
    key: (name = '') => made.get(name) as string,
    signal: () => void child.kill('SIGHUP'),
  }
}

const statuses = (answers: readonly Answer[]) => {
  const counts: Record<string, number> = {}
  for (const { status, json } of answers) {
    const outcome = json?.code === undefined ? String(status) : `${status} ${json.code}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

test('TEN-1: 50 first uses at once create one tenant, and 40 of as many create at most the limit', async (t) => {
  const names = ['one', ...Array.from({ length: 40 }, (_, index) => `team-${index}`)]
  const { as } = await served(t, names)
  const use = (name: string, index: number) => as(name)('POST', path, { body: { text: `${name} ${index}` } })
  const first = await Promise.all(Array.from({ length: 50 }, (_, index) => use('one', index)))
  assert.deepEqual(statuses(first), { 201: 50 })
  assert.equal((await as('one')('GET', path)).json.pagination.total_count, 50)
  assert.equal((await as()('GET', '/v1/tenants')).json.pagination.total_count, 1)
  const others = await Promise.all(names.slice(1).map(use))
  assert.deepEqual(statuses(others), { 201: most - 1, '403 UNKNOWN_TENANT': 41 - most })
  assert.equal((await as()('GET', '/v1/tenants')).json.pagination.total_count, most)
})

test('TEN-3: a tenant that is deleted while it is used is away for everybody, and whole once restored', async (t) => {
  const { as, key, origin } = await served(t, ['acme', 'globex'])
  const acknowledged = new Set<string>()
  assert.equal((await as('acme')('POST', path, { body: { text: 'first' } })).status, 201)
  acknowledged.add('first')
  const made = (await as('acme')('POST', '/v1/api-keys', { body: { subject: 'bob', roles: ['admin'] } })).json
  const own = clientOf(origin, made.key)
  t.after(() => own.close())
  const headers = { authorization: `Bearer ${key('acme')}`, accept: 'text/event-stream' }
  const stream = await fetch(`${origin}/v1/events`, { headers })
  let isEnded = false
  const reading = (async () => {
    for await (const _ of stream.body as AsyncIterable<Uint8Array>);
    isEnded = true
  })().catch(() => {})
  let deletedAt = Number.POSITIVE_INFINITY
  let isOver = false
  const wrong: string[] = []
  const client = async (number: number) => {
    for (let index = 0; !isOver; index++) {
      const [began, text] = [performance.now(), `${number} ${index}`]
      const { status } = await as('acme')('POST', path, { body: { text } })
      if (status === 201) acknowledged.add(text)
      if (![201, 403].includes(status) || (status === 201 && began > deletedAt)) wrong.push(`${status} ${text}`)
      const quiet = await as('globex')('GET', path)
      if (quiet.status !== 200) wrong.push(`globex ${quiet.status}`)
      await sleep(5)
    }
  }
  const clients = [0, 1, 2, 3].map(client)
  await as('acme')('POST', '/v1/exports', { body: { collection: 'notes', format: 'ndjson' } })
  await sleep(500)
  const [{ id }] = (await as()('GET', '/v1/tenants?name=acme')).json.data
  assert.equal((await as()('DELETE', `/v1/tenants/${id}`)).status, 204)
  deletedAt = performance.now()
  assert.equal((await own.send('GET', path)).status, 401)
  const restored = await as()('POST', `/v1/tenants/${id}/restore`)
  assert.equal(restored.status, 200)
  deletedAt = Number.POSITIVE_INFINITY
  await sleep(500)
  isOver = true
  await Promise.all(clients)
  assert.deepEqual(wrong, [])
  const texts: string[] = []
  for (let next: string | null = `${path}?limit=100`; next !== null; ) {
    const { json } = await as('acme')('GET', next)
    texts.push(...json.data.map(({ text }: { readonly text: string }) => text))
    const { next_cursor } = json.pagination
    next = next_cursor === null ? null : `${path}?limit=100&cursor=${encodeURIComponent(next_cursor)}`
  }
  assert.deepEqual(texts.toSorted(), [...acknowledged].toSorted())
  assert.equal((await own.send('GET', path)).status, 200)
  // While it is kept, no first use takes its name.
  assert.equal((await as()('DELETE', `/v1/tenants/${id}`)).status, 204)
  const taken = await as('acme')('POST', path, { body: { text: 'late' } })
  assert.equal(taken.status, 403)
  for (let attempt = 0; !isEnded && attempt < 6_000; attempt++) await sleep(10)
  assert.ok(isEnded, 'the stream goes on')
  await reading
  assert.equal((await own.send('GET', path)).status, 401)
})

test('TEN-4: a new declaration while tenants are in use is 503 only until each is migrated', async (t) => {
  const names = Array.from({ length: most }, (_, index) => `team-${index}`)
  const { as, declare, signal } = await served(t, names)
  for (const name of names) await as(name)('POST', path, { body: { text: name } })
  const answers: Answer[] = []
  let isOver = false
  const client = async (name: string) => {
    const send = sendAgain(as(name))
    for (let isNew = false; !(isOver && isNew); ) {
      const answer = await send('GET', path)
      answers.push(answer)
      if (answer.status === 200) {
        const [record] = answer.json.data
        assert.equal(record.text, name)
        assert.ok(!isNew || record.more === 'new', 'it has gone back to the old declaration')
        isNew = record.more === 'new'
      }
      await sleep(10)
    }
  }
  const clients = Promise.all(names.map(client))
  await sleep(300)
  declare(declarationOf({ more: { type: 'string', default: 'new' } }))
  signal()
  isOver = true
  await clients
  const { 200: served_, '503 TENANT_MIGRATING': _, ...rest } = statuses(answers)
  assert.deepEqual(rest, {})
  assert.ok(Number(served_) > names.length)
})
