/** TEN-2: nothing of a tenant reaches another. Each thing of one is tried with the credential of another. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { uuidv7 } from 'uuidv7'
import { openApiDocument } from '../../packages/server/src/documents/openapi.ts'
import { isStream } from '../../packages/server/src/http/message.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import type { Received } from '../harness.ts'
import * as isolation from './isolation.ts'
import { createTenants, member, operator, outcomeOf, type TenantTrial, tenantTrial } from './tenants.ts'

const { bases, declaration } = isolation
const [acme, globex, twin] = [member('acme'), member('globex'), member('twin')]
let current: TenantTrial
let acmeId: string
let held: ReadonlyMap<string, isolation.Holdings>

const uuid = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g
const moment = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** An answer without the ids and times that it names, which differ between any two answers. */
function shape({ status, headers, text }: Received): object {
  const kept = Object.entries(headers).filter(([name]) => !['request-id', 'location', 'etag'].includes(name))
  const plain = (value: string) => value.replaceAll(uuid, 'ID').replaceAll(moment, 'TIME')
  return { status, headers: kept.map(([name, value]) => [name, plain(String(value))]).toSorted(), text: plain(text) }
}

type Request = Omit<Parameters<TenantTrial['send']>[0], 'as'>

/** Sends what names something of a tenant as a caller of another, and the same with an id that nobody has. */
async function sameAsUnknown(as: isolation.Caller, id: string, request: (id: string) => Request): Promise<void> {
  const [found, control] = [request(id), request(uuidv7())]
  const [answer, expected] = [await current.send({ ...found, as }), await current.send({ ...control, as })]
  assert.deepEqual(shape(answer), shape(expected), `${found.method} ${found.path} ${JSON.stringify(found.body)}`)
}

/** What is of acme, through the current version. */
const own = () => held.get('/v1') as isolation.Holdings
const idOf = (collection: string) => own().ids.get(collection)?.[0] as string

