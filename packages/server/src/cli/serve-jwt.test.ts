import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { commandFile } from '../../../../test/command-file.ts'
import { newDatabase } from '../../../../test/engine.ts'
import { claimsAt, pairOf, sign } from '../policy/jwt.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-jwt-'))
after(() => rmSync(folder, { recursive: true }))
writeFileSync(
  join(folder, 'resources.yaml'),
  'name: library\nresources: { books: { fields: { title: { type: string } }, access: { read: "role:reader" } } }\n',
)
const common = [
  commandFile,
  'serve',
  join(folder, 'resources.yaml'),
  '--database',
  (await newDatabase({ memory: true })).address,
  '--http',
  '--port',
  '0',
]
const claims = claimsAt(Date.now())
const settings = { JWT_ISSUER: String(claims.iss), JWT_AUDIENCE: String(claims.aud) }
const env = { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env }

test('AUT-2: options and environment variables configure the accepted tokens', async () => {
  const pair = await pairOf('key')
  writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [pair.jwk] }))
  const options = ['--jwt-jwks', join(folder, 'keys.json'), '--jwt-algorithms', 'ES256, RS256']
  const child = spawn(process.execPath, [...common, ...options], {
    env: { ...env, ...settings, JWT_ROLES_CLAIM: 'access.roles' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  child.stderr.on('data', (piece) => said.push(String(piece)))
  try {
    let url: string | undefined
    // Other entries of the log may come before.
    for await (const line of createInterface(child.stdout)) {
      url = JSON.parse(line).url
      if (url !== undefined) break
    }
    const ask = async (roles: unknown) => {
      const token = await sign(pair, { ...claims, access: { roles } })
      return (await fetch(`${url}/books`, { headers: { Authorization: `Bearer ${token}` } })).status
    }
    assert.deepEqual([await ask(['reader']), await ask([])], [200, 403])
    assert.ok(!said.join('').includes('No API key'), said.join(''))
  } finally {
    child.kill()
    await once(child, 'close')
  }
})

for (const [options, variables, words] of [
  [['--jwt-issuer', 'https://a.example'], {}, /add --jwt-audience \(JWT_AUDIENCE\) and --jwt-jwks \(JWT_JWKS\)/],
  [['--jwt-jwks', 'https://a.example/keys', '--jwt-algorithms', 'RS256,HS256'], settings, /leave out "HS256"/],
  [['--jwt-jwks', 'https://a.example/keys'], { ...settings, JWT_ALGORITHMS: 'none' }, /leave out "none"/],
  [['--jwt-jwks', 'http://a.example/keys'], settings, /write https:\/\/a\.example\/keys/],
  [['--jwt-jwks', 'missing.json'], settings, /missing\.json cannot be used/],
] as const) {
  test(`AUT-2: ${options.join(' ')} with ${Object.keys(variables).join(' ')} is refused at start`, () => {
    const { status, stderr } = spawnSync(process.execPath, [...common, ...options], {
      encoding: 'utf8',
      env: { ...env, ...variables },
    })
    assert.equal(status, 1)
    assert.match(stderr, words)
    assert.ok(!/\n\s+at /.test(stderr), stderr)
  })
}
