/** AUT-2: JWTs of an issuer as credentials, in complete requests. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { Type } from 'typebox'
import {
  assembled,
  audience,
  claimsAt,
  issuer,
  type KeyServer,
  keyServer,
  pairOf,
  sign,
} from '../../../packages/server/src/policy/jwt.fixture.ts'
import type { JwtOptions } from '../../../packages/server/src/policy/jwt-settings.ts'
import { createApp } from '../../../packages/server/src/server/create-app.ts'
import { readJwt } from '../../../packages/server/src/server/jwt.ts'
import { logTo } from '../../../packages/server/src/server/observe/log.ts'
import { studio } from '../../declarations.ts'
import { type Trial, trialFor } from '../../harness.ts'

const board = defineInterface({
  name: 'board',
  resources: {
    notes: {
      fields: { text: Type.String({ search: true }), owner_id: Type.String({ readOnly: true }) },
      owner: 'owner_id',
      access: { read: 'owner', create: 'anyone', update: 'owner' },
    },
    plans: {
      fields: { text: Type.String(), team: Type.Optional(Type.String({ filter: true })) },
      access: {
        read: [
          { where: { team: { caller: 'claims.team' } } },
          { where: { team: { in: [{ caller: 'claims.teams' }] } } },
        ],
        create: 'role:editor',
      },
    },
  },
})

const pair = await pairOf('key')
const stranger = await pairOf('key')

interface Tokens extends Trial {
  readonly server: KeyServer
  /** A token with these claims beside those that it must have. */
  token(claims?: Readonly<Record<string, unknown>>): Promise<string>
}

/** An interface that accepts the tokens of an issuer whose keys are on a real server. */
async function started(
  context: TestContext,
  declaration: Parameters<typeof trialFor>[1] = board,
  options: Partial<JwtOptions> = {},
): Promise<Tokens> {
  const server = await keyServer(context, pair)
  const jwt = readJwt({ issuer, audience, jwks: server.url, ...options })
  assert.ok(jwt !== undefined)
  const current = await trialFor(context, declaration, { memory: true, jwt })
  return { ...current, server, token: (claims) => sign(pair, { ...claimsAt(Date.now()), ...claims }) }
}

