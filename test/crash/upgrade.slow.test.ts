/**
 * VER-2: a server with version 3 serves the database of version 1, and clients of version 1 read byte-identical
 * responses.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import type { HttpRequest } from '../../packages/server/src/http/message.ts'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { assemble } from '../../packages/server/src/server/app.ts'
import { MigrationRefused } from '../../packages/server/src/storage/migration/migration-step.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { commandFile } from '../command-file.ts'
import { desk, deskAtFirst } from '../declarations-desk.ts'
import { newDatabase, type TrialDatabase } from '../engine.ts'

const key = newKey()

async function serve(declaration: InterfaceDeclaration, database: TrialDatabase) {
  const versions = completeVersions(declaration)
  const { stored: catalog } = versions
  const storage = await database.open(catalog)
  const app = assemble(catalog, storage, { rateLimit: 'off', versions })
  if ((await storage.keys.list()).length === 0) {
    const created_at = new Date().toISOString()
    const stored = { id: uuidv7(), hash: hashOfKey(key), hint: hintOfKey(key), subject: 'root', roles: ['admin'] }
    await storage.keys.add({ ...stored, expires_at: null, created_at, revoked_at: null })
  }
  const ask = async (method: string, target: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const readBody = async () => Buffer.from(JSON.stringify(body))
    const request: HttpRequest = { method, target, headers, secure: true, address: '::1', readBody }
    const { status, headers: fields, body: text } = await app.respond(request)
    return { status, tag: fields['ETag'], total: fields['X-Total-Count'], text: String(text ?? '') }
  }
  return { ask, close: () => app.close() }
}

type Serving = Awaited<ReturnType<typeof serve>>

const paths = [
  ...[
    '',
    '?sort=-price',
    '?q=broken',
    '?subject[contains]=KEY&sort=subject',
    '?price[gte]=5',
    '?state=done',
    '?limit=3',
  ],
  ...['?colour[null]=true', '?code=C5', '?fields=subject,price'],
].map((query) => `/v1/tickets${query}`)

async function readAll({ ask }: Serving, ids: readonly string[]) {
  const seen: unknown[] = []
  for (const path of [...paths, ...ids.map((id) => `/v1/tickets/${id}`), '/v1/people']) {
    const answer = await ask('GET', path)
    // These are others each time.
    const text = answer.text.replaceAll(/"(next_cursor|request_id)":"[^"]*"/g, '"$1":"…"')
    seen.push({ path, ...answer, text })
  }
  return seen
}

async function fill({ ask }: Serving): Promise<string[]> {
  const person = JSON.parse((await ask('POST', '/v1/people', { name: 'Ann' })).text)
  const ids: string[] = []
  for (let index = 0; index < 12; index++) {
    const subject = `${index % 2 === 0 ? 'Broken' : 'Lost'} key ${index}`
    const code = index % 5 === 0 ? { code: `C${index}` } : {}
    const body = { subject, price: index * 1.25, state: index % 3 === 0 ? 'done' : 'new', asker_id: person.id, ...code }
    const answer = await ask('POST', '/v1/tickets', body)
    assert.equal(answer.status, 201, answer.text)
    ids.push(JSON.parse(answer.text).id)
  }
  await ask('PUT', `/v1/tickets/${ids[0]}`, { subject: 'Broken again', asker_id: person.id, code: 'C0', state: 'done' })
  await ask('DELETE', `/v1/tickets/${ids[1]}`)
  return ids
}

test('VER-2: a database of version 1 is migrated to version 3 at start; version 1 reads as before', async () => {
  const database = await newDatabase()
  const before = await serve(deskAtFirst, database)
  const ids = await fill(before)
  const read = await readAll(before, ids)
  await before.close()

  // What version 2 has dropped had values that none has any more: nobody is asked about an empty column.
  const after = await serve(desk, database)
  assert.deepEqual(await readAll(after, ids), read)
  const { data } = JSON.parse((await after.ask('GET', '/v3/cases?sort=-cents&limit=1')).text)
  const { headline, cents, state, labels } = data[0]
  assert.deepEqual(
    { headline, cents, state, labels },
    { headline: 'Lost key 11', cents: 1375, state: 'open', labels: null },
  )
  assert.equal((await after.ask('POST', `/v1/tickets/${ids[1]}/restore`)).status, 200)
  assert.equal((await after.ask('GET', '/v3/cases?q=again')).total, '1')
  await after.close()

  // There is nothing left to do.
  const unchanged = await database.open(completeVersions(desk).stored, { migrate: 'never' })
  await unchanged.close()
})

test('VER-2: values of a dropped field are dropped with `all` only', async () => {
  const database = await newDatabase()
  const before = await serve(deskAtFirst, database)
  const person = JSON.parse((await before.ask('POST', '/v1/people', { name: 'Ann' })).text)
  await before.ask('POST', '/v1/tickets', { subject: 'Red', colour: 'red', asker_id: person.id })
  await before.close()
  const catalog = completeVersions(desk).stored
  const refused = await database.open(catalog).catch((error: unknown) => error)
  assert.ok(refused instanceof MigrationRefused)
  const sentences = refused.steps.map(({ sentence }) => sentence)
  for (const expected of [
    'rename the table tickets to cases',
    'convert the values of cases.cents',
    'drop the column cases.colour',
  ]) {
    assert.ok(
      sentences.some((sentence) => sentence.includes(expected)),
      `${expected} is not among ${sentences.join('; ')}`,
    )
  }
  await (await database.open(catalog, { migrate: 'all' })).close()
  const after = await serve(desk, database)
  assert.equal(JSON.parse((await after.ask('GET', '/v1/tickets')).text).data[0].colour, null)
  await after.close()
})

test('VER-2: a new database, and one that was converted before, are not converted again', async () => {
  const database = await newDatabase()
  for (let start = 0; start < 3; start++) {
    const { ask, close } = await serve(desk, database)
    if (start === 0) {
      const person = JSON.parse((await ask('POST', '/v3/people', { name: 'Ann' })).text)
      assert.equal((await ask('POST', '/v3/cases', { headline: 'One', cents: 250, person_id: person.id })).status, 201)
    }
    assert.equal(JSON.parse((await ask('GET', '/v3/cases')).text).data[0].cents, 250)
    assert.equal(JSON.parse((await ask('GET', '/v1/tickets')).text).data[0].price, 2.5)
    await close()
  }
})

test('VER-2: values are converted once, on the first of many starts', async () => {
  const database = await newDatabase()
  const access = { read: 'anyone', create: 'anyone' } as const
  const things = (field: string): InterfaceDeclaration['resources'] => ({
    things: { fields: { [field]: { type: 'number' } }, access },
  })
  const first = await serve({ name: 'money', versions: { v1: {} }, resources: things('price') }, database)
  assert.equal((await first.ask('POST', '/v1/things', { price: 2.5 })).status, 201)
  await first.close()
  const money: InterfaceDeclaration = {
    ...{ name: 'money', versions: { v1: {}, v2: {} }, resources: things('price') },
    changes: [
      {
        version: 'v2',
        resource: 'things',
        convert: {
          price: {
            schema: { type: 'number' },
            older: (cents: number) => cents / 100,
            newer: (price: number) => price * 100,
          },
        },
      },
    ],
  }
  for (let start = 0; start < 3; start++) {
    const { ask, close } = await serve(money, database)
    assert.equal(JSON.parse((await ask('GET', '/v2/things')).text).data[0].price, 250)
    assert.equal(JSON.parse((await ask('GET', '/v1/things')).text).data[0].price, 2.5)
    await close()
  }
})

test('VER-2: the command shows and makes the changes that the next version needs', async (context) => {
  const database = await newDatabase()
  const before = await serve(deskAtFirst, database)
  await fill(before)
  await before.close()
  const folder = mkdtempSync(join(tmpdir(), 'resourced-upgrade-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'desk.ts')
  writeFileSync(
    file,
    `export { desk as default } from ${JSON.stringify(join(import.meta.dirname, '../declarations-desk.ts'))}\n`,
  )
  const run = (...options: string[]) => {
    const args = [commandFile, 'migrate', file, '--database', database.address, ...options]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return stdout
  }
  const shown = run()
  for (const expected of ['rename the table tickets to cases', 'price to cents', 'convert the values of cases.state']) {
    assert.ok(shown.includes(expected), shown)
  }
  assert.match(run('--apply'), /Done\./)
  assert.match(run(), /nothing to do/)
})
