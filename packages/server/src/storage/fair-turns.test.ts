import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FairTurns, type TurnBounds } from './fair-turns.ts'

/** Turns whose reads are ended by hand. */
function trial(bounds: Partial<TurnBounds> = {}) {
  const turns = new FairTurns({ running: 4, waiting: 100, patience: 60_000, ...bounds })
  const running: { readonly name: string; readonly end: () => void }[] = []
  const read = (caller: string, name = caller, abandoned?: AbortSignal) => {
    const work = () => new Promise<string>((resolve) => running.push({ name, end: () => resolve(name) }))
    const outcome = turns.run(caller, work, abandoned)
    outcome.catch(() => {})
    return outcome
  }
  return {
    read,
    /** What runs now. */
    names: async () => {
      await turn()
      return running.map(({ name }) => name)
    },
    endFirst: () => running.shift()?.end(),
  }
}

test('one caller never gets more than half of the turns', async () => {
  const { read, names } = trial()
  for (let number = 0; number < 50; number++) void read('greedy')
  assert.deepEqual(await names(), ['greedy', 'greedy'])
  void read('modest')
  assert.deepEqual(await names(), ['greedy', 'greedy', 'modest'])
})

test('waiting callers take turns, however many reads each of them has', async () => {
  const { read, names, endFirst } = trial({ running: 1 })
  void read('a', 'a1')
  for (const name of ['a2', 'a3', 'b1', 'c1', 'b2']) void read(name[0]!, name)
  const served: string[] = []
  for (let count = 0; count < 6; count++) {
    served.push(...(await names()))
    endFirst()
  }
  assert.deepEqual(served, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})

test('a read that fails gives its turn to the next', async () => {
  const turns = new FairTurns({ running: 1, waiting: 1, patience: 60_000 })
  const failing = turns.run('a', () => Promise.reject(new Error('failed')))
  const next = turns.run('a', async () => 'read')
  await assert.rejects(failing, /failed/)
  assert.equal(await next, 'read')
})

test('if too many reads wait, the last read of the longest line is refused, of whichever caller', async () => {
  const { read, names, endFirst } = trial({ running: 1, waiting: 3 })
  void read('greedy')
  const [, , last] = [read('greedy', 'second'), read('greedy', 'third'), read('greedy', 'fourth')]
  const refused = assert.rejects(last, { kind: 'crowded' })
  const modest = read('modest')
  await refused
  await assert.rejects(read('greedy'), { kind: 'crowded' }, 'its own line is the longest now')
  await names()
  endFirst()
  assert.deepEqual(await names(), ['second'])
  endFirst()
  assert.deepEqual(await names(), ['modest'])
  endFirst()
  assert.equal(await modest, 'modest')
})

test('a read waits for a limited time', async () => {
  const { read, names } = trial({ running: 1, patience: 5 })
  void read('a')
  await assert.rejects(read('a'), { kind: 'crowded' })
  assert.deepEqual(await names(), ['a'])
})

test('a read whose client has gone leaves the line, and none is begun for a client that has gone', async () => {
  const { read, names, endFirst } = trial({ running: 1 })
  const [leaving, kept] = [new AbortController(), new AbortController()]
  void read('a', 'a1')
  const left = read('a', 'a2', leaving.signal)
  void read('a', 'a3', kept.signal)
  leaving.abort()
  await assert.rejects(left, { kind: 'abandoned' })
  await assert.rejects(read('a', 'a4', AbortSignal.abort()), { kind: 'abandoned' })
  await names()
  endFirst()
  assert.deepEqual(await names(), ['a3'])
  kept.abort()
  assert.deepEqual(await names(), ['a3'], 'a read that runs is ended by its work')
})