describe('TEN-2: nothing of a tenant reaches another', () => {
  before(async () => {
    current = await tenantTrial(declaration)
    ;[acmeId] = (await createTenants(current, 'acme', 'globex')) as [string, string]
    await Promise.all([acme, globex].map((as) => isolation.fillTenant(current, as)))
    // Everything in it has the same ids and revisions.
    await isolation.copyTenant(current, acmeId, 'twin')
    await isolation.whenServed(current, twin)
    const read = async (base: string) => [base, await isolation.holdingsOf(current, acme, base)] as const
    held = new Map(await Promise.all(bases.map(read)))
  })
  after(() => current.close())

  it('addresses are the same as those of nothing, by every method, in every version', async () => {
    const before = await isolation.dumpOf(current, acmeId)
    const { paths } = openApiDocument(completeVersions(declaration).stored) as { paths: Record<string, object> }
    const bodies: Record<string, object> = { put: { name: 'x' }, patch: { name: 'x' } }
    let tried = 0
    for (const [path, operations] of Object.entries(paths)) {
      const collection = path.split('/')[1] as string
      if (!path.includes('{id}') || collection === 'tenants') continue
      assert.ok(idOf(collection) !== undefined, `acme has something in ${collection}`)
      const methods = Object.keys(operations).filter((each) => each !== 'parameters')
      for (const method of [...methods, 'head', 'options']) {
        const body = bodies[method] ?? (method === 'post' && path.endsWith('/members') ? { name: 'x' } : undefined)
        for (const base of bases) {
          tried++
          const at = (id: string) => ({ method: method.toUpperCase(), path: base + path.replace('{id}', id), body })
          await sameAsUnknown(globex, idOf(collection), at)
        }
      }
    }
    assert.ok(tried > 100, String(tried))
    assert.equal(await isolation.dumpOf(current, acmeId), before)
  })

  it('ids in bodies and parameters are the same as those of nothing', async () => {
    const before = await isolation.dumpOf(current, acmeId)
    const { data } = (await current.send({ path: '/v1/teams', as: globex })).json
    const members = `/v1/teams/${data[0].id}/members`
    const post =
      (path: string, body: (id: string) => object, method = 'POST') =>
      (id: string) => ({
        ...{ method, path, body: body(id) },
      })
    const get = (path: string) => (id: string) => ({ method: 'GET', path: path.replace('ID', id) })
    const [team, person] = [idOf('teams'), idOf('members')]
    const operation = (id: string, method: string) => ({ method, path: `/teams/${id}` })
    const asked: [string, (id: string) => Request][] = [
      [person, post(members, (chief_id) => ({ name: 'x', chief_id }))],
      [team, post('/v1/members', (team_id) => ({ name: 'x', team_id }))],
      [team, post('/v1/members', (team_id) => [{ name: 'x', team_id }] as object)],
      [team, post('/v1/teams', (id) => [{ id, name: 'x' }] as object, 'PATCH')],
      [team, post('/v1/teams/bulk-delete', (id) => ({ ids: [id] }))],
      [team, post('/v1/transactions', (id) => ({ operations: [{ ...operation(id, 'PATCH'), body: { name: 'x' } }] }))],
      [team, post('/v1/transactions', (id) => ({ operations: [operation(id, 'DELETE')] }))],
      [idOf('events'), post('/v1/deliveries', (event_id) => ({ event_id, webhook_id: idOf('webhooks') }))],
      [idOf('webhooks'), post('/v1/deliveries', (webhook_id) => ({ event_id: uuidv7(), webhook_id }))],
      [team, get('/v1/members?team_id=ID')],
      [team, get('/v1/members?team_id.in=ID')],
      [team, get('/v1/teams?where={"id":"ID"}')],
      [person, get('/v1/members?where={"chief_id":"ID"}&include=chief_id,team_id')],
      [person, get('/v1/members/ID?include=team_id')],
      [team, post('/v1/members', (id) => ({ where: { team_id: id } }), 'QUERY')],
      [team, post('/v1/exports', (team_id) => ({ collection: 'members', format: 'json', filter: { team_id } }))],
      [idOf('jobs'), get('/v1/jobs?where={"id":"ID"}')],
      [team, get('/v1/events?record_id=ID')],
    ]
    for (const [id, request] of asked) await sameAsUnknown(globex, id, request)
    assert.equal(await isolation.dumpOf(current, acmeId), before)
  })

  it('no cursor is valid in another tenant, even at the same address', async () => {
    for (const [base, { pages }] of held) {
      assert.ok(pages.length > 20, `${base}: ${pages.length}`)
      for (const { address, method, body, cursor } of pages) {
        const request =
          method === 'QUERY'
            ? { method, path: address, body: { ...body, cursor } }
            : { method, path: `${address}&cursor=${encodeURIComponent(cursor)}` }
        assert.equal((await current.send({ ...request, as: acme })).status, 200, address)
        const outcome = outcomeOf(await current.send({ ...request, as: twin }))
        assert.equal(outcome, '400 INVALID_CURSOR', `${method} ${address}`)
      }
    }
  })

  it('no tag is valid in another tenant, even of the same content', async () => {
    const range = 'bytes=0-3'
    const tryTag = async (path: string, tag: string, [own, other]: readonly [isolation.Caller, isolation.Caller]) => {
      const ask = async (as: isolation.Caller, headers: Record<string, string>) =>
        (await current.send({ path, as, headers })).status
      assert.equal(await ask(own, { 'if-none-match': tag }), 304, path)
      assert.equal(await ask(other, { 'if-none-match': tag }), 200, path)
      assert.equal(await ask(other, { 'if-match': tag }), 412, path)
      // The document does not tell the header fields of a part of a revision.
      if (path.includes('/revisions/')) return
      assert.equal(await ask(own, { range, 'if-range': tag }), 206, path)
      assert.equal(await ask(other, { range, 'if-range': tag }), 200, path)
    }
    for (const { answers } of held.values()) {
      for (const [path, { headers }] of answers) {
        if (headers['etag'] !== undefined) await tryTag(path, headers['etag'], [acme, twin])
      }
    }
    // Who may read a part of a collection has tags of what is seen.
    const readers = ['acme', 'twin'].map((team) => member(team, 'eve', ['reader'])) as [
      isolation.Caller,
      isolation.Caller,
    ]
    for (const path of ['/v1/teams', '/v1/teams/summary', '/v1/members?include=team']) {
      const { status, headers } = await current.send({ path, as: readers[0] })
      assert.equal(status, 200, path)
      await tryTag(path, headers['etag'] as string, readers)
    }
  })

  it('no tag lets a change of another tenant pass', async () => {
    const before = await isolation.dumpOf(current, acmeId)
    for (const [path, { headers: had }] of own().answers) {
      const collection = /^\/v1\/(teams|members|webhooks|api-keys|jobs)\/[^/?]+$/.exec(path)?.[1]
      if (collection === undefined || path.endsWith('/summary')) continue
      const isRecord = collection === 'teams' || collection === 'members'
      const methods = isRecord ? ['PUT', 'PATCH', 'DELETE'] : ['DELETE']
      for (const method of methods) {
        const body = method === 'DELETE' ? undefined : { name: 'x' }
        const answer = await current.send({ method, path, as: twin, body, headers: { 'if-match': had['etag'] ?? '' } })
        assert.equal(answer.status, 412, `${method} ${path}: ${answer.text}`)
      }
    }
    assert.equal(await isolation.dumpOf(current, acmeId), before)
  })

  it('no position of a stream is valid in another tenant', async () => {
    const path = '/v1/events'
    const headers = { 'x-caller': JSON.stringify({ ...acme, expiresAt: 4e12 }), accept: 'text/event-stream' }
    const { body } = await current.app.respond({
      ...{ method: 'GET', target: path, headers: { ...headers, 'last-event-id': idOf('events') } },
      ...{ secure: true, address: '127.0.0.1', readBody: async () => new Uint8Array() },
    })
    assert.ok(isStream(body))
    let text = ''
    const end = () => {}
    body.open({ write: (piece) => (text += Buffer.from(piece)) !== '', end, abort: end })
    for (let attempt = 0; !/^id: ?./m.test(text) && attempt < 6_000; attempt++) await sleep(10)
    body.closed()
    const token = /^id: ?(.+)$/m.exec(text)?.[1] as string
    const from = async (as: isolation.Caller, position: string) => {
      const asked = { accept: 'text/event-stream', 'last-event-id': position }
      return outcomeOf(await current.send({ method: 'HEAD', path, as, headers: asked }))
    }
    assert.equal(await from(acme, token), '200')
    for (const as of [twin, globex]) assert.equal(await from(as, token), await from(as, 'A'.repeat(22)))
    assert.equal(await from(twin, token), '400 INVALID_CURSOR')
    assert.equal(await from(globex, idOf('events')), await from(globex, uuidv7()))
  })

  it('an idempotency key of another tenant is a new one', async () => {
    const headers = { 'idempotency-key': '"shared"' }
    const make = (as: isolation.Caller, name: string) =>
      current.send({ path: '/v1/teams', as, body: { name }, headers })
    const made = await make(acme, 'once')
    assert.deepEqual((await make(acme, 'once')).json, made.json)
    const [other, more] = [await make(globex, 'once'), await make(twin, 'another')]
    assert.deepEqual([other.status, more.status], [201, 201])
    assert.notEqual(other.json.id, made.json.id)
  })

  it('a claim names the tenant with exactly its name, and nothing else names one', async () => {
    const outcome = async (team: unknown, more: object = {}) =>
      outcomeOf(await current.send({ path: '/v1/teams', as: { ...member(team), ...more } }))
    for (const team of [['acme'], { name: 'acme' }, 1, true, [], {}]) {
      assert.equal(await outcome(team), '403 NO_TENANT', JSON.stringify(team))
      assert.equal(await outcome(team, { roles: ['operator'] }), '403 NO_TENANT', JSON.stringify(team))
    }
    const near = ['', ' acme', 'acme\u0000', 'ACME', '\uff41cme', 'acme\u200b', '../acme', `acme'--`, 'a%63me', acmeId]
    for (const team of [...near, 'x'.repeat(129), '🐘'.repeat(129), '\ud800']) {
      assert.equal(await outcome(team), '403 UNKNOWN_TENANT', JSON.stringify(team))
      assert.equal(await outcome(team, { roles: ['operator', 'admin'] }), '403 UNKNOWN_TENANT', JSON.stringify(team))
    }
    for (const more of [{ tenant: 'acme' }, { claims: { tenant: 'acme' } }, { claims: { 'claims.team': 'acme' } }]) {
      assert.equal(await outcome(undefined, more), '403 NO_TENANT', JSON.stringify(more))
    }
    assert.equal(await outcome('globex', { tenant: 'acme', claims: { team: 'nobody' } }), '403 UNKNOWN_TENANT')
  })

  it('a name is a name, whatever it means elsewhere', async () => {
    const names = ['../../acme', '..', '/', 'acme/../globex', '%2e%2e%2f', `'; drop table teams; --`, '"', '$(id)']
    const hostile = [
      ...names,
      '*',
      'NULL',
      'undefined',
      '__proto__',
      'constructor',
      '🐘'.repeat(128),
      '\u202e',
      'ﬀ',
      '\u00e9',
    ]
    const before = await isolation.dumpOf(current, acmeId)
    await createTenants(current, ...hostile)
    for (const [index, team] of [...hostile, 'e\u0301'].entries()) {
      const as = member(team)
      if (index === hostile.length) {
        assert.equal(outcomeOf(await current.send({ path: '/v1/teams', as })), '403 UNKNOWN_TENANT')
        continue
      }
      assert.equal((await current.send({ path: '/v1/teams', as, body: { name: 'red team' } })).status, 201, team)
      const { data } = (await current.send({ path: '/v1/teams', as })).json
      assert.deepEqual(
        data.map(({ name }: { readonly name: string }) => name),
        ['red team'],
        team,
      )
      const path = `/v1/tenants?name=${encodeURIComponent(team)}`
      const found = (await current.send({ path, as: operator })).json.data
      assert.deepEqual(
        found.map(({ name }: { readonly name: string }) => name),
        [team],
      )
    }
    assert.equal(await isolation.dumpOf(current, acmeId), before)
  })
})
