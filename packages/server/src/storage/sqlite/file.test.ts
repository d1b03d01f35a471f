import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { uuidv7 } from 'uuidv7'
import { migrateSqlite, openSqliteKeys } from './administration.ts'
import { openSqlite } from './storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-files-'))
after(() => rmSync(folder, { recursive: true }))
// The least careful of all users.
process.umask(0)

const notes = completeCatalog({ name: 'notes', resources: { notes: { fields: { text: { type: 'string' } } } } })
const key = { id: uuidv7(), hash: 'h', hint: 'rsk_', subject: 'ann', roles: [], expires_at: null, revoked_at: null }
const addTo = (path: string) => openSqliteKeys(path).keys.add({ ...key, created_at: '2026-11-21T08:00:00.000Z' })

/** The modes of the files in a folder, by name. */
function modes(path: string): Record<string, string> {
  return Object.fromEntries(readdirSync(path).map((name) => [name, modeOf(join(path, name))]))
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

const ways: readonly [name: string, open: (path: string) => unknown][] = [
  ['served', (path) => openSqlite(notes, { path }).keys.add({ ...key, created_at: '2026-11-21T08:00:00.000Z' })],
  ['filled', (path) => openSqlite(notes, { path, synchronous: 'off' }).keys.list()],
  ['opened for its keys', addTo],
]
const whole = { 'data.db': '600', 'data.db-shm': '600', 'data.db-wal': '600' }

for (const [name, open] of ways) {
  test(`SEC-3: a new database that is ${name} is readable by its owner only, and so are its companion files`, async () => {
    const above = join(folder, name)
    await open(join(above, 'inner', 'data.db'))
    assert.deepEqual(modes(join(above, 'inner')), whole)
    assert.deepEqual([modeOf(above), modeOf(join(above, 'inner'))], ['700', '700'])
  })
}

test('SEC-3: a new database that is migrated is readable by its owner only', () => {
  const path = join(folder, 'migrated', 'data.db')
  migrateSqlite(path, notes, 'never')
  migrateSqlite(path, notes, 'all')
  assert.deepEqual(modes(join(folder, 'migrated')), { 'data.db': '600' })
})

test('SEC-3: a new database behind a link is readable by its owner only', async () => {
  const target = mkdtempSync(join(folder, 'target-'))
  const path = join(mkdtempSync(join(folder, 'links-')), 'data.db')
  symlinkSync(join(target, 'data.db'), path)
  await addTo(path)
  assert.deepEqual(modes(target), whole)
})

test('the mode of an existing file stays, and its companion files get the same mode', async () => {
  const own = mkdtempSync(join(folder, 'own-'))
  chmodSync(own, 0o750)
  writeFileSync(join(own, 'data.db'), '', { mode: 0o640 })
  await addTo(join(own, 'data.db'))
  assert.deepEqual(modes(own), { 'data.db': '640', 'data.db-shm': '640', 'data.db-wal': '640' })
  assert.equal(modeOf(own), '750')
})

test('a database in memory creates no file', () => {
  migrateSqlite(':memory:', notes, 'all')
  assert.equal(existsSync(':memory:'), false)
})

test('if a file cannot be created, SQLite reports it', () => {
  const path = join(folder, 'a-folder')
  openSqliteKeys(join(path, 'data.db'))
  assert.throws(() => openSqliteKeys(path), { code: 'ERR_SQLITE_ERROR', message: 'unable to open database file' })
})

test('a database that is closed does not open its file again for jobs', async () => {
  const own = mkdtempSync(join(folder, 'closed-'))
  const storage = openSqlite(notes, { path: join(own, 'data.db') })
  await storage.close()
  await assert.rejects(storage.jobs.readExport('missing'), { kind: 'busy' })
  assert.deepEqual(Object.keys(modes(own)), ['data.db'])
})

test('the fault of a file that was replaced names the files that belong to the former one', async () => {
  const path = join(mkdtempSync(join(folder, 'replaced-')), 'data.db')
  const storage = openSqlite(notes, { path })
  renameSync(path, `${path}.former`)
  writeFileSync(path, '')
  await assert.rejects(storage.ping(), { kind: 'unwritable', message: /-wal and -shm/ })
  renameSync(`${path}.former`, path)
  await storage.close()
})
