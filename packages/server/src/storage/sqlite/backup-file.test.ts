import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { endedProcess } from '../leftovers.fixture.ts'
import { processMark } from '../leftovers.ts'
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
  assert.deepEqual(readdirSync(dirname(path)), ['a.backup'])
})

test('a file that another process creates meanwhile is kept, and the partial file is removed', async (context) => {
  const path = pathFor(context)
  const writing = writeWhole(path, async (partial) => {
    writeFileSync(partial, 'ours')
    writeFileSync(path, 'theirs')
  })
  await assert.rejects(writing, /exists/)
  assert.equal(readFileSync(path, 'utf8'), 'theirs')
  assert.deepEqual(readdirSync(dirname(path)), ['a.backup'])
})

test('of two that write the same file at once, one succeeds and the other is told', async (context) => {
  const path = pathFor(context)
  const { promise: bothBegan, resolve } = Promise.withResolvers<void>()
  let begun = 0
  const write = (text: string) =>
    writeWhole(path, async (partial) => {
      writeFileSync(partial, text)
      if (++begun === 2) resolve()
      await bothBegan
    })
  const ended = await Promise.allSettled([write('one'), write('two')])
  const [winner] = ended.flatMap(({ status }, index) => (status === 'fulfilled' ? [['one', 'two'][index]] : []))
  assert.deepEqual(ended.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  assert.equal(readFileSync(path, 'utf8'), winner)
  assert.deepEqual(readdirSync(dirname(path)), ['a.backup'])
})

test('what a killed process has left of any file is removed when the next file is written in the folder', async (context) => {
  const path = pathFor(context)
  const left = `yesterday.backup.${processMark(await endedProcess())}-0123abcd.partial`
  const running = `tonight.backup.${processMark()}-0123abcd.partial`
  for (const name of [left, `${left}-journal`, running, 'film.partial']) writeFileSync(join(dirname(path), name), 'x')
  await writeWhole(path, async () => {})
  assert.deepEqual(readdirSync(dirname(path)), ['a.backup', 'film.partial', running].toSorted())
})
