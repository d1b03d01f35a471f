import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FairTurns, type TurnBounds } from './fair-turns.ts'

/** Turns whose reads are ended by hand. */
function trial(bounds: Partial<TurnBounds> = {}) {
  const turns = new FairTurns({ running: 4, waiting: 100, patience: 60_000, ...bounds })
  const running: { readonly name: string; readonly end: () => void }[] = []
  const readOf = (tenant: string | undefined, caller: string, name = caller, abandoned?: AbortSignal) => {
    const work = () => new Promise<string>((resolve) => running.push({ name, end: () => resolve(name) }))
    const outcome = turns.run({ tenant, caller }, work, abandoned)
    outcome.catch(() => {})
    return outcome
  }
  return {
    readOf,
    read: readOf.bind(undefined, undefined),
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
  const failing = turns.run({ caller: 'a' }, () => Promise.reject(new Error('failed')))
  const next = turns.run({ caller: 'a' }, async () => 'read')
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

test('waiting tenants take turns, however many callers each of them has, and so do the callers of each', async () => {
  const { readOf, names, endFirst } = trial({ running: 1, waiting: 1_000 })
  void readOf('a', 'first')
  for (let number = 0; number < 100; number++) void readOf('a', `a${number}`)
  void readOf('a', 'a0', 'again')
  void readOf('b', 'a0', 'b0')
  void readOf('b', 'b1')
  const served: string[] = []
  for (let count = 0; count < 6; count++) {
    served.push(...(await names()))
    endFirst()
  }
  assert.deepEqual(served, ['first', 'a0', 'b0', 'a1', 'b1', 'a2'])
  for (let count = 0; count < 97; count++) {
    await names()
    endFirst()
  }
  assert.deepEqual(await names(), ['again'])
})

test('a tenant that has waited goes before one that begins to wait', async () => {
  const { readOf, names, endFirst } = trial({ running: 1 })
  void readOf('a', 'a1')
  void readOf('b', 'b1')
  void readOf('a', 'a2')
  await names()
  endFirst()
  assert.deepEqual(await names(), ['b1'])
})

test('of three turns and more, one tenant never gets all, however many callers it has', async () => {
  const { readOf, names, endFirst } = trial({ running: 4 })
  for (let number = 0; number < 100; number++) void readOf('greedy', `g${number}`)
  assert.deepEqual(await names(), ['g0', 'g1', 'g2'])
  void readOf('modest', 'm1')
  void readOf('modest', 'm2')
  assert.deepEqual(await names(), ['g0', 'g1', 'g2', 'm1'])
  endFirst()
  assert.deepEqual(await names(), ['g1', 'g2', 'm1', 'g3'], 'it has waited for longer')
  endFirst()
  assert.deepEqual(await names(), ['g2', 'm1', 'g3', 'm2'])
  for (let count = 0; count < 4; count++) endFirst()
  assert.deepEqual(await names(), ['g4', 'g5', 'g6'])
})

test('of two turns, which callers halve, a tenant alone gets both', async () => {
  const { readOf, names } = trial({ running: 2 })
  for (const caller of ['ann', 'bob', 'eve']) void readOf('a', caller)
  assert.deepEqual(await names(), ['ann', 'bob'])
})

test('if too many reads wait, the tenant with the most is refused one, whoever its callers are', async () => {
  const { readOf, names, endFirst } = trial({ running: 1, waiting: 3 })
  void readOf('greedy', 'g0')
  const reads = ['g1', 'g2', 'g3'].map((caller) => readOf('greedy', caller))
  await assert.rejects(readOf('greedy', 'g4'), { kind: 'crowded' }, 'no caller of it has a longer line')
  const modest = readOf('modest', 'm')
  await assert.rejects(reads[2] ?? assert.fail(), { kind: 'crowded' }, 'the one that would be served last')
  await assert.rejects(readOf('greedy', 'g5'), { kind: 'crowded' }, 'its own line is the longest now')
  for (let count = 0; count < 2; count++) {
    await names()
    endFirst()
  }
  assert.deepEqual(await names(), ['m'])
  endFirst()
  assert.equal(await modest, 'm')
})

test('nothing is kept of callers and tenants that have no reads', async () => {
  const { readOf, names, endFirst } = trial({ running: 1, waiting: 1 })
  void readOf('a', 'a1')
  void readOf('b', 'b1')
  await assert.rejects(readOf('c', 'c1'), { kind: 'crowded' })
  await assert.rejects(readOf('d', 'd1', 'd1', AbortSignal.abort()), { kind: 'abandoned' })
  for (let count = 0; count < 2; count++) {
    await names()
    endFirst()
  }
  void readOf('e', 'e1')
  assert.deepEqual(await names(), ['e1'])
})
