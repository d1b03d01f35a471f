import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Fault } from '../spec/faults.ts'
import type { OpenExport } from '../storage/storage.ts'
import { exportsInFolder, keepReserve } from './export-files.ts'

const mebibyte = 1_048_576

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
  await place.prepare('job', claimed)
  await place.write('job', claimed, [Buffer.from('one')])
  free = 9 * mebibyte
  await assert.rejects(place.write('job', { ...claimed, bytes: 3 }, [Buffer.from('two')]), isRefused)
  await place.drop('job')
  assert.deepEqual(readdirSync(folder), [])
})