describe('tokens as credentials', () => {
  it('AUT-2: a key that is created with a token expires with the token, and has only roles of the token', async (t) => {
    const { send, token } = await started(t)
    const exp = Math.floor(Date.now() / 1_000) + 600
    const as = await token({ sub: 'ann', roles: ['editor'], exp })
    const made = await send({ path: '/v1/api-keys', body: {}, as })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual([made.json.subject, made.json.roles], ['ann', ['editor']])
    assert.equal(Date.parse(made.json.expires_at), exp * 1_000)
    const longer = { expires_at: new Date((exp + 60) * 1_000).toISOString() }
    for (const body of [longer, { roles: ['admin'] }, { subject: 'bob' }]) {
      assert.equal((await send({ path: '/v1/api-keys', body, as })).status, 403)
    }
    // The key is a credential by itself.
    assert.equal((await send({ path: '/v1/plans', body: { text: 'a' }, as: made.json.key })).status, 201)
  })

  it('AUT-2: sub is the caller, who owns what they create, unseen by others', async (t) => {
    const { send, make, token } = await started(t)
    const [ann, bob] = [await token({ sub: 'auth0|ann' }), await token({ sub: 'Боб 😀' })]
    const note = await make('notes', { text: 'mine' }, ann)
    assert.equal(note.owner_id, 'auth0|ann')
    assert.equal((await make('notes', { text: 'his' }, bob)).owner_id, 'Боб 😀')
    const path = `/v1/notes/${note.id}`
    assert.equal((await send({ path, as: ann })).status, 200)
    assert.equal((await send({ path, as: bob })).status, 403)
    assert.equal((await send({ method: 'PATCH', path, body: { text: 'x' }, as: bob })).status, 403)
    const list = await send({ path: '/v1/notes', as: bob })
    assert.deepEqual([list.json.pagination.total_count, list.json.data[0].text], [1, 'his'])
  })

  it('AUT-2: an API key of the same subject is the same caller, and keys are still accepted', async (t) => {
    const { send, make, token } = await started(t)
    const note = await make('notes', { text: 'mine' }, 'ann')
    assert.equal((await send({ path: `/v1/notes/${note.id}`, as: await token({ sub: 'ann' }) })).status, 200)
    assert.equal((await send({ path: `/v1/notes/${note.id}`, as: 'ann' })).status, 200)
  })

  it('AUT-2: roles come from the claim, including admin', async (t) => {
    const { send, token } = await started(t)
    const create = async (roles: unknown) =>
      (await send({ path: '/v1/plans', body: { text: 'x' }, as: await token({ roles }) })).status
    for (const roles of [['editor'], 'viewer editor', [7, 'editor']]) assert.equal(await create(roles), 201)
    for (const roles of [undefined, [], ['Editor'], 'editors', { editor: true }]) assert.equal(await create(roles), 403)
    // Undeclared, so for administrators only (AUT-3).
    const remove = async (roles: unknown) =>
      (await send({ method: 'DELETE', path: '/v1/plans/x', as: await token({ roles }) })).status
    assert.deepEqual([await remove(['admin']), await remove(['editor'])], [404, 403])
  })

  it('AUT-2: the claim of the roles may be a path', async (t) => {
    const { send, token } = await started(t, board, { rolesClaim: 'realm_access.roles' })
    const as = await token({ realm_access: { roles: ['editor'] } })
    assert.equal((await send({ path: '/v1/plans', body: { text: 'x' }, as })).status, 201)
    const flat = await token({ roles: ['editor'] })
    assert.equal((await send({ path: '/v1/plans', body: { text: 'x' }, as: flat })).status, 403)
  })

  it('AUT-6: claims limit lists and single records alike', async (t) => {
    const { send, token } = await started(t)
    const editor = await token({ roles: ['editor'] })
    const ids: Record<string, string> = {}
    for (const team of ['red', 'blue', 'green']) {
      // The answer to whoever may not read it is empty.
      await send({ path: '/v1/plans', body: { text: team, team }, as: editor })
      const all = await send({ path: `/v1/plans?team=${team}`, as: await token({ team }) })
      ids[team] = all.json.data[0].id
    }
    const cases: readonly [claims: Record<string, unknown>, teams: readonly string[]][] = [
      [{ team: 'red' }, ['red']],
      [{ teams: ['blue', 'green'] }, ['blue', 'green']],
      [{ team: 'red', teams: ['blue'] }, ['red', 'blue']],
      [{ team: 'pink' }, []],
      [{ team: "red' or '1'='1" }, []],
    ]
    for (const [claims, teams] of cases) {
      const as = await token(claims)
      const list = await send({ path: '/v1/plans', as })
      assert.deepEqual(list.json.data.map(({ text }: { text: string }) => text).sort(), [...teams].sort())
      assert.equal(list.json.pagination.total_count, teams.length)
      for (const [team, id] of Object.entries(ids)) {
        assert.equal((await send({ path: `/v1/plans/${id}`, as })).status, teams.includes(team) ? 200 : 403, team)
      }
    }
    for (const claims of [{}, { team: null }, { team: { name: 'red' } }, { team: 7 }, { team: true }]) {
      assert.equal((await send({ path: '/v1/plans', as: await token(claims) })).status, 403, JSON.stringify(claims))
    }
  })

  it('AUT-2: a token ends with its expiry, cached or not', async (t) => {
    const { send, token, clock } = await started(t)
    const as = await token({ exp: Math.floor(Date.now() / 1_000) + 10 })
    const status = async () => (await send({ path: '/v1/notes', as })).status
    assert.deepEqual([await status(), await status()], [200, 200])
    clock.ahead = 38_000
    assert.equal(await status(), 200, 'clocks may differ by half a minute')
    clock.ahead = 41_000
    assert.equal(await status(), 401)
  })
})

describe('refused tokens', () => {
  it('AUT-2: every refused token gets the same response', async (t) => {
    const { send, token } = await started(t)
    const claims = claimsAt(Date.now())
    const right = await token()
    const wrong: Readonly<Record<string, string>> = {
      'of another issuer': await token({ iss: 'https://other.example' }),
      'for another audience': await token({ aud: 'https://other.example' }),
      expired: await token({ exp: 1 }),
      'without expiry': await token({ exp: undefined }),
      'without sub': await token({ sub: undefined }),
      'not yet valid': await token({ nbf: claims.exp }),
      'of another key': await sign(stranger, claims),
      'of an unknown key': await sign(stranger, claims, { kid: 'other' }),
      unsigned: assembled({ alg: 'none' }, claims),
      cut: right.slice(0, -8),
      'too long': await token({ pad: 'x'.repeat(9_000) }),
      'of two parts': right.slice(0, right.lastIndexOf('..')),
    }
    const bodies = new Set<string>()
    for (const [name, as] of Object.entries(wrong)) {
      for (const path of ['/v1/notes', '/v1/nothing']) {
        const { status, headers, json } = await send({ path, as })
        assert.equal(status, 401, name)
        assert.equal(headers['www-authenticate'], 'Bearer realm="resourced", error="invalid_token"')
        const { request_id, instance, ...rest } = json
        bodies.add(JSON.stringify(rest))
      }
    }
    assert.equal(bodies.size, 1)
    assert.equal((await send({ path: '/v1/notes', as: right })).status, 200)
  })

  it('AUT-2: without an issuer every token is refused, and no URL is fetched', async (t) => {
    const server = await keyServer(t, pair)
    const { send } = await trialFor(t, board, { memory: true })
    const as = await sign(pair, claimsAt(Date.now()), { jku: server.url, jwk: pair.jwk })
    assert.deepEqual([(await send({ path: '/v1/notes', as })).status, server.asked], [401, 0])
  })

  it('AUT-2: URLs inside a token are not fetched', async (t) => {
    const { send } = await started(t)
    const evil = await keyServer(t, stranger)
    const header = { jku: evil.url, x5u: evil.url, jwk: stranger.jwk }
    const as = await sign(stranger, claimsAt(Date.now()), header)
    assert.deepEqual([(await send({ path: '/v1/notes', as })).status, evil.asked], [401, 0])
  })
})

