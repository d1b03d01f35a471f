/** TEN-2 on SQLite: files share threads, and no read sees another file. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import type { Storage } from '../storage.ts'
import { SharedThreads } from './reader-threads.ts'
import { catalogOf, containing, fill, pageOf, patient } from './slow-reads.fixture.ts'
import { openSqlite } from './storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-shared-'))
const filled = join(folder, 'filled.db')
before(() => fill(filled, 3_000))
after(() => rmSync(folder, { recursive: true }))

/** A file with the same records as each other one, of which the first `marked` have the title of the file. */
function fileOf(title: string, marked: number): string {
  const path = join(folder, `${title}.db`)
  rmSync(path, { force: true })
  copyFileSync(filled, path)
  const database = new DatabaseSync(path)
  database.prepare('update tasks set title = ? where _row <= ?').run(title, marked)
  database.close()
  return path
}

const workers = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length

/** The titles of the first records, on a thread. */
async function titles(storage: Storage): Promise<ReadonlySet<string>> {
  const outcome = await storage.run(pageOf(catalog, { filter: { kind: 'not', term: containing(3) } }))
  assert.ok(outcome.kind === 'page')
  return new Set((JSON.parse(`[${outcome.json}]`) as { title: string }[]).map(({ title }) => title))
}

const catalog = catalogOf(patient)

test('TEN-2: many files share few threads, and each read sees its own file', async () => {
  const threads = new SharedThreads(catalog)
  const files = Array.from({ length: 20 }, (_, index) => `file-${index}`)
  const storages = files.map((title) => openSqlite(catalog, { path: fileOf(title, 3_000), threads }))
  const before = workers()
  for (let round = 0; round < 3; round++) {
    const found = await Promise.all(storages.map(titles))
    assert.deepEqual(
      found,
      files.map((title) => new Set([title])),
    )
  }
  assert.ok(workers() - before <= 4, `${workers() - before} threads`)
  for (const each of storages) await each.close()
  await threads.close()
})

test('TEN-2: a file that took the place of a closed one is read, and not the closed one', async () => {
  const threads = new SharedThreads(catalog)
  const read = async (marked: number) => {
    const storage = openSqlite(catalog, { path: fileOf('replaced', marked), threads })
    const found = await titles(storage)
    await storage.close()
    return found
  }
  assert.deepEqual(await read(3_000), new Set(['replaced']))
  assert.equal((await read(1)).size, 20)
  await threads.close()
})
