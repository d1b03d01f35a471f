/** TEN-1, AUT-2: the claim of a token names the tenant. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { audience, claimsAt, issuer, keyServer, pairOf, sign } from '../../packages/server/src/policy/jwt.fixture.ts'
import { readJwt } from '../../packages/server/src/server/jwt.ts'
import { createTenants, outcomeOf, tenantTrial } from './tenants.ts'

const anyone = { read: 'anyone', create: 'anyone' } as const
const notes = { access: anyone, fields: { text: { type: 'string', unique: true } } } as const
const byOperators: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.org.team' },
  resources: { notes },
}

const pair = await pairOf('key')
const path = '/v1/notes'

/** An interface with tenants that accepts the tokens of an issuer. */
async function started(context: TestContext, declaration: InterfaceDeclaration = byOperators) {
  const { url } = await keyServer(context, pair)
  const trial = await tenantTrial(declaration, { jwt: readJwt({ issuer, audience, jwks: url }) })
  context.after(trial.close)
  /** A token with these claims beside those that it must have. */
  const token = (claims: object) => sign(pair, { ...claimsAt(Date.now()), ...claims })
  return { ...trial, token, of: (team: unknown) => token({ org: { team } }) }
}

it('TEN-1, TEN-2: tokens of two tenants have the same addresses and nothing in common', async (t) => {
  const current = await started(t)
  const { send, of } = current
  await createTenants(current, 'acme', 'globex')
  const [acme, globex] = [await of('acme'), await of('globex')]
  const made = await send({ path, as: acme, body: { text: 'one' } })
  assert.equal(made.status, 201)
  assert.equal((await send({ path, as: globex, body: { text: 'one' } })).status, 201)
  const own = `${path}/${made.json.id}`
  assert.deepEqual(
    [(await send({ path: own, as: acme })).status, (await send({ path: own, as: globex })).status],
    [200, 404],
  )
  // A key that a token makes belongs to the tenant of the token.
  const { json } = await send({ path: '/v1/api-keys', as: acme, body: {} })
  assert.deepEqual((await send({ path, as: json.key })).json.data, (await send({ path, as: acme })).json.data)
})

it('TEN-1: a token without the claim has no tenant, and one of an unknown tenant is refused', async (t) => {
  const { send, token, of } = await started(t)
  const outcome = async (as: string) => outcomeOf(await send({ path, as }))
  for (const claims of [{}, { team: 'acme' }, { org: 'acme' }, { 'org.team': 'acme' }, { org: { team: ['acme'] } }])
    assert.equal(await outcome(await token(claims)), '403 NO_TENANT', JSON.stringify(claims))
  assert.equal(await outcome(await of('acme')), '403 UNKNOWN_TENANT')
  const expired = await token({ org: { team: 'acme' }, exp: Math.floor(Date.now() / 1_000) - 600 })
  assert.equal(await outcome(expired), '401 UNAUTHENTICATED')
})

it('TEN-3: a token with the role operator manages tenants, unless its claim names one', async (t) => {
  const { send, token } = await started(t)
  const roles = ['operator']
  const made = await send({ path: '/v1/tenants', as: await token({ roles }), body: { name: 'acme' } })
  assert.equal(made.status, 201, made.text)
  const member = await token({ roles, org: { team: 'acme' } })
  assert.equal(outcomeOf(await send({ path: '/v1/tenants', as: member })), '403 FORBIDDEN')
  assert.equal((await send({ path, as: member })).status, 200)
  // A deleted tenant refuses its tokens at once.
  await send({ method: 'DELETE', path: `/v1/tenants/${made.json.id}`, as: await token({ roles }) })
  assert.equal(outcomeOf(await send({ path, as: member })), '403 UNKNOWN_TENANT')
})

it('TEN-1: the first change by a token of a tenant creates it', async (t) => {
  const { send, of } = await started(t, { ...byOperators, tenants: { caller: 'claims.org.team', create: 'first-use' } })
  const as = await of('acme')
  assert.deepEqual((await send({ path, as })).json.data, [])
  assert.equal((await send({ path, as, body: { text: 'one' } })).status, 201)
  assert.equal((await send({ path, as })).json.data.length, 1)
})
