/** SEC-3: secrets in the options, the environment and the files of the command do not appear in its output. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newKey } from '../packages/server/src/policy/api-keys.ts'
import { commandFile } from './command-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-canaries-'))
after(() => rmSync(folder, { recursive: true }))
const canary = 'canary-7f3a91'
const database = `sqlite:${join(folder, 'data.db')}`
const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled'), LOG_LEVEL: 'trace' }

writeFileSync(
  join(folder, 'resources.js'),
  `export default { name: 'vaults', resources: { vaults: {
    fields: {
      name: { type: 'string', maxLength: 20 },
      pin: { type: 'string', writeOnly: true, optional: true, maxLength: 20 },
      count: { type: 'integer', optional: true, maximum: 9 },
    },
    access: { read: 'anyone', create: 'anyone' },
    rules: [{ on: 'create', check: ({ next }) => {
      if (next.name === 'throw') throw new Error('The pin ' + next.pin + ' is wrong.')
    } }],
  } } }\n`,
)

function run(given: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const options = { cwd: folder, encoding: 'utf8', env: { ...env, ...variables }, timeout: 20_000 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [commandFile, ...given], options)
  return { status, said: stdout + stderr }
}

for (const address of [
  `postgres://ann:${canary}@127.0.0.1:1/app`,
  `postgres://ann:pass@word/${canary}@127.0.0.1:1/app`,
  `mysql://ann:${canary}@127.0.0.1/app`,
  `sqlite://ann:${canary}@host/app`,
]) {
  for (const command of [
    ['serve', '--http', '--port', '0'],
    ['keys', 'list'],
    ['migrate', '--apply'],
    ['import', 'vaults', 'none.json'],
  ]) {
    test(`SEC-3: ${command[0]} does not repeat the database ${address.replaceAll(canary, '…')}`, () => {
      writeFileSync(join(folder, 'none.json'), '[]')
      const results = [
        run([...command, '--database', address]),
        run(command, { DATABASE_URL: address }),
        run([...command, `--databse=${address.replace(/pass@word\//, '')}`]),
      ]
      for (const { status, said } of results) {
        assert.ok(status === 1 || status === 2, said)
        assert.ok(!said.includes(canary), said)
      }
      assert.ok(!readdirSync(folder).some((name) => name.includes(canary)), 'nor makes a folder of it')
    })
  }
}

test('SEC-3: a password that Redis rejects and repeats is not printed', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (asked) => {
      const words = String(asked)
        .split('\r\n')
        .filter((word) => !/^[*$]/.test(word))
      socket.write(`-ERR unknown command, with args beginning with: ${words.map((word) => `'${word}'`).join(' ')}\r\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const password = `${canary}/é`
  for (const given of [`:${encodeURIComponent(password)}@127.0.0.1:${port}`, `127.0.0.1:${port}?password=${canary}`]) {
    const child = spawn(process.execPath, [commandFile, 'serve', '--http', '--port', '0', '--database', database], {
      ...{ cwd: folder, env: { ...env, REDIS_URL: `redis://${given}` } },
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => {
        said += String(piece)
      })
    }
    for (let waited = 0; waited < 100 && !said.includes('redis lost'); waited++) await sleep(100)
    child.kill()
    await once(child, 'close')
    assert.match(said, /redis lost/)
    assert.ok(!said.includes(canary), said)
  }
  server.close()
})

test('SEC-3: an invalid address of Redis is not printed', () => {
  for (const address of [`redis://:${canary}@host:port`, `:${canary}@127.0.0.1`, `http://ann:${canary}@127.0.0.1`]) {
    const serve = ['serve', '--http', '--port', '0', '--database', database]
    for (const { status, said } of [run([...serve, '--redis', address]), run(serve, { REDIS_URL: address })]) {
      assert.equal(status, 1)
      assert.ok(!said.includes(canary), said)
    }
  }
})

test('SEC-3: an import reports mistakes without the values', () => {
  const key = newKey()
  const long = `${canary}${'x'.repeat(20)}`
  const records = [
    { name: 5, pin: canary },
    { name: 'a', pin: long },
    { name: canary.repeat(2), count: 10 },
    { name: 'a', pin: [canary] },
    { name: 'a', [key]: 1 },
    { name: 'throw', pin: canary },
  ]
  const csv = (text: string) => text.replaceAll("'", '"')
  const files: Readonly<Record<string, string>> = {
    'all.json': JSON.stringify(records.slice(0, 5)),
    'all.ndjson': records
      .slice(0, 5)
      .map((each) => `${JSON.stringify(each)}\n`)
      .join(''),
    'all.csv': `name,pin,count\n,${canary},${canary}\n${long},${long},1\n`,
    'cut.json': `[{"name":"a","pin":"${canary}`,
    'bare.json': `[{"name":"a","pin":${canary}}]`,
    'cut.ndjson': `{"name":"a","pin":"${canary}\n{"pin":"${canary}"} ${canary}\n`,
    'cut.csv': csv(`name,pin\na,'${canary}\n`),
    'more.csv': `name,pin\na,${canary},${canary}\n`,
    'header.csv': `name,${key}\na,b\n`,
    'throw.json': JSON.stringify(records.slice(5)),
    'throw.csv': `name,pin\nthrow,${canary}\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text)
    for (const more of [[], ['--skip-invalid']]) {
      const { status, said } = run(['import', 'vaults', name, '--database', database, ...more])
      assert.equal(status, 1, `${name} ${said}`)
      for (const secret of [canary, key]) assert.ok(!said.includes(secret), `${name}: ${said}`)
    }
  }
})

test('SEC-3: a key is printed once, and in no list', () => {
  const made = run(['keys', 'create', '--subject', 'ann', '--database', database, '--json'])
  const { key } = JSON.parse(made.said)
  for (const more of [[], ['--json']]) {
    const { said } = run(['keys', 'list', '--database', database, ...more])
    assert.ok(said.includes(key.slice(0, 8)) && !said.includes(key.slice(8)))
  }
  assert.ok(!run(['keys', 'revoke', key, '--database', database]).said.includes(key))
})
