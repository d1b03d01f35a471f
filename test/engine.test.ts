/** Which tests run on SQLite only, and why. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { newDatabase } from './engine.ts'
import { testFiles } from './postgres/test-files.ts'

const ownFolder = 'packages/server/src/storage/sqlite/'
const ofSqlite: Readonly<Record<string, string>> = {
  'packages/server/src/cli/dev.slow.test.ts': 'is about the command; a file is enough',
  'packages/server/src/cli/doctor.test.ts':
    'is about files, their modes and their folders; PostgreSQL has a test of its own',
  'packages/server/src/cli/explain.test.ts': 'is about the names and modes of files in messages',
  'packages/server/src/cli/serve-command.test.ts':
    'compares what addresses of both engines mean; no database is opened',
  'packages/server/src/cli/supported-node.test.ts': 'is about versions of Node; no database is opened',
  'packages/server/src/server/node/mounted.test.ts':
    'is about a body that another handler has read; no record is stored',
  'packages/server/src/storage/transactions/event-totals.test.ts': 'reads the plan of a query of SQLite',
  'packages/server/src/storage/transactions/export-csv.test.ts': 'reads values through the engine of SQLite',
  'test/atlas.slow.test.ts': 'the example fills a file and takes it into use by renaming it',
  'test/backups/litestream.slow.test.ts': 'is about a copy of the file',
  'test/canaries.release.test.ts': 'is about what the command says; one file will do',
  'test/command-errors.slow.test.ts': 'is about what the commands print; a file is enough',
  'test/crash/deletion.slow.test.ts': 'fills a file past the storage, and copies it for each kill',
  'test/deletion-pace.release.test.ts': 'fills a file past the storage; its times are those of SQLite',
  'test/export-pace.release.test.ts': 'fills a file past the storage; its times are those of SQLite',
  'test/package/package.slow.test.ts': 'is about the package; a file is enough',
  'test/power-cut/power-cut.release.test.ts':
    'replays what was written to a disk: the server of PostgreSQL answers for its own',
  'test/private-files.test.ts': 'is about the modes of files',
  'test/purge-pace.release.test.ts': 'times the transactions of one connection to a file',
  'test/crash/restoration.slow.test.ts': 'fills a file past the storage, and copies it for each kill',
  'test/crash/update.slow.test.ts': 'fills a file past the storage, and copies it for each kill',
  'test/crash/stopping.slow.test.ts': 'holds the lock of a file while the server stops',
}

const namesSqlite = /openSqlite|node:sqlite|sqlite\/connection|[`'"]sqlite:|databaseFile|startServer\(folder[^\n]*\)/

test('every test that names SQLite follows the engine, or is on the list with a reason', async () => {
  const files = await testFiles()
  assert.ok(files.filter(({ follows }) => follows).length > 50, 'most follow it')
  const named = files.filter(({ file, text }) => !file.startsWith(ownFolder) && namesSqlite.test(text))
  const staying = named.filter(({ follows }) => !follows).map(({ file }) => file)
  const advice = 'open databases with newDatabase() of test/engine.ts, or say here why not'
  assert.deepEqual(staying.toSorted(), Object.keys(ofSqlite).toSorted(), advice)
})

test('a database is empty at first, is shared by all that open it, and can be read without the storage', async () => {
  const database = await newDatabase()
  const catalog = completeCatalog({ name: 'notes', resources: { notes: { fields: { text: { type: 'string' } } } } })
  const [one, two] = [await database.open(catalog), await database.open(catalog)]
  assert.deepEqual(await one.keys.list(), [])
  const key = { id: 'k', hash: 'a hash', hint: 'h', subject: 'ann', roles: [], expires_at: null, revoked_at: null }
  await one.keys.add({ ...key, created_at: '2026-11-21T08:00:00.000Z' })
  assert.equal((await two.keys.find('a hash'))?.subject, 'ann')
  assert.deepEqual(await database.rows('select count(*) as count from notes'), [{ count: 0 }])
  assert.ok((await database.contents()).includes('a hash'))
  await one.close()
  await database.remove()
  const stays = await database.rows('select count(*) as count from notes')
  assert.equal(stays.length, 1, 'it stays while somebody uses it')
  await two.close()
  await database.remove()
  await assert.rejects(database.rows('select count(*) as count from notes'))
})