describe('the key server', () => {
  it('ERR-6: unavailable before its first response: 502 for tokens, never 401, and API keys work', async (t) => {
    const { send, server, token, seen, clock } = await started(t)
    server.answer = (_, response) => response.writeHead(503).end()
    const as = await token()
    for (const path of ['/v1/notes', '/v1/nothing']) {
      const answer = await send({ path, as })
      assert.deepEqual([answer.status, answer.json.code], [502, 'KEY_SERVER_FAILED'])
      assert.equal(answer.headers['retry-after'], '30')
      // A random id may have these digits too.
      const told = answer.text.replace(answer.json.request_id, '')
      assert.ok(!/127\.0\.0\.1|503|keys"/.test(told), told)
    }
    assert.equal((await send({ path: '/v1/notes', as: 'ann' })).status, 200)
    assert.equal((await send({ path: '/health/ready', as: null })).status, 200)
    assert.deepEqual([server.asked, seen.filter(({ kind }) => kind === 'key-server').length], [1, 1])
    server.answer = undefined
    clock.ahead = 30_000
    assert.equal((await send({ path: '/v1/notes', as })).status, 200)
  })

  it('ERR-6: unavailable later: the cached keys are used', async (t) => {
    const { send, server, token, seen, clock } = await started(t)
    assert.equal((await send({ path: '/v1/notes', as: await token() })).status, 200)
    await server.stop()
    clock.ahead = 700_000
    const later = await token({ sub: 'bob' })
    assert.equal((await send({ path: '/v1/notes', as: later })).status, 200)
    assert.equal((await send({ path: '/v1/notes', as: await sign(stranger, {}, { kid: 'other' }) })).status, 401)
    assert.equal(seen.filter(({ kind }) => kind === 'key-server').length, 1)
  })
})

it('SEC-3: the log names the caller of a token, and never the token or its claims', async (t) => {
  const { send, seen, token } = await started(t, studio)
  const secret = 'canary-in-the-claims'
  const right = await token({ sub: 'ann-by-token', secret })
  const tokens = [
    right,
    await token({ exp: 1, secret }),
    await sign(stranger, { ...claimsAt(Date.now()), secret }, { kid: `kid-${secret}` }),
    `${right}.${secret}`,
  ]
  const texts: string[] = []
  for (const as of tokens) {
    for (const sent of [{ path: '/v1/projects' }, { path: '/v1/projects', body: { name: as.slice(-9) } }]) {
      const { text, headers } = await send({ ...sent, as })
      texts.push(text.replaceAll(as.slice(-9), ''), JSON.stringify(headers))
    }
  }
  const lines: string[] = []
  const log = logTo('trace', { write: (line: string) => void lines.push(line) })
  for (const each of seen) log(each)
  assert.ok(lines.some((line) => line.includes('"caller":"ann-by-token"')))
  for (const text of [...lines, ...texts]) {
    assert.ok(!text.includes(secret), text)
    for (const each of tokens) {
      for (const part of each.split('..')) assert.ok(!text.includes(part.slice(0, 40)) && !text.includes(part), text)
    }
  }
})

describe('the configuration', () => {
  const options = { issuer, audience, jwks: 'https://issuer.example/keys' }

  it('AUT-2: invalid settings are refused at start, with a remedy', () => {
    for (const [given, words] of [
      [{ ...options, jwks: '' }, /--jwt-jwks \(JWT_JWKS\)/],
      [{ ...options, algorithms: ['HS256'] }, /leave out "HS256"/],
      [{ ...options, algorithms: ['ES256', 'none'] }, /leave out "none"/],
      [{ ...options, jwks: 'http://issuer.example/keys' }, /write https:/],
      [{ ...options, jwks: '/nowhere/keys.json' }, /\/nowhere\/keys\.json cannot be used/],
    ] as const) {
      const start = () => createApp(board, { database: 'sqlite::memory:', jwt: given })
      assert.throws(start, (error) => error instanceof ConfigurationError && words.test(error.message))
    }
  })

  it('AUT-2: keys may be in a file, which is read again after a rotation', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'resourced-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const jwks = join(folder, 'keys.json')
    const publish = (text: string) => writeFileSync(jwks, text)
    publish('{"keys":[]')
    assert.throws(() => readJwt({ ...options, jwks }), /keys\.json cannot be used: it is not JSON/)
    publish(JSON.stringify({ keys: [pair.jwk] }))
    const { send, token, clock } = await started(t, board, { jwks })
    assert.equal((await send({ path: '/v1/notes', as: await token() })).status, 200)
    const next = await pairOf('next')
    publish(JSON.stringify({ keys: [next.jwk] }))
    clock.ahead = 31_000
    assert.equal((await send({ path: '/v1/notes', as: await sign(next, claimsAt(Date.now())) })).status, 200)
  })
})
