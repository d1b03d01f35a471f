import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { type Counted, mostWindows, openWindows, type Quota, releaseWindows, sharedCounter } from './counter.ts'

const caller: Quota = { name: 'caller', most: 3, window: 60 }
const creation: Quota = { name: 'tasks.create', most: 1, window: 1 }

/** A counter, and the clock that it goes by. */
function counter() {
  const clock = { now: 1_000_000 }
  const { count } = sharedCounter(() => clock.now)
  const ask = (of: string, ...quotas: readonly Quota[]) => count(quotas.map((quota) => ({ quota, of })))
  return { clock, ask }
}

/** The bytes of memory in use, after a garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** The rest of each quota, and the time until its window ends. */
const standing = ({ standings }: Counted) => standings.map(({ left, until }) => [left, until])

test('a window lets its number of requests pass, and begins with the first', async () => {
  const { clock, ask } = counter()
  assert.deepEqual(standing(await ask('ann', caller)), [[2, 60_000]])
  clock.now += 59_999
  assert.deepEqual(standing(await ask('ann', caller)), [[1, 1]])
  assert.deepEqual([(await ask('ann', caller)).passes, (await ask('ann', caller)).passes], [true, false])
  clock.now += 1
  assert.deepEqual(standing(await ask('ann', caller)), [[2, 60_000]], 'the next one')
})

test('each caller has a separate quota', async () => {
  const { ask } = counter()
  for (let number = 0; number < 3; number++) await ask('ann', caller)
  assert.deepEqual([(await ask('ann', caller)).passes, (await ask('bob', caller)).passes], [false, true])
})

test('a request that one quota refuses counts against none', async () => {
  const { clock, ask } = counter()
  assert.deepEqual(standing(await ask('ann', caller, creation)), [[2, 60_000], [0, 1_000]]) // biome-ignore format: pairs
  clock.now += 400
  const refused = await ask('ann', caller, creation)
  assert.deepEqual([refused.passes, standing(refused)], [false, [[2, 59_600], [0, 600]]]) // biome-ignore format: pairs
  await ask('ann', caller)
  await ask('ann', caller)
  clock.now += 600
  const spent = await ask('ann', caller, creation)
  assert.deepEqual([spent.passes, standing(spent)], [false, [[0, 59_000], [1, 1_000]]]) // biome-ignore format: pairs
})

test('after the clock is set back, nobody waits for longer than a window', async () => {
  const { clock, ask } = counter()
  for (let number = 0; number < 4; number++) await ask('ann', caller)
  clock.now -= 3_600_000
  assert.deepEqual(standing(await ask('ann', caller)), [[2, 60_000]])
})

test('a million addresses take no more memory than the windows that are kept', async () => {
  const { ask } = counter()
  await ask('first', caller)
  const before = heldBytes()
  for (let number = 0; number < 1_000_000; number++) await ask(`address ${number}`, caller)
  const bytes = heldBytes() - before
  assert.ok(bytes < mostWindows * 50, `${bytes} bytes`)
  assert.deepEqual(standing(await ask('address 999999', caller)), [[1, 60_000]], 'the newest are known')
  assert.deepEqual(standing(await ask('first', caller)), [[2, 60_000]], 'the oldest is forgotten')
})

test('no window is dropped before it ends, even if many others are added and dropped', async () => {
  const { clock, ask } = counter()
  clock.now += 59_000
  for (let number = 0; number < 3; number++) await ask('ann', caller)
  for (let second = 0; second < 60; second++) {
    assert.equal((await ask('ann', caller)).passes, false, `after ${second} seconds`)
    await ask(`other ${second}`, caller)
    clock.now += 1_000
  }
  assert.equal((await ask('ann', caller)).passes, true)
})

test('threads that share windows count exactly, and one that ended while it counted blocks nobody', async () => {
  const windows = openWindows()
  const quota: Quota = { name: 'caller', most: 5_000, window: 3_600 }
  const work = `
    const { parentPort, workerData: { windows, quota, module } } = require('node:worker_threads')
    import(module).then(async ({ sharedCounter }) => {
      const { count } = sharedCounter(Date.now, windows)
      let passed = 0
      for (let number = 0; number < 2_000; number++) passed += (await count([{ quota, of: 'ann' }])).passes ? 1 : 0
      parentPort.postMessage(passed)
    })`
  const module = import.meta.resolve('./counter.ts')
  const threads = Array.from(
    { length: 4 },
    () => new Worker(work, { eval: true, workerData: { windows, quota, module } }),
  )
  const passed = await Promise.all(threads.map(async (thread) => Number((await once(thread, 'message'))[0])))
  assert.equal(
    passed.reduce((sum, each) => sum + each, 0),
    5_000,
  )
  // As if the thread 7 had ended in between.
  new Int32Array(windows.lock)[0] = 8
  releaseWindows(windows, 6)
  assert.equal(new Int32Array(windows.lock)[0], 8)
  releaseWindows(windows, 7)
  assert.equal((await sharedCounter(Date.now, windows).count([{ quota, of: 'ann' }])).passes, false)
})
