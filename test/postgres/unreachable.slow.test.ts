/** Messages for a PostgreSQL database that cannot be used: what is wrong, where, what to do, and no password. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { explain } from '../../packages/server/src/cli/explain.ts'
import { localCertificate } from '../../packages/server/src/server/node/certificates.ts'
import { openKeys } from '../../packages/server/src/server/open-database.ts'
import { connectionFault } from '../../packages/server/src/storage/postgres/errors.ts'
import { commandFile } from '../command-file.ts'
import { startBouncer, whyNoBouncer } from './bouncer.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { query } from './query.ts'

const skip = whyNoPostgres(versionAsked()) ?? false
let plain: Cluster
let secure: Cluster
const folder = mkdtempSync(join(tmpdir(), 'resourced-'))
before(async () => {
  if (skip !== false) return
  plain = await startCluster({ version: versionAsked() })
  secure = await startCluster({ version: versionAsked(), tls: true })
  process.env.PGPASSFILE = join(folder, 'none')
})
after(async () => {
  await plain?.stop()
  await secure?.stop()
  rmSync(folder, { recursive: true })
})

/** An address with parts of it changed. */
function changed(
  url: string,
  parts: Partial<Pick<URL, 'username' | 'password' | 'port' | 'pathname' | 'search' | 'hostname'>>,
): string {
  return Object.assign(new URL(url), parts).href
}

/** What is said when a database is opened; nothing where it can be. */
async function said(database: string, options: Record<string, unknown> = {}): Promise<string> {
  try {
    await (await openKeys({ database, ...options })).close()
    return ''
  } catch (error) {
    const text = explain(error)
    const { password } = new URL(database)
    if (password !== '') assert.ok(!text.includes(password), text)
    assert.doesNotMatch(text, /\n/, 'a sentence, not a stack trace')
    return text
  }
}

