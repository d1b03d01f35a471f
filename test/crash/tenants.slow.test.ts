/** TEN-1, TEN-3, TEN-4: a server that is killed while it creates, migrates or removes tenants goes on where it was. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { openKeys } from '../../packages/server/src/server/open-database.ts'
import { type Answer, clientOf, isConnectionLost, type Send } from '../durability/client.ts'
import { databaseFile, startServer } from '../durability/command.ts'
import { sqliteOnly } from '../engine.ts'

const kills = Number(process.env.KILLS ?? 5)
const path = '/v1/notes'
const skip = sqliteOnly('it is about files')

function declarationOf(fields: object = {}): InterfaceDeclaration {
  return {
    name: 'notes',
    tenants: { caller: 'claims.team', create: 'first-use', gracePeriod: 'PT1S' },
    resources: {
      notes: {
        access: { read: 'anyone', create: 'anyone' },
        fields: { text: { type: 'string', unique: true }, ...fields },
      },
    },
  }
}

/** A folder with a declaration, and a key for each tenant and for the operator. */
async function prepared(context: TestContext, names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-tenants-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const declare = (declaration: InterfaceDeclaration) =>
    writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  declare(declarationOf())
  const { keys, close } = await openKeys({ database: `sqlite:${databaseFile(folder)}` })
  const made = new Map<string, string>()
  for (const name of ['', ...names]) {
    const key = newKey()
    made.set(name, key)
    const caller = name === '' ? { roles: ['operator'] } : { roles: ['admin'], claims: { team: name } }
    const stored = { id: uuidv7(), hash: hashOfKey(key), hint: hintOfKey(key), subject: 'ann', expires_at: null }
    await keys.add({ ...stored, ...caller, created_at: new Date().toISOString(), revoked_at: null })
  }
  await close()
  return { folder, declare, keys: made as ReadonlyMap<string, string> }
}

type Prepared = Awaited<ReturnType<typeof prepared>>

/** Runs a server until the work has ended, or until it is killed after some time. */
async function serving<T>(
  { folder, keys }: Prepared,
  work: (send: (as: string, ...rest: Parameters<Send>) => Promise<Answer>) => Promise<T>,
  after?: number,
): Promise<T | undefined> {
  const server = await startServer(folder)
  const clients = new Map([...keys].map(([name, key]) => [name, clientOf(server.origin, key)]))
  const killing = after === undefined ? undefined : sleep(after).then(() => server.child.kill('SIGKILL'))
  try {
    return await work((as, ...rest) => clients.get(as)!.send(...rest))
  } catch (error) {
    if (killing === undefined || !isConnectionLost(error)) throw error
    return undefined
  } finally {
    await killing
    for (const { close } of clients.values()) close()
    server.child.kill('SIGTERM')
    await server.ended
  }
}

async function whole(asking: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const answer = await asking()
    if (answer.status !== 503 || attempt === 500) return answer
    await sleep(20)
  }
}

test(`TEN-1: first uses, killed at ${kills} moments, lose nothing that was acknowledged`, { skip }, async (context) => {
  const names = Array.from({ length: 10 }, (_, index) => `tenant-${index}`)
  const place = await prepared(context, names)
  const acknowledged = new Map<string, Set<string>>(names.map((name) => [name, new Set<string>()]))
  for (let round = 0; round < kills; round++) {
    const create = (send: Parameters<Parameters<typeof serving>[1]>[0]) => async (name: string) => {
      for (let number = 0; number < 5; number++) {
        const text = `${name} ${round} ${number}`
        const { status } = await send(name, 'POST', path, { body: { text } })
        assert.equal(status, 201)
        acknowledged.get(name)?.add(text)
      }
    }
    const all = (send: Parameters<Parameters<typeof serving>[1]>[0]) => Promise.all(names.map(create(send)))
    await serving(place, all, 20 + Math.random() * 400)
  }
  await serving(place, async (send) => {
    const { json: tenants } = await send('', 'GET', '/v1/tenants?limit=100')
    const found = tenants.data.map(({ name }: { name: string }) => name)
    assert.equal(new Set(found).size, found.length)
    for (const name of names) {
      const { json } = await send(name, 'GET', `${path}?limit=100`)
      const texts = json.data.map(({ text }: { text: string }) => text)
      assert.equal(texts.length, json.pagination.total_count)
      for (const text of acknowledged.get(name) ?? []) assert.ok(texts.includes(text), text)
      for (const text of texts) assert.ok(text.startsWith(`${name} `), text)
    }
  })
})

test(`TEN-4: a migration of tenants, killed at ${kills} moments, ends`, { skip }, async (context) => {
  const names = Array.from({ length: 30 }, (_, index) => `tenant-${index}`)
  const place = await prepared(context, names)
  await serving(place, (send) => Promise.all(names.map((name) => send(name, 'POST', path, { body: { text: name } }))))
  place.declare(declarationOf({ more: { type: 'string', default: 'new' } }))
  for (let round = 0; round < kills; round++) await serving(place, () => sleep(2_000), Math.random() * 300)
  await serving(place, async (send) => {
    for (const name of names) {
      const { status, json } = await whole(() => send(name, 'GET', path))
      assert.equal(status, 200)
      assert.deepEqual([json.data.length, json.data[0].text, json.data[0].more], [1, name, 'new'])
    }
  })
})

test(`TEN-3: a removal of tenants, killed at ${kills} moments, ends, and no other tenant loses anything`, {
  skip,
}, async (context) => {
  const names = Array.from({ length: 12 }, (_, index) => `tenant-${index}`)
  const [gone, kept] = [names.slice(0, 8), names.slice(8)]
  const place = await prepared(context, names)
  await serving(place, async (send) => {
    await Promise.all(names.map((name) => send(name, 'POST', path, { body: { text: name } })))
    const { json } = await send('', 'GET', '/v1/tenants?limit=100')
    for (const { id, name } of json.data) {
      if (gone.includes(name)) assert.equal((await send('', 'DELETE', `/v1/tenants/${id}`)).status, 204)
    }
  })
  await sleep(1_500)
  const folder = `${databaseFile(place.folder)}-tenants`
  const left = () => new Set(readdirSync(folder).map((file) => file.slice(0, 36))).size
  for (let round = 0; round < kills; round++) await serving(place, () => sleep(2_000), Math.random() * 200)
  await serving(place, async (send) => {
    for (let attempt = 0; attempt < 3_000; attempt++) {
      const { json } = await send('', 'GET', '/v1/tenants?limit=100&include_deleted=true')
      if (json.data.length === kept.length && left() === kept.length) break
      await sleep(20)
    }
    assert.equal(left(), kept.length)
    for (const name of kept) {
      const { json } = await send(name, 'GET', path)
      assert.deepEqual(
        json.data.map(({ text }: { text: string }) => text),
        [name],
      )
    }
    // The names are free again, and belong to new tenants.
    for (const name of gone) assert.deepEqual((await send(name, 'GET', path)).json.data, [])
  })
  assert.ok(existsSync(folder))
})
