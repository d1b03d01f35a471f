import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { endedProcess } from '../storage/leftovers.fixture.ts'
import { processMark } from '../storage/leftovers.ts'
import { exportsInDatabase } from './export-files.ts'

const hour = 3_600_000
const job = '01900000-0000-7000-8000-000000000001'

/** A place whose database has the pieces given, and how often each was read. */
function placeOf(context: TestContext, given: readonly string[]) {
  const pieces = new Map<number, string>()
  let bytes = 0
  for (const piece of given) {
    pieces.set(bytes, piece)
    bytes += Buffer.byteLength(piece)
  }
  const reads: number[] = []
  const place = exportsInDatabase({
    async read(_, start) {
      reads.push(start)
      await new Promise(setImmediate)
      const piece = pieces.get(start)
      if (piece === 'broken') throw new Error('The connection was lost.')
      return piece === undefined ? undefined : Buffer.from(piece)
    },
  })
  context.after(() => place.close())
  return { place, pieces, reads, bytes }
}

test('concurrent requests share one copy, and later ones find it', async (context) => {
  const { place, reads, bytes } = placeOf(context, ['one\n', 'zwölf\n', 'three\n'])
  const found = await Promise.all(Array.from({ length: 20 }, () => place.has(job, bytes, 0)))
  assert.deepEqual(new Set(found), new Set([true]))
  assert.equal(await place.has(job, bytes, 0), true)
  assert.deepEqual(reads, [0, 4, 11])
  assert.equal(readFileSync(place.pathOf(job), 'utf8'), 'one\nzwölf\nthree\n')
  assert.equal(statSync(place.pathOf(job)).mode & 0o777, 0o600)
  assert.equal(statSync(dirname(place.pathOf(job))).mode & 0o777, 0o700)
})

test('an incomplete copy does not have its final name, and a failed copy is tried again', async (context) => {
  const { place, pieces, bytes } = placeOf(context, ['one\n', 'broken'])
  await assert.rejects(place.has(job, bytes, 0), /connection was lost/)
  assert.equal(existsSync(place.pathOf(job)), false)
  assert.equal(existsSync(`${place.pathOf(job)}.half`), false)
  pieces.delete(4)
  assert.equal(await place.has(job, bytes, 0), false)
  assert.equal(existsSync(`${place.pathOf(job)}.half`), false)
  pieces.set(4, 'two...')
  assert.equal(await place.has(job, bytes, 0), true)
  assert.equal(readFileSync(place.pathOf(job), 'utf8'), 'one\ntwo...')
})

test('a copy is removed an hour after the last request, and made again when needed', async (context) => {
  const { place, reads, bytes } = placeOf(context, ['one'])
  await place.has(job, bytes, 0)
  await place.has(job, bytes, hour / 2)
  await place.sweep(hour)
  assert.equal(existsSync(place.pathOf(job)), true)
  const [, again] = await Promise.all([place.sweep(1.5 * hour), place.has(job, bytes, 1.5 * hour)])
  assert.deepEqual([again, existsSync(place.pathOf(job)), reads.length], [true, true, 2])
  rmSync(place.pathOf(job))
  assert.equal(await place.has(job, bytes, 2 * hour), true)
  assert.equal(existsSync(place.pathOf(job)), true)
})

test('closing removes all copies', async (context) => {
  const { place, bytes } = placeOf(context, ['one'])
  await place.has(job, bytes, 0)
  const folder = dirname(place.pathOf(job))
  await place.close()
  assert.equal(existsSync(folder), false)
})

test('copies of other servers are kept, whatever the time of this server, unless those were killed', async (context) => {
  const [{ place, bytes }, other] = [placeOf(context, ['one']), placeOf(context, ['one'])]
  await other.place.has(job, bytes, 0)
  const killed = join(tmpdir(), `resourced-export-copies-${processMark(await endedProcess())}-test`)
  context.after(() => rmSync(killed, { recursive: true, force: true }))
  mkdirSync(killed)
  await place.sweep(Date.now() + 300 * 24 * hour)
  assert.deepEqual([existsSync(other.place.pathOf(job)), existsSync(killed)], [true, false])
})
