/**
 * AUT-2, AUT-4: API keys over HTTP: which keys a caller sees, and revocation, which applies from the next request on.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { type Application, assemble } from '../../packages/server/src/server/app.ts'
import { serve } from '../../packages/server/src/server/serve.ts'
import { newDatabase } from '../engine.ts'
import { type Trial, trialFor } from '../harness.ts'
import { sendRaw } from '../raw-client.ts'
import { nowhere } from '../steps.ts'

const box = defineInterface({
  name: 'box',
  resources: { notes: { fields: { text: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } } },
})
const path = '/v1/api-keys'
const start = (t: Parameters<typeof trialFor>[0], memory = true) => trialFor(t, box, { memory })

async function made({ send }: Trial, as: string, body: object = {}) {
  const answer = await send({ path, as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

const revoke = ({ send }: Trial, id: string, as = 'root', headers: Record<string, string> = {}) =>
  send({ method: 'DELETE', path: `${path}/${id}`, as, headers })

describe('visible keys', () => {
  it('AUT-4: administrators see all keys, other callers their own, with exact counts', async (t) => {
    const current = await start(t)
    const own = await made(current, 'ann')
    await made(current, 'bob')
    const seenBy = async (as: string, query = '') => {
      const { status, json, text } = await current.send({ path: `${path}${query}`, as })
      assert.equal(status, 200, text)
      return [
        json.pagination.total_count,
        [...new Set(json.data.map((each: { subject: string }) => each.subject))].sort(),
      ]
    }
    assert.deepEqual(await seenBy('root'), [6, ['ann', 'bob', 'eve', 'root']])
    assert.deepEqual(await seenBy('ann'), [2, ['ann']])
    assert.deepEqual(await seenBy('ann', '?subject=bob'), [0, []])
    assert.deepEqual(await seenBy('root', '?subject=bob&sort=-created_at'), [2, ['bob']])
    assert.deepEqual(await seenBy('root', '?revoked_at[null]=false'), [0, []])
    await revoke(current, own.id, 'ann')
    assert.deepEqual(await seenBy('root', '?revoked_at[null]=false'), [1, ['ann']])
    assert.deepEqual(await seenBy('ann'), [2, ['ann']], 'what is revoked is still shown')
    const asked = await current.send({ method: 'QUERY', path, body: { subject: ['ann', 'bob'] }, as: 'root' })
    assert.equal(asked.json.pagination?.total_count ?? asked.text, 4)
  })

  it('PAG-2: in pages of each style', async (t) => {
    const current = await start(t)
    for (let count = 0; count < 5; count++) await made(current, 'ann')
    for (const query of ['page=2&per_page=2', 'offset=2&limit=2']) {
      const { json } = await current.send({ path: `${path}?${query}&sort=subject`, as: 'ann' })
      assert.deepEqual([json.data.length, json.pagination.total_count], [2, 6])
    }
    const ids = new Set<string>()
    for (let cursor = ''; cursor !== 'null'; ) {
      const { json } = await current.send({ path: `${path}?limit=4${cursor && `&cursor=${cursor}`}`, as: 'ann' })
      for (const { id } of json.data) ids.add(id)
      cursor = String(json.pagination.next_cursor)
    }
    assert.equal(ids.size, 6)
  })

  it('AUT-4: a single key: visible to its owner and administrators; 403 for others, and 404 if it does not exist', async (t) => {
    const current = await start(t)
    const { id, key: _, ...shown } = await made(current, 'ann')
    for (const [as, status] of [
      ['ann', 200],
      ['root', 200],
      ['bob', 403],
      ['eve', 403],
      [null, 401],
    ] as const) {
      const answer = await current.send({ path: `${path}/${id}`, as })
      assert.equal(answer.status, status)
      if (status === 200) assert.deepEqual(answer.json, { id, ...shown })
      assert.equal((await current.send({ path: `${path}/${nowhere}`, as })).status, as === null ? 401 : 404)
    }
  })

  it('CON-1: tags stay the same until something changes', async (t) => {
    const current = await start(t)
    const { id } = await made(current, 'ann')
    const tagOf = async (at: string) => (await current.send({ path: at })).headers.etag ?? ''
    const list = await tagOf(path)
    const one = await tagOf(`${path}/${id}`)
    const statusOf = async (at: string, tag: string) =>
      (await current.send({ path: at, headers: { 'if-none-match': tag } })).status
    assert.deepEqual([await statusOf(path, list), await statusOf(`${path}/${id}`, one)], [304, 304])
    await revoke(current, id)
    assert.deepEqual([await statusOf(path, list), await statusOf(`${path}/${id}`, one)], [200, 200])
    const after = await tagOf(path)
    await made(current, 'bob')
    assert.equal(await statusOf(path, after), 200)
  })

  it('AUT-2: a key shows its last use, which is stored in the background, once a minute at most', async (t) => {
    const current = await start(t, false)
    const { id, key } = await made(current, 'ann')
    const read = () => current.send({ path: `${path}/${id}` })
    await current.send({ path: '/v1/notes', as: key })
    const unwritten = await read()
    assert.equal(unwritten.json.last_used_at, null)
    await current.app.keyUses.keep()
    const written = await read()
    assert.match(written.json.last_used_at, /^\d{4}-.*Z$/)
    assert.notEqual(written.headers.etag, unwritten.headers.etag)
    current.clock.ahead = 30_000
    await current.send({ path: '/v1/notes', as: key })
    await current.app.keyUses.keep()
    assert.equal((await read()).headers.etag, written.headers.etag)
    current.clock.ahead = 61_000
    await current.send({ path: '/v1/notes', as: key })
    await current.app.keyUses.keep()
    assert.ok((await read()).json.last_used_at > written.json.last_used_at)
    const unused = await current.send({ path: `${path}?last_used_at[null]=true` })
    const subjects = unused.json.data.map((each: { subject: string }) => each.subject)
    assert.deepEqual([unused.json.pagination.total_count, subjects.sort()], [2, ['bob', 'eve']])
  })
})

describe('revoking a key', () => {
  it('AUT-2: by its owner or an administrator, once; the key stays visible', async (t) => {
    const current = await start(t)
    const { id, key } = await made(current, 'ann')
    for (const as of ['bob', 'eve']) assert.equal((await revoke(current, id, as)).status, 403)
    assert.equal((await revoke(current, id, String(null))).status, 401)
    const answer = await revoke(current, id, 'ann', { prefer: 'return=representation, respond-async' })
    assert.deepEqual([answer.status, answer.text, answer.headers['cache-control']], [204, '', 'no-store'])
    assert.equal((await current.send({ path: '/v1/notes', as: key })).status, 401)
    for (const as of ['ann', 'root']) {
      assert.equal((await revoke(current, id, as)).status, 404)
      const { json } = await current.send({ path: `${path}/${id}`, as })
      assert.ok(json.revoked_at !== null && json.revoked_at === json.updated_at)
    }
    assert.equal((await revoke(current, id, 'bob')).status, 403)
    assert.equal((await revoke(current, nowhere)).status, 404)
    const byAdministrator = await made(current, 'ann')
    assert.equal((await revoke(current, byAdministrator.id, 'root')).status, 204)
  })

  it('CON-3: with a condition, only if the condition holds', async (t) => {
    const current = await start(t)
    const { id, key } = await made(current, 'ann')
    assert.equal((await revoke(current, id, 'ann', { 'if-match': '"another"' })).status, 412)
    assert.equal((await current.send({ path: '/v1/notes', as: key })).status, 200)
    const { etag = '' } = (await current.send({ path: `${path}/${id}` })).headers
    assert.equal((await revoke(current, id, 'ann', { 'if-match': etag })).status, 204)
    assert.equal((await revoke(current, id, 'ann', { 'if-match': etag })).status, 404)
  })

  it('MET-6: keys cannot be changed or restored', async (t) => {
    const current = await start(t)
    const { id } = await made(current, 'ann')
    for (const method of ['PUT', 'PATCH', 'POST']) {
      const answer = await current.send({ method, path: `${path}/${id}`, body: { revoked_at: null } })
      assert.deepEqual([answer.status, answer.headers['allow']], [405, 'GET, HEAD, DELETE, OPTIONS'])
    }
    const options = await current.send({ method: 'OPTIONS', path: `${path}/${id}`, as: 'bob' })
    assert.deepEqual([options.status, options.headers['allow']], [204, 'GET, HEAD, DELETE, OPTIONS'])
    assert.equal((await current.send({ method: 'POST', path: `${path}/${id}/restore`, body: {} })).status, 404)
  })

  for (const memory of [true, false]) {
    it(`AUT-2: applies from the next request on, to pipelined requests too (${memory ? 'memory' : 'file'})`, async (t) => {
      const current = await start(t, memory)
      const { id, key } = await made(current, 'ann')
      const ask = async () => (await current.send({ path: '/v1/notes', as: key })).status
      assert.equal(await ask(), 200, 'and now it is remembered')
      const write = current.send({ path: '/v1/notes', as: key, body: { text: 'before' } })
      const revoked = revoke(current, id, key)
      const behind = Array.from({ length: 5 }, ask)
      const writeBehind = current.send({ path: '/v1/notes', as: key, body: { text: 'behind' } })
      const others = current.send({ path: '/v1/notes', as: 'ann' })
      assert.deepEqual([(await write).status, (await revoked).status, (await others).status], [201, 204, 200])
      assert.deepEqual(await Promise.all(behind), Array(5).fill(401))
      assert.equal((await writeBehind).status, 401)
      assert.equal(await ask(), 401)
      assert.equal((await current.send({ path: '/v1/notes' })).json.pagination.total_count, 1)
    })
  }

  it('AUT-2: any spelling of the path works, and one of many concurrent requests revokes', async (t) => {
    const current = await start(t)
    const { id, key } = await made(current, 'ann')
    const written = `/v1/%61pi-keys/${id.replace('-', '%2D')}`
    const first = current.send({ method: 'DELETE', path: written, as: key })
    const others = Array.from({ length: 5 }, () => revoke(current, id, key))
    const administrators = Array.from({ length: 5 }, () => revoke(current, id, 'root'))
    const own = (await Promise.all([first, ...others])).map(({ status }) => status)
    const theirs = (await Promise.all(administrators)).map(({ status }) => status)
    // Which of them is first, an engine with many writers decides.
    assert.equal([...own, ...theirs].filter((status) => status === 204).length, 1)
    assert.ok(own.every((status) => [204, 401, 404].includes(status)))
    assert.ok(theirs.every((status) => [204, 404].includes(status)))
  })

  it('AUT-2: a refused revocation leaves the key valid', async (t) => {
    const current = await start(t)
    const { id, key } = await made(current, 'ann')
    const refused = revoke(current, id, 'bob')
    const behind = current.send({ path: '/v1/notes', as: key })
    assert.deepEqual([(await refused).status, (await behind).status], [403, 200])
  })

  it('AUT-4: a caller who revokes their own key cannot create another in the next request', async (t) => {
    const current = await start(t)
    const { id, key } = await made(current, 'ann')
    const revoked = revoke(current, id, key)
    const behind = current.send({ path, as: key, body: {} })
    assert.deepEqual([(await revoked).status, (await behind).status], [204, 401])
  })

  it('AUT-2: applies to later requests on the same connection too', async (t) => {
    const { address } = await newDatabase({ memory: true })
    const serving = await serve({
      ...{ catalog: completeCatalog(box), database: address, host: '127.0.0.1', port: 0, http: true },
    })
    t.after(() => serving.close())
    const { key, stored } = makeKey('ann', [], null)
    await serving.app.storage.keys.add(stored)
    const head = (method: string, at: string) =>
      `${method} ${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const notes = head('GET', '/v1/notes')
    const bytes = notes + head('DELETE', `${path}/${stored.id}`) + notes + notes
    const { answers } = await sendRaw(new URL(serving.url).origin, bytes, { answers: 4 })
    const [before, ...rest] = answers.map(({ status }) => status)
    // What came before it is under way at the same time: on an engine of many connections it may be later.
    assert.ok(before === 200 || before === 401)
    assert.deepEqual(rest, [204, 401, 401])
  })

  it('AUT-2: applies to every other server of the database within five seconds', async (_t) => {
    const database = await newDatabase()
    const catalog = completeCatalog(box)
    let ahead = 0
    const now = () => Date.now() + ahead
    const open = async () => assemble(catalog, await database.open(catalog), { now })
    const [here, there] = [await open(), await open()]
    const { key, stored } = makeKey('ann', [], null)
    await here.storage.keys.add(stored)
    const ask = async (app: Application) => {
      const request = { method: 'GET', target: '/v1/notes', headers: { authorization: `Bearer ${key}` } }
      const readBody = async () => new Uint8Array()
      return (await app.respond({ ...request, secure: true, address: '127.0.0.1', readBody })).status
    }
    assert.deepEqual([await ask(here), await ask(there)], [200, 200])
    await here.respond({
      ...{
        method: 'DELETE',
        target: `${path}/${stored.id}`,
        headers: { authorization: `Bearer ${key}` },
        secure: true,
      },
      ...{ address: '127.0.0.1', readBody: async () => new Uint8Array() },
    })
    assert.equal(await ask(here), 401)
    ahead = 5_000
    assert.equal(await ask(there), 401)
    await Promise.all([here.close(), there.close()])
  })
})