test('no server listens, or no server responds', { skip }, async (context) => {
  assert.match(
    await said('postgres://ann:hush@127.0.0.1:1/shop'),
    /^No PostgreSQL server listens at 127\.0\.0\.1, port 1\. Start it/,
  )
  assert.match(await said('postgres://ann:hush@nowhere.invalid/shop'), /^The host nowhere\.invalid is not known/)
  const other = await listening(context, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  assert.match(await said(other), /does not answer as PostgreSQL does|closed at once/)
  assert.match(await said(`${other}?sslmode=verify-full`), /does not answer as PostgreSQL does/)
})

async function listening(context: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  return `postgres://ann:hush@127.0.0.1:${(server.address() as AddressInfo).port}/shop`
}

test('access is denied', { skip }, async () => {
  const { url, adminUrl } = plain
  assert.match(
    await said(changed(url, { password: 'wrong-one' })),
    /^PostgreSQL does not take the password of the role resourced, or there is no such role\. Set another by PGPASSWORD/,
  )
  assert.match(
    await said(changed(url, { password: '' })),
    /^PostgreSQL asks for a password, and there is none\. Set PGPASSWORD/,
  )
  assert.match(
    await said(changed(url, { pathname: '/none' })),
    /^There is no database none\. Create it: create database "none" owner "resourced"/,
  )
  await query(adminUrl, 'create database closed')
  await query(adminUrl, 'revoke connect on database closed from public')
  assert.match(
    await said(changed(url, { pathname: '/closed' })),
    /^The role resourced may not connect to the database closed\. .*grant connect on database "closed" to "resourced"/,
  )
  const { password } = new URL(url)
  await query(adminUrl, `create role silent nologin password '${password}'`)
  assert.match(
    await said(changed(url, { username: 'silent' })),
    /^PostgreSQL does not let the role silent in: .*alter role "silent" login/,
  )
  await query(adminUrl, `create role crowd login connection limit 0 password '${password}'`)
  assert.match(
    await said(changed(url, { username: 'crowd' })),
    /^PostgreSQL at 127\.0\.0\.1 has no connection left \(too many connections for role "crowd"\)/,
  )
  await query(adminUrl, "create schema other; create role poor login password 'hush-hush'")
  assert.match(
    await said(changed(url, { username: 'poor', password: 'hush-hush', pathname: '/closed' })),
    /may not connect/,
  )
  const made = changed(await plain.createDatabase(), { username: 'poor', password: 'hush-hush' })
  assert.match(await said(made), /^The role poor may not create tables in the schema public/)
})

test('passwords come from the address, the environment or a private file', { skip }, async () => {
  const { password, port } = new URL(plain.url)
  const without = changed(plain.url, { password: '' })
  const file = join(folder, 'passwords')
  try {
    process.env.PGPASSWORD = password
    assert.equal(await said(without), '')
    delete process.env.PGPASSWORD
    writeFileSync(file, `127.0.0.1:${port}:postgres:resourced:${password}\n`, { mode: 0o600 })
    process.env.PGPASSFILE = file
    assert.equal(await said(without), '')
    chmodSync(file, 0o644)
    assert.match(await said(without), /others must not be able to read it/)
  } finally {
    delete process.env.PGPASSWORD
    process.env.PGPASSFILE = join(folder, 'none')
  }
  assert.equal(await said(plain.url), '')
})

test('TLS is required, refused, or has an untrusted certificate', { skip }, async () => {
  assert.equal(await said(secure.url), '')
  const file = encodeURIComponent(secure.caFile as string)
  for (const mode of ['verify-full', 'verify-ca', 'require']) {
    assert.equal(await said(changed(secure.url, { search: `?sslmode=${mode}&sslrootcert=${file}` })), '')
    assert.match(
      await said(changed(secure.url, { search: `?sslmode=${mode}` })),
      /^The certificate of PostgreSQL at 127\.0\.0\.1, port \d+ is not from an authority that is trusted here .*sslrootcert=FILE/,
    )
  }
  assert.equal(await said(changed(secure.url, { search: '?sslmode=no-verify' })), '')
  assert.match(
    await said(changed(secure.url, { search: '' })),
    /^PostgreSQL takes no connection without TLS from here.*sslmode=verify-full/,
  )
  assert.match(
    await said(changed(plain.url, { search: '?sslmode=verify-full' })),
    /^PostgreSQL at 127\.0\.0\.1, port \d+ does not speak TLS/,
  )
  const { caFile } = await localCertificate(join(folder, 'another'))
  assert.match(
    await said(changed(secure.url, { search: `?sslmode=verify-full&sslrootcert=${encodeURIComponent(caFile)}` })),
    /is not from an authority that is trusted here/,
  )
  assert.match(
    await said(changed(secure.url, { search: '?sslmode=verify-full&sslrootcert=/no/such.pem' })),
    /^The address of the database names the file \/no\/such\.pem, which cannot be read\./,
  )
})

test('a pooler, without --database-pooler', { skip: skip || (whyNoBouncer ?? false) }, async (context) => {
  const bouncer = await startBouncer(plain)
  context.after(() => bouncer.stop())
  assert.match(
    await said(bouncer.through(plain.url)),
    /^This is no PostgreSQL server but a pooler, .*--database-pooler transaction/,
  )
})

test('a database in another option is named by that option, and never by an option that the command lacks', () => {
  const place = { host: 'db.example', port: 5432, database: 'shop', user: 'ann' }
  const errors = [
    { code: 'ECONNREFUSED', message: '' },
    { code: 'ENOTFOUND', message: '' },
    { code: 'EHOSTUNREACH', message: '' },
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: '' },
    { code: 'SELF_SIGNED_CERT_IN_CHAIN', message: 'self-signed certificate' },
    { message: 'The server does not support SSL connections' },
    { message: 'Connection terminated unexpectedly' },
    { code: '08P01', message: 'unsupported startup parameter: statement_timeout' },
    { code: '28000', message: 'no pg_hba.conf entry for host "1.2.3.4", no encryption' },
  ]
  for (const error of errors) {
    const { message } = connectionFault(error, place, { option: '--from' }) as Error
    assert.match(message, /--from/)
    assert.doesNotMatch(message, /--database/)
    assert.match((connectionFault(error, place, {}) as Error).message, /--database/)
  }
  const full = { code: '53300', message: 'sorry, too many clients already' }
  assert.doesNotMatch((connectionFault(full, place, { option: '--to' }) as Error).message, /--database/)
})

