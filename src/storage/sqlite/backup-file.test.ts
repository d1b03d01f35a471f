import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeWhole } from './backup-file.ts'

function pathFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-whole-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'a.backup')
}

test('a file appears when it is complete, and only its owner can read it', async (context) => {
  const path = pathFor(context)
  await writeWhole(path, async (partial) => {
    writeFileSync(partial, 'whole')
    assert.equal(existsSync(path), false)
  })
  assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mode & 0o777], ['whole', 0o600])
  assert.equal(existsSync(`${path}.partial`), false)
})

test('a file that another process creates meanwhile is kept, and the partial file is removed', async (context) => {
  const path = pathFor(context)
  const writing = writeWhole(path, async (partial) => {
    writeFileSync(partial, 'ours')
    writeFileSync(path, 'theirs')
  })
  await assert.rejects(writing, /exists/)
  assert.equal(readFileSync(path, 'utf8'), 'theirs')
  assert.equal(existsSync(`${path}.partial`), false)
})

test('a partial file that another process has replaced is left to that process', async (context) => {
  const path = pathFor(context)
  const writing = writeWhole(path, async (partial) => {
    // Both are there at once, so that the system does not give the new one the number of the old one.
    writeFileSync(`${partial}.new`, 'theirs')
    renameSync(`${partial}.new`, partial)
  })
  await assert.rejects(writing)
  assert.equal(existsSync(path), false)
  assert.equal(readFileSync(`${path}.partial`, 'utf8'), 'theirs')
})
