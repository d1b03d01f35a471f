import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { commandFile } from '../../../../test/command-file.ts'
import { selfSigned } from '../server/node/self-signed.ts'
import { openMaintenance } from '../server/open-database.ts'
import type { Examination, ExaminedTenant } from '../storage/migration/examine.ts'
import { checkDatabase } from './doctor/database.ts'
import type { Diagnosis } from './doctor/diagnosis.ts'
import { checkDisk, checkFileSystem, checkMemory, checkOpenFiles, checkPermissions } from './doctor/machine.ts'
import { checkReferences } from './doctor/references.ts'
import { checkTenants } from './doctor/tenants.ts'
import { checkTls } from './doctor/tls.ts'

const notes = 'name: notes\nresources:\n  notes:\n    fields:\n      text: { type: string }\n'

function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'resources.yaml'), notes)
  return folder
}

function doctor(folder: string, ...given: readonly string[]) {
  const env = { ...process.env, DATABASE_URL: undefined, DATABASE_UNSAFE: undefined }
  const options = { cwd: folder, encoding: 'utf8', env } as const
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [commandFile, 'doctor', '--json', '--port', '0', ...given],
    options,
  )
  const found: Diagnosis[] = stdout === '' ? [] : JSON.parse(stdout)
  const of = (check: string) => found.filter((each) => each.check === check)
  return { status, stdout, stderr, found, of }
}

/** The names and contents of all files of a folder. */
function contents(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return new Map(
    files.map((each) => [each.name, readFileSync(join(each.parentPath, each.name), 'base64')] as const).sort(),
  )
}

function migrate(folder: string, file = 'resources.yaml'): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [commandFile, 'migrate', file, '--apply', '--database', 'sqlite:data.db'],
    { cwd: folder, encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
}

test('a file that does not exist is named on standard error, with exit code 1, and nothing is checked', (context) => {
  const folder = folderFor(context)
  const { status, stdout, stderr } = doctor(folder, 'nothing.yaml')
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /nothing\.yaml\s+There is no such file\./)
  // Without a name, a folder without a declaration is one finding.
  rmSync(join(folder, 'resources.yaml'))
  const unnamed = doctor(folder)
  assert.deepEqual([unnamed.status, unnamed.of('declaration')[0]?.severity], [1, 'problem'])
})

test('a machine without faults gets exit code 0, and nothing is created', (context) => {
  const folder = folderFor(context)
  const before = contents(folder)
  const { status, stderr, of, found } = doctor(folder)
  assert.equal(status, 0, stderr)
  assert.ok(found.length > 5)
  assert.match(of('database')[0]?.finding ?? '', /does not exist yet/)
  assert.deepEqual(contents(folder), before)
})

test('a database is examined without changing a byte, whether it fits or not', async (context) => {
  const folder = folderFor(context)
  migrate(folder)
  const database = ['--database', 'sqlite:data.db']
  const before = contents(folder)
  const fitting = doctor(folder, ...database)
  assert.equal(fitting.status, 0, fitting.stdout)
  assert.deepEqual(
    fitting.of('migration').map(({ finding }) => finding),
    ['The database fits the declaration.'],
  )

  writeFileSync(
    join(folder, 'more.yaml'),
    notes.replace('string }', 'string }\n      also: { type: string, optional: true }'),
  )
  assert.match(doctor(folder, 'more.yaml', ...database).of('migration')[0]?.finding ?? '', /1 change that lose no data/)
  writeFileSync(join(folder, 'less.yaml'), notes.replace('text:', 'other:'))
  const losing = doctor(folder, 'less.yaml', ...database)
  assert.equal(losing.status, 1)
  assert.equal(losing.of('migration')[0]?.severity, 'problem')
  assert.match(losing.of('migration')[0]?.remedy ?? '', /resourced migrate/)
  rmSync(join(folder, 'more.yaml'))
  rmSync(join(folder, 'less.yaml'))
  assert.deepEqual(contents(folder), before)

  const { maintenance, close } = await openMaintenance({ database: `sqlite:${join(folder, 'data.db')}` })
  await maintenance.begin({ since: '2026-11-23T00:00:00.000Z', message: 'Back soon.', retryAfter: 60 })
  // While a server has the file open, its log is read too.
  assert.equal(doctor(folder, ...database).of('maintenance')[0]?.severity, 'warning')
  await close()
})

