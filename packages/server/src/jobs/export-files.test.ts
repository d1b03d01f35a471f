import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Fault } from 'resourced-contract/spec/faults'
import type { OpenExport } from '../storage/storage.ts'
import { exportsInDatabase, exportsInFolder, keepReserve } from './export-files.ts'

const mebibyte = 1_048_576
const job = '01900000-0000-7000-8000-00000000000a'

/** A disk of so many blocks of 4 KiB, some of them free. */
function diskOf(total: number, free: number) {
  return async () => ({ bsize: 4_096, blocks: total / 4_096, bavail: free / 4_096 })
}

function isRefused(error: unknown): boolean {
  assert.ok(error instanceof Fault && error.code === 'EXPORT_SPACE')
  assert.doesNotMatch(error.message, /\//)
  return true
}

test('LIM-8: a tenth of a small disk stays free', async () => {
  const disk = diskOf(100 * mebibyte, 30 * mebibyte)
  await keepReserve('anywhere', 20 * mebibyte, disk)
  await assert.rejects(keepReserve('anywhere', 20 * mebibyte + 1, disk), isRefused)
})

test('LIM-8: of a large disk 1 GiB stays free', async () => {
  const disk = diskOf(1_024 * 1_024 * mebibyte, 1_030 * mebibyte)
  await keepReserve('anywhere', 6 * mebibyte, disk)
  await assert.rejects(keepReserve('anywhere', 6 * mebibyte + 1, disk), isRefused)
})

test('LIM-8: a piece for which the disk has no room is not written', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-reserve-'))
  context.after(() => rmSync(folder, { recursive: true }))
  let free = 50 * mebibyte
  const place = exportsInFolder(folder, (at) => diskOf(100 * mebibyte, free)().then((space) => ({ ...space, at })))
  const claimed = { bytes: 0 } as OpenExport
  await place.prepare(job, claimed)
  await place.write(job, claimed, [Buffer.from('one')])
  free = 9 * mebibyte
  await assert.rejects(place.write(job, { ...claimed, bytes: 3 }, [Buffer.from('two')]), isRefused)
  await place.drop(job)
  assert.deepEqual(readdirSync(folder), [])
})

const hostileNames = [
  '',
  '.',
  '..',
  '../outside',
  '/etc/passwd',
  `${job}/../../outside`,
  `${job}.half`,
  `${job}\n`,
  `${job}\0`,
]

test('JOB-6: no file of an export has a name that is not the id of a job', async (context) => {
  const above = mkdtempSync(join(tmpdir(), 'resourced-names-'))
  context.after(() => rmSync(above, { recursive: true }))
  writeFileSync(join(above, 'outside'), 'kept')
  const places = [exportsInFolder(join(above, 'exports')), exportsInFolder(undefined)]
  const claimed = { bytes: 0 } as OpenExport
  for (const [index, place] of places.entries()) {
    for (const name of [...hostileNames, job.toUpperCase()]) {
      const named = `${index} ${JSON.stringify(name)}`
      assert.throws(() => place.contentOf(name), /is not the id of a job/, named)
      await assert.rejects(place.has(name, 6), /is not the id of a job/, named)
      await assert.rejects(place.prepare(name, claimed), /is not the id of a job/, named)
      // A job whose file cannot be named can still fail.
      await place.drop(name)
    }
    await place.close()
  }
  assert.deepEqual([readdirSync(above), existsSync(join(above, 'outside'))], [['exports', 'outside'], true])
})

test('JOB-6: a sweep removes the expired files of exports, and nothing else in their folder', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-sweep-'))
  context.after(() => rmSync(folder, { recursive: true }))
  for (const name of [job, 'notes.txt']) {
    writeFileSync(join(folder, name), 'x')
    utimesSync(join(folder, name), 1_000, 1_000)
  }
  await exportsInFolder(folder).sweep(Date.now())
  assert.deepEqual(readdirSync(folder), ['notes.txt'])
})

test('JOB-6: a file in the database is there with its last byte, and read from any byte on', async () => {
  const asked: number[] = []
  const { has, contentOf } = exportsInDatabase({
    async read(_, start) {
      asked.push(start)
      return start < 6 ? Buffer.from('a file').subarray(start) : undefined
    },
  })
  assert.deepEqual([await has(job, 6), await has(job, 7), await has(job, 0)], [true, false, true])
  const content = contentOf(job)
  assert.equal(String('read' in content && (await content.read(2))), 'file')
  assert.deepEqual(asked, [5, 6, 2])
})
