import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { endedProcess } from './leftovers.fixture.ts'
import { processMark, removeLeftovers } from './leftovers.ts'

const day = 86_400_000

test('what a process has left is removed once it has ended; of another machine after two days', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-left-'))
  const outside = mkdtempSync(join(tmpdir(), 'resourced-left-'))
  context.after(() => {
    for (const each of [folder, outside]) rmSync(each, { recursive: true })
  })
  writeFileSync(join(outside, 'kept'), '')
  const ended = await endedProcess()
  const ours = `a.${processMark()}-1.partial`
  const left = [`a.${processMark(ended)}-1.partial`, `b.${processMark(ended)}-2.partial-journal`]
  const others = { new: 'a.p1-00000000-1.partial', old: 'b.p1-00000000-1.partial' }
  const unmarked = ['film.partial', 'p1.partial', `a.${processMark(ended)}-1.text`]
  for (const name of [ours, ...left, ...Object.values(others), ...unmarked]) writeFileSync(join(folder, name), '')
  mkdirSync(join(folder, `c.${processMark(ended)}-3.partial`))
  writeFileSync(join(folder, `c.${processMark(ended)}-3.partial`, 'file'), '')
  symlinkSync(outside, join(folder, `d.${processMark(ended)}-4.partial`))
  const seconds = (age: number) => (Date.now() - age) / 1_000
  utimesSync(join(folder, others.new), seconds(1.9 * day), seconds(1.9 * day))
  utimesSync(join(folder, others.old), seconds(2.1 * day), seconds(2.1 * day))
  // Those of a process that runs are kept, however old they are.
  utimesSync(join(folder, ours), 1_000, 1_000)
  await removeLeftovers(folder, (name) => /\.partial/.test(name))
  assert.deepEqual(readdirSync(folder).toSorted(), [ours, others.new, ...unmarked].toSorted())
  assert.deepEqual(readdirSync(outside), ['kept'])
})

test('a folder that is not there has nothing left in it', async () => {
  await removeLeftovers(join(tmpdir(), 'resourced-no-such-folder'), () => true)
})