test('references whose writers may not read their target are listed', () => {
  const catalog = completeCatalog({
    name: 'desk',
    resources: {
      users: { fields: { name: { type: 'string' } }, access: { read: 'role:staff' } },
      cards: { fields: { user_id: { reference: 'users' } }, access: { read: { through: 'user_id', action: 'read' } } },
      lists: {
        fields: { owner_id: { type: 'string', readOnly: true } },
        owner: 'owner_id',
        access: { read: ['role:staff', 'owner'], create: 'anyone', update: ['role:lead', 'owner'] },
      },
      tasks: {
        fields: {
          user_id: { reference: 'users' },
          card_id: { reference: 'cards' },
          list_id: { reference: 'lists' },
          other_id: { reference: 'lists', optional: true },
          free_id: { reference: 'users', requires: 'none' },
          set_id: { reference: 'users', set: { onCreate: { caller: 'id' } }, optional: true },
          staff_id: { reference: 'users', optional: true },
        },
        access: {
          create: { through: 'list_id', action: 'update' },
          update: 'role:staff',
          fields: { staff_id: { write: 'role:staff' } },
        },
      },
      notes: { fields: { user_id: { reference: 'users' } }, access: { create: 'nobody', update: 'nobody' } },
    },
  })
  const found = checkReferences(catalog).map(({ severity, finding }) => `${severity} ${finding}`)
  const writers = 'of which some writers may read nothing: callers with the role lead, callers without a role.'
  assert.deepEqual(found, [
    'warning cards.user_id refers to users, of which some writers may read nothing: callers with the role admin.',
    `warning tasks.user_id refers to users, ${writers}`,
    `warning tasks.card_id refers to cards, ${writers}`,
    'ok Writers can refer only to those records that they may read: tasks.card_id (cards), tasks.other_id (lists).',
  ])
})

test('mistakes, taken ports and unreachable databases are problems or warnings with a remedy', async (context) => {
  const folder = folderFor(context)
  writeFileSync(join(folder, 'resources.yaml'), 'name: notes\nresources: {}\n')
  const wrong = doctor(folder, '--database', 'postgres://u:sEcReT@127.0.0.1:1/x')
  assert.equal(wrong.status, 1)
  assert.equal(wrong.of('declaration')[0]?.severity, 'problem')
  assert.match(wrong.of('database')[0]?.finding ?? '', /^No PostgreSQL server listens at 127\.0\.0\.1, port 1\./)
  assert.doesNotMatch(wrong.stdout + wrong.stderr, /sEcReT/)
  for (const { finding } of wrong.found) assert.doesNotMatch(finding, /\n/)

  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  assert.equal(doctor(folder, '--port', String(port)).of('port')[0]?.severity, 'warning')
  server.close()

  writeFileSync(join(folder, 'broken.db'), 'This is no database.'.repeat(100))
  const broken = doctor(folder, '--database', 'sqlite:broken.db')
  assert.equal(broken.of('database')[0]?.severity, 'problem')
  assert.match(broken.of('database')[0]?.finding ?? '', /not a database/)
  assert.equal(doctor(folder, '--database', 'sqlite::memory:').of('database')[0]?.severity, 'warning')
})

test('file systems, disks, memory and open files are judged by their numbers', (context) => {
  const folder = folderFor(context)
  const file = join(folder, 'data.db')
  const disk = { type: 0, bsize: 4_096, blocks: 1_000_000, bavail: 900_000 }
  if (process.platform === 'linux') {
    assert.equal(checkFileSystem(file, { ...disk, type: 0x6969 })?.severity, 'problem')
    assert.equal(checkFileSystem(file, { ...disk, type: 0x01021994 })?.severity, 'warning')
    assert.equal(checkFileSystem(file, disk)?.severity, 'ok')
  }
  assert.equal(checkDisk(file, disk).severity, 'ok')
  assert.equal(checkDisk(file, { ...disk, bavail: 90_000 }).severity, 'warning')
  assert.equal(checkDisk(file, { ...disk, bavail: 1_000 }).severity, 'problem')
  assert.equal(checkMemory(8e9, 0).severity, checkMemory(8e9, 2 ** 63).severity)
  assert.equal(checkMemory(8e9, 100e6).severity, 'warning')
  assert.equal(
    checkOpenFiles('Max open files            1024                 524288               files')?.severity,
    'warning',
  )
  assert.equal(
    checkOpenFiles('Max open files            65536                524288               files')?.severity,
    'ok',
  )
  assert.equal(checkOpenFiles(''), undefined)
})

test('permissions of the file and its folder are checked', { skip: process.platform === 'win32' }, (context) => {
  const folder = folderFor(context)
  const file = join(folder, 'data.db')
  assert.equal(checkPermissions(file).severity, 'ok')
  writeFileSync(file, '', { mode: 0o600 })
  assert.equal(checkPermissions(file).severity, 'ok')
  chmodSync(file, 0o644)
  assert.equal(checkPermissions(file).remedy, `Run: chmod 600 ${file}`)
  mkdirSync(join(folder, 'folder.db'))
  assert.equal(checkPermissions(join(folder, 'folder.db')).severity, 'problem')
})

