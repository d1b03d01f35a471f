import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { KeyStore } from '../storage/storage.ts'
import { noteUses } from './key-uses.ts'

function storeInto(kept: [string, number][][], fails = () => false): KeyStore {
  const keepUses = async (uses: ReadonlyMap<string, number>) => {
    if (fails()) throw new Error('full')
    kept.push([...uses])
  }
  return { keepUses } as Partial<KeyStore> as KeyStore
}

test('uses are written together a minute after the first: the last use of each key', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const kept: [string, number][][] = []
  let now = 1
  const uses = noteUses(
    storeInto(kept),
    () => now,
    (error) => assert.fail(String(error)),
  )
  uses.note('a')
  now = 2
  uses.note('b')
  uses.note('a')
  mock.timers.tick(59_999)
  assert.deepEqual(kept, [])
  mock.timers.tick(1)
  assert.deepEqual(kept, [
    [
      ['a', 2],
      ['b', 2],
    ],
  ])
  mock.timers.tick(120_000)
  assert.equal(kept.length, 1, 'nothing is kept where nothing was used')
  uses.note('a')
  await uses.close()
  assert.deepEqual(kept[1], [['a', 2]])
  mock.timers.reset()
})

test('a failed write is reported, and the next one has its uses too', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const failures: unknown[] = []
  const kept: [string, number][][] = []
  let isFull = true
  let now = 1
  const store = storeInto(kept, () => isFull)
  const uses = noteUses(
    store,
    () => now,
    (error) => void failures.push(error),
  )
  uses.note('a')
  uses.note('b')
  await uses.keep()
  assert.equal(failures.length, 1)
  now = 2
  uses.note('a')
  isFull = false
  mock.timers.tick(60_000)
  assert.deepEqual(new Map(kept[0]), new Map(Object.entries({ a: 2, b: 1 })))
  isFull = true
  uses.note('a')
  await uses.close()
  assert.equal(failures.length, 2)
  mock.timers.tick(120_000)
  assert.equal(failures.length, 2, 'nothing is written after the end')
  mock.timers.reset()
})

test('ERR-6: uses are kept while the database must not be written to', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const kept: [string, number][][] = []
  let paused = true
  const uses = noteUses(
    storeInto(kept),
    () => 1,
    (error) => assert.fail(String(error)),
    () => paused,
  )
  uses.note('a')
  mock.timers.tick(180_000)
  assert.deepEqual(kept, [])
  paused = false
  mock.timers.tick(60_000)
  assert.deepEqual(kept, [[['a', 1]]])
  paused = true
  uses.note('b')
  await uses.close()
  assert.deepEqual(kept[1], [['b', 1]], 'at the end nothing is lost')
  mock.timers.reset()
})