test('errors that no server here can cause have messages too', () => {
  const place = { host: 'db.example', port: 5432, database: 'shop', user: 'ann' }
  const sentences: readonly (readonly [object, RegExp])[] = [
    [{ code: '57P03', message: 'the database system is starting up' }, /is starting or stopping .*Try again/],
    [
      { code: '0A000', message: 'unsupported frontend protocol 3.0: server supports 1.0 to 2.0' },
      /too old .*15 or newer/,
    ],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: '' }, /is for another host/],
    [{ code: 'CERT_HAS_EXPIRED', message: '' }, /has expired/],
    [{ message: 'timeout expired' }, /does not answer in time/],
    [
      { code: '28000', message: 'no pg_hba.conf entry for host "1.2.3.4", SSL encryption' },
      /Add a line for it to pg_hba\.conf/,
    ],
    [
      { code: 'XX000', message: 'out of luck' },
      /^PostgreSQL at db\.example refuses the connection: out of luck \(XX000\)\.$/,
    ],
  ]
  for (const [error, sentence] of sentences) {
    assert.match((connectionFault(error, place, {}) as Error).message, sentence)
  }
  const ours = new TypeError('our mistake')
  assert.equal(connectionFault(ours, place, {}), ours)
})

const serve = (...words: string[]) => [
  commandFile,
  'serve',
  join(folder, 'shop.json'),
  '--http',
  '--port',
  '0',
  ...words,
]
const environment = { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env }
delete (environment as NodeJS.ProcessEnv).DATABASE_UNSAFE
writeFileSync(
  join(folder, 'shop.json'),
  JSON.stringify({ name: 'shop', resources: { things: { fields: { name: { type: 'string' } } } } }),
)

test('a database that may lose acknowledged changes is refused, unless an option allows it', {
  skip,
}, async (context) => {
  const cluster = await startCluster({ version: versionAsked(), fsync: true })
  context.after(() => cluster.stop())
  const run = (...more: string[]) =>
    spawnSync(process.execPath, serve('--database', cluster.url, ...more), {
      env: environment,
      encoding: 'utf8',
      timeout: 20_000,
    })
  for (const [setting, why] of [
    ['fsync', /^This PostgreSQL server has fsync off: .*Set fsync = on.*--database-unsafe/],
    ['full_page_writes', /^This PostgreSQL server has full_page_writes off: /],
    ['synchronous_commit', /^This PostgreSQL server has synchronous_commit off: .*loses them/],
  ] as const) {
    await cluster.restart({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', [setting]: 'off' })
    const { status, stderr } = run()
    assert.equal(status, 1)
    assert.match(stderr, why)
  }
  await query(cluster.adminUrl, 'alter role resourced set synchronous_commit = off')
  await cluster.restart({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' })
  assert.match(run().stderr, /synchronous_commit off/, 'for one role')
  await query(cluster.adminUrl, 'alter role resourced set synchronous_commit = local')
  const { child, said } = await served(serve('--database', cluster.url))
  child.kill('SIGTERM')
  assert.doesNotMatch(said(), /--database-unsafe/)
  await cluster.restart({ fsync: 'off' })
  const unsafe = await served(serve('--database', cluster.url, '--database-unsafe'))
  unsafe.child.kill('SIGTERM')
})

/** A server that listens, and what it has written so far. */
async function served(words: readonly string[]) {
  const child = spawn(process.execPath, words, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const heard = new Promise<void>((resolve, reject) => {
    const hear = (piece: Buffer) => {
      text += piece
      if (text.includes('is served at')) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', () => reject(new Error(text)))
  })
  await heard
  return { child, said: () => text }
}

test('SEC-3: the password of the database is not in the output of the command, its help, or the list of processes', {
  skip,
}, async () => {
  const { password } = new URL(plain.url)
  const { child, said } = await served(serve('--database', plain.url, '--database-unsafe', '--log-level', 'trace'))
  const seen = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')
  child.kill('SIGTERM')
  await once(child, 'exit')
  assert.match(seen, /^resourced serve/)
  for (const text of [seen, said()]) assert.ok(!text.includes(password), text)
  const wrong = changed(plain.url, { password: 'hush-hush' })
  const refused = spawnSync(process.execPath, serve('--database', wrong), { env: environment, encoding: 'utf8' })
  assert.equal(refused.status, 1)
  const help = spawnSync(process.execPath, [commandFile, 'serve', '--help'], {
    env: { ...environment, DATABASE_URL: wrong },
    encoding: 'utf8',
  })
  for (const text of [refused.stdout, refused.stderr, help.stdout]) assert.ok(!text.includes('hush-hush'), text)
})
