/** ERR-6: the `maintenance` command, run as a process, and the input that it rejects. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { commandFile } from '../../../../test/command-file.ts'
import { newDatabase } from '../../../../test/engine.ts'
import { openMaintenance } from '../server/open-database.ts'
import { maintenanceOff, maintenanceOn, maintenanceStatus } from './maintenance.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-maintenance-'))
after(() => rmSync(folder, { recursive: true }))
const served = await newDatabase()
const database = served.address
await (await served.open(completeCatalog({ name: 'notes', resources: {} }))).close()

function run(...given: readonly string[]) {
  const command = [commandFile, 'maintenance', ...given]
  const env = { ...process.env, DATABASE_URL: database }
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8', env })
  return { status, stdout, stderr }
}

async function current() {
  const { maintenance, close } = await openMaintenance({ database })
  const found = await maintenance.read()
  await close()
  return found
}

test('ERR-6: the command turns maintenance on, says what happens and how to end it, and turns it off', async () => {
  assert.deepEqual(run(), { status: 0, stdout: 'Maintenance is off.\n', stderr: '' })
  const on = run('on', '--message', '  Back at noon, “déjà vu”. ', '--retry-after', 'PT10M')
  assert.deepEqual([on.status, on.stdout], [0, ''])
  for (const words of ['Maintenance is on.', '503, Retry-After: 600, “Back at noon, “déjà vu”.”', 'maintenance off']) {
    assert.ok(on.stderr.includes(words), on.stderr)
  }
  const { since, ...told } = (await current()) ?? assert.fail()
  assert.deepEqual(told, { message: 'Back at noon, “déjà vu”.', retryAfter: 600 })
  assert.ok(Math.abs(Date.parse(since) - Date.now()) < 60_000)
  const status = run('status')
  assert.equal(status.stdout, run('--database', database).stdout)
  assert.equal(
    status.stdout,
    `Maintenance is on since ${since}.\nClients are told: 503, Retry-After: 600, “Back at noon, “déjà vu”.”\n`,
  )
  const again = run('on')
  assert.deepEqual([again.status, again.stdout], [0, ''])
  assert.match(again.stderr, new RegExp(`on already, since ${since}`))
  assert.deepEqual(await current(), {
    since,
    message: 'The service is under maintenance. Try again after the seconds in Retry-After.',
    retryAfter: 60,
  })
  const off = run('off')
  assert.deepEqual([off.status, off.stdout], [0, ''])
  assert.match(off.stderr, new RegExp(`Maintenance is off; it was on since ${since}`))
  assert.equal(await current(), undefined)
  assert.deepEqual(run('off'), { status: 0, stdout: '', stderr: 'Maintenance was off already.\n' })
})

test('ERR-6: a mistake is one line that says what to give, and turns nothing on', async () => {
  const bad = run('on', '--retry-after', '60')
  assert.deepEqual([bad.status, bad.stdout], [2, ''])
  assert.match(bad.stderr, /^--retry-after takes an ISO 8601 duration .*PT10M.*, not 60\.\n$/)
  assert.equal(run('of').status, 2)
  for (const message of [
    '',
    '  ',
    'a\nb',
    'a\rb',
    'a\tb',
    'a\u0000b',
    'a\u001b[31mb',
    'a\u2028b',
    'a\ud800',
    'é'.repeat(201),
  ]) {
    const turning = maintenanceOn({ database, message, retryAfter: 'PT1M' })
    await assert.rejects(turning, { name: 'ConfigurationError', message: /^--message takes one line of 1 to 200/ })
  }
  for (const retryAfter of ['', 'soon', '-PT1M', 'PT0S', 'P0D', 'P1M', 'P1Y', 'PT1.5S', 'PT1M ', 'PT']) {
    const turning = maintenanceOn({ database, retryAfter })
    await assert.rejects(turning, { name: 'ConfigurationError', message: /^--retry-after takes an ISO 8601 duration/ })
  }
  assert.equal(await current(), undefined)
})

test('ERR-6: a message has 200 characters, of which each may take two code units', async (context) => {
  context.mock.method(process.stderr, 'write', () => true)
  const message = '\u{1f600}'.repeat(200)
  await maintenanceOn({ database, message, retryAfter: 'P1W' })
  const { since: _, ...told } = (await current()) ?? assert.fail()
  assert.deepEqual(told, { message, retryAfter: 604_800 })
  await maintenanceOff({ database })
})

test('ERR-6: maintenance cannot be turned on for a database that no server can use', async () => {
  const missing = join(folder, 'elsewhere', 'data.db')
  for (const [address, words] of [
    ['sqlite::memory:', /in memory/],
    [`sqlite:${missing}`, /no database of Resourced at .*: name the one/],
    ['nonsense', /not understood/],
  ] as const) {
    for (const command of [maintenanceOff, maintenanceStatus]) {
      await assert.rejects(command({ database: address }), words)
    }
    const turning = maintenanceOn({ database: address, retryAfter: 'PT1M' })
    await assert.rejects(turning, (error) => error instanceof ConfigurationError && words.test(error.message))
  }
  assert.ok(!existsSync(join(folder, 'elsewhere')))
  const unreached = 'postgres://u:secret@127.0.0.1:1/db'
  for (const command of [maintenanceOff, maintenanceStatus]) {
    await assert.rejects(command({ database: unreached }), /No PostgreSQL server listens at 127\.0\.0\.1, port 1/)
  }
})

test('ERR-6: if many callers turn maintenance on or off at once, only one of them changes the state', async (context) => {
  const shared = await newDatabase()
  context.after(() => shared.remove())
  const catalog = completeCatalog({ name: 'n', resources: {} })
  const storages = await Promise.all([shared.open(catalog), shared.open(catalog), shared.open(catalog)])
  const asked = { since: '2026-01-01T00:00:00.000Z', message: 'x', retryAfter: 60 }
  for (let round = 0; round < 10; round++) {
    const begun = await Promise.all(storages.map(({ maintenance }) => maintenance.begin(asked)))
    assert.equal(begun.filter(({ before }) => before === undefined).length, 1)
    const ended = await Promise.all(storages.map(({ maintenance }) => maintenance.end()))
    assert.equal(ended.filter((before) => before !== undefined).length, 1)
  }
  for (const storage of storages) await storage.close()
})