test('a certificate is checked for its dates, its names and the mode of its key', (context) => {
  const folder = folderFor(context)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const now = Date.UTC(2026, 10, 23)
  const day = 86_400_000
  const made = selfSigned('test', new Date(now - day), new Date(now + 30 * day))
  writeFileSync(cert, made.cert)
  writeFileSync(key, made.key, { mode: 0o600 })
  const files = { tlsCert: cert, tlsKey: key }
  const at = (host: string, time: number) => checkTls({ ...files, host }, time).map(({ severity }) => severity)
  assert.deepEqual(at('localhost', now), ['ok'])
  assert.deepEqual(at('localhost', now + 20 * day), ['warning'])
  assert.deepEqual(at('localhost', now + 31 * day), ['problem'])
  assert.deepEqual(at('localhost', now - 2 * day), ['problem'])
  assert.deepEqual(at('api.example.com', now), ['ok', 'warning'])
  if (process.platform !== 'win32') {
    chmodSync(key, 0o644)
    assert.deepEqual(at('localhost', now), ['ok', 'warning'])
  }
  assert.equal(checkTls({ host: 'localhost', tlsCert: cert })[0]?.severity, 'problem')
  assert.equal(checkTls({ host: 'localhost', tlsCert: join(folder, 'none'), tlsKey: key })[0]?.severity, 'problem')
  assert.equal(checkTls({ host: '0.0.0.0' })[0]?.severity, 'warning')
  assert.equal(checkTls({ host: '0.0.0.0', http: true })[0]?.severity, 'problem')
})

test('the clock is compared with the last purge, the newest record and the database', () => {
  const now = Date.UTC(2026, 10, 23)
  const day = 86_400_000
  const found: Examination = {
    ...{ isUsed: true, pending: undefined, maintenance: undefined, purged: now, newest: now },
    tenants: undefined,
    summaries: new Map([['tasks/by_status', false]]),
    jobs: new Map([['failed', 1]]),
  }
  const given = { address: 'sqlite:data.db', now, pool: 10, workers: 1, unsafe: false }
  const clock = (changed: Partial<Examination>) =>
    checkDatabase({ ...found, ...changed }, given).find(({ check }) => check === 'clock')
  assert.equal(clock({})?.severity, 'ok')
  assert.equal(clock({ purged: now - 2 * day })?.remedy, 'If the clock is right, run: npx resourced purge confirm')
  assert.equal(clock({ purged: undefined, newest: now - 2 * day })?.severity, 'warning')
  assert.equal(clock({ newest: now + 2 * day })?.severity, 'problem')
  const postgres = {
    ...found,
    server: {
      ...{ name: 'PostgreSQL', version: '18', refused: undefined, undurable: 'fsync is off.', now: now + 60_000 },
      connections: { most: 100, used: 95 },
    },
  }
  const severities = checkDatabase(postgres, given).map(({ check, severity }) => `${check} ${severity}`)
  assert.deepEqual(severities, [
    ...[
      'database ok',
      'durability problem',
      'connections warning',
      'maintenance ok',
      'jobs warning',
      'summaries problem',
      'clock warning',
    ],
  ])
  const connections = (workers: number) =>
    checkDatabase(postgres, { ...given, workers }).find(({ check }) => check === 'connections')?.finding
  assert.match(String(connections(1)), /A server uses up to 25\.$/)
  assert.match(String(connections(8)), /A server with 8 workers uses up to 200\.$/)
})

test('TEN-2: tenants without a database, and imports and moves that do not end, are found', () => {
  const now = Date.UTC(2026, 10, 23)
  const tenant = (id: string, more: Partial<ExaminedTenant> = {}): ExaminedTenant => {
    return {
      id,
      name: `team ${id}`,
      state: 'active',
      schemaHash: 'new',
      changed: now - 7_200_000,
      maintenance: undefined,
      ...more,
    }
  }
  const given = { databases: ['1', '3'].map((id) => ({ tenant: id, place: `${id}.db`, removal: `rm ${id}.db` })), now }
  const found = (hash: string | undefined, ...tenants: ExaminedTenant[]) =>
    checkTenants({ ...given, hash, tenants }).map(({ severity, finding }) => `${severity} ${finding}`)
  const [one, three] = [tenant('1'), tenant('3')]
  const fits = 'ok 2 tenants, all of which fit the declaration.'
  assert.deepEqual(found('new', one, three), [fits])
  assert.deepEqual(found(undefined, one, three), ['ok 2 tenants.'])
  assert.deepEqual(found('new', one), [
    'ok 1 tenant, all of which fit the declaration.',
    'warning No tenant has the database 3.db.',
  ])
  assert.deepEqual(found('newer', one, tenant('3', { state: 'deleted' })), [
    'warning 2 tenants, of which 1 deleted. Not yet brought up to the declaration: 1, such as "team 1".',
  ])
  const maintenance = { since: '2026-11-23T00:00:00.000Z', message: 'Back soon.', retryAfter: 60 }
  assert.deepEqual(found('new', { ...one, maintenance }, three), [
    fits,
    'warning "team 1" is under maintenance since 2026-11-23T00:00:00.000Z: its changes get 503.',
  ])
  // Nobody has used it yet.
  assert.deepEqual(found('new', one, three, tenant('2', { schemaHash: null })).length, 1)
  assert.deepEqual(found('new', one, three, tenant('2')).slice(1), [
    'problem The databases of some tenants are gone: "team 2".',
  ])
  assert.deepEqual(found('new', one, { ...three, state: 'importing', changed: now - 60_000 }), [fits])
  for (const state of ['importing', 'moving'] as const) {
    const since = `warning "team 3" has the state ${state} since 2026-11-22T22:00:00.000Z.`
    assert.deepEqual(found('new', one, { ...three, state }), [fits, since])
  }
})
