/** What it costs to know who is calling, by API key and by JWT: `node bench/credentials.ts`. */
import { hashOfKey, newKey } from '../packages/server/src/policy/api-keys.ts'
import { authenticator } from '../packages/server/src/policy/authenticate.ts'
import { audience, claimsAt, issuer, pairOf, sign } from '../packages/server/src/policy/jwt.fixture.ts'
import { asymmetricAlgorithms } from '../packages/server/src/policy/jwt-settings.ts'
import { signingKeys } from '../packages/server/src/policy/signing-keys.ts'
import { rememberTokens, tokenVerifier } from '../packages/server/src/policy/verify-token.ts'

const pair = await pairOf('key', 'RS256')
const settings = { issuer, audience, keys: { file: '' }, algorithms: asymmetricAlgorithms, rolesClaim: 'roles' }
const keys = signingKeys({ fetch: async () => ({ keys: [pair.jwk] }), now: Date.now, failed: () => {} })
const verify = tokenVerifier(settings, keys, Date.now)
const claims = {
  ...claimsAt(Date.now()),
  roles: ['editor'],
  email: 'ann@example.com',
  name: 'Ann',
  scope: 'openid profile',
}
const token = await sign(pair, claims)
const key = newKey()
const known = {
  id: 'k',
  hash: hashOfKey(key),
  subject: 'ann',
  roles: [],
  claims: null,
  expires_at: null,
  revoked_at: null,
}
const authenticate = authenticator({
  findKey: async () => known,
  verifyToken: rememberTokens(verify, Date.now),
  now: Date.now,
})

/** Microseconds for one of many calls, each with a text of its own, as requests bring it. */
async function measure(credential: string, call: (text: string) => Promise<unknown>, calls: number): Promise<number> {
  const bytes = Buffer.from(credential)
  const texts = Array.from({ length: calls }, () => bytes.toString('latin1'))
  const started = performance.now()
  for (const text of texts) await call(text)
  return ((performance.now() - started) / calls) * 1_000
}

const remembering = rememberTokens(verify, Date.now)
const measured: readonly [name: string, credential: string, call: (text: string) => Promise<unknown>, calls: number][] =
  [
    ['an API key, warm', `Bearer ${key}`, authenticate, 100_000],
    [`a JWT of ${token.length} characters, warm`, `Bearer ${token}`, authenticate, 100_000],
    ['the same, remembered by its hash alone', token, remembering, 100_000],
    ['the same, verified (RS256)', token, verify, 5_000],
  ]
for (const [name, credential, call, calls] of measured) {
  const rounds: number[] = []
  for (let round = 0; round < 7; round++) rounds.push(await measure(credential, call, calls))
  const median = rounds.sort((left, right) => left - right)[3] as number
  process.stdout.write(`${name}: ${median.toFixed(2)} µs\n`)
}
