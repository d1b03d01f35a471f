import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { uuidv7 } from 'uuidv7'
import { migrateSqlite, openSqliteMaintenance, sqliteAdministration } from './administration.ts'
import { all } from './migrate.fixture.ts'
import { openSqlite } from './storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-maintenance-'))
after(() => rmSync(folder, { recursive: true }))
const newPath = () => join(folder, `${uuidv7()}.db`)

const notes = completeCatalog({ name: 'notes', resources: { notes: { fields: { text: { type: 'string' } } } } })

/** A database that a server has used. */
async function newDatabase(): Promise<string> {
  const path = newPath()
  await openSqlite(notes, { path }).close()
  return path
}

function opened(path: string) {
  const found = openSqliteMaintenance(path)
  assert.ok(found !== undefined)
  return found
}

const noon = { since: '2026-11-21T12:00:00.000Z', message: 'Back soon.', retryAfter: 60 }
const later = { since: '2026-11-21T13:00:00.000Z', message: 'It takes "longer".\u{1f600}', retryAfter: 3_600 }

test('maintenance is on since it was first turned on, even if its message changes later', async () => {
  const { maintenance, close } = opened(await newDatabase())
  assert.equal(await maintenance.read(), undefined)
  assert.equal(await maintenance.end(), undefined)
  assert.deepEqual(await maintenance.begin(noon), { now: noon, before: undefined })
  assert.deepEqual(await maintenance.begin(noon), { now: noon, before: noon })
  const changed = { ...later, since: noon.since }
  assert.deepEqual(await maintenance.begin(later), { now: changed, before: noon })
  assert.deepEqual(await maintenance.read(), changed)
  assert.deepEqual(await maintenance.end(), changed)
  assert.equal(await maintenance.read(), undefined)
  assert.deepEqual(await maintenance.begin(later), { now: later, before: undefined })
  await close()
})

test('a server that opens the database finds maintenance on, and reads later changes', async () => {
  const path = await newDatabase()
  const { maintenance, close } = opened(path)
  await maintenance.begin(noon)
  const storage = openSqlite(notes, { path })
  assert.deepEqual([storage.maintenanceFound, await storage.maintenance.read()], [noon, noon])
  await maintenance.end()
  assert.equal(await storage.maintenance.read(), undefined)
  await storage.close()
  await close()
})

test('a database in memory can be switched to maintenance too', async () => {
  const storage = openSqlite(notes, { path: ':memory:' })
  assert.equal(storage.maintenanceFound, undefined)
  await storage.maintenance.begin(noon)
  assert.deepEqual(await storage.maintenance.read(), noon)
  await storage.close()
})

test('nothing else changes in a database of the version before, because its servers may be running', async () => {
  const path = await newDatabase()
  const database = new DatabaseSync(path)
  // No table of API keys; another table that no version has; and none of the switch.
  database.exec('drop table "api-keys"; create table other (a)')
  const state = () => [
    all(database, 'select * from sqlite_schema order by rowid'),
    all(database, "select * from resourced_meta where key <> 'maintenance' order by key"),
  ]
  const before = state()
  const { maintenance, close } = opened(path)
  await maintenance.begin(noon)
  assert.deepEqual(await maintenance.read(), noon)
  assert.deepEqual(state(), before)
  assert.deepEqual(all(database, "select key from resourced_meta where key = 'maintenance'"), [{ key: 'maintenance' }])
  await close()
  database.close()
  // The stored maintenance switch does not count as a change to make.
  const current = await newDatabase()
  const other = opened(current)
  await other.maintenance.begin(noon)
  await other.close()
  assert.deepEqual(migrateSqlite(current, notes, 'never').steps, [])
})

test('a file that is no database of Resourced is neither created nor changed', () => {
  const missing = newPath()
  assert.equal(openSqliteMaintenance(missing), undefined)
  assert.ok(!existsSync(missing))
  const foreign = newPath()
  const database = new DatabaseSync(foreign)
  database.exec('create table resourced (a)')
  database.close()
  const before = readFileSync(foreign)
  assert.equal(openSqliteMaintenance(foreign), undefined)
  assert.deepEqual(readFileSync(foreign), before)
  const text = newPath()
  writeFileSync(text, 'not a database, but long enough to be looked at as if it were one: '.repeat(20))
  assert.throws(() => openSqliteMaintenance(text), { code: 'ERR_SQLITE_ERROR' })
})

test('the command waits for a database that another process has locked', async () => {
  const path = await newDatabase()
  // A process of its own, as far as SQLite can tell: it holds the right to write for a while.
  const holder = new Worker(
    `const { DatabaseSync } = require('node:sqlite')
    const { parentPort, workerData } = require('node:worker_threads')
    const database = new DatabaseSync(workerData)
    database.exec('begin immediate')
    parentPort.postMessage('held')
    setTimeout(() => database.exec('commit'), 300)`,
    { eval: true, workerData: path },
  )
  await new Promise((resolve) => holder.once('message', resolve))
  const { maintenance, close } = opened(path)
  assert.equal(await maintenance.read(), undefined, 'to read it is possible meanwhile')
  const started = performance.now()
  assert.deepEqual(await maintenance.begin(noon), { now: noon, before: undefined })
  assert.ok(performance.now() - started > 100)
  await close()
  await new Promise((resolve) => holder.once('exit', resolve))
})

test('a file that is to be moved is waited for until every connection has left it', async () => {
  const path = await newDatabase()
  await sqliteAdministration(path).changesEnded()
  const [writing, reading] = [openSqlite(notes, { path }), new DatabaseSync(path, { readOnly: true })]
  reading.prepare('select 1 from notes').all()
  let isOver = false
  const ended = sqliteAdministration(path)
    .changesEnded()
    .then(() => {
      isOver = true
    })
  await sleep(300)
  assert.equal(isOver, false)
  reading.close()
  await sleep(300)
  assert.equal(isOver, false)
  await writing.close()
  await ended
  await sqliteAdministration(newPath()).changesEnded()
})
