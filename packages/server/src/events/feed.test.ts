import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../../test/until.ts'
import { EventFeed } from './feed.ts'

/** A store whose horizon tests move. */
function trialStore() {
  const store = {
    position: 0,
    polls: 0,
    failure: undefined as Error | undefined,
    marked: 0,
    mark: async () => store.marked,
    async horizon() {
      store.polls++
      if (store.failure !== undefined) throw store.failure
      return store.position
    },
  }
  return store
}

test('nothing is polled while nobody listens', async () => {
  const store = trialStore()
  const feed = new EventFeed({ store, failed() {}, interval: 5 })
  feed.wake()
  await sleep(30)
  assert.equal(store.polls, 0)
  const stop = feed.listen(() => {})
  await until(() => store.polls > 2)
  stop()
  const { polls } = store
  await sleep(30)
  assert.ok(store.polls <= polls + 1)
})

test('listeners are told when the horizon advances, and when it goes back: the database has lost changes', async () => {
  const store = trialStore()
  const feed = new EventFeed({ store, failed() {}, interval: 5 })
  const told: unknown[] = []
  const stop = feed.listen((isBack) => told.push([feed.horizon, isBack]))
  for (const position of [3, 3, 2, 9]) {
    store.position = position
    const { polls } = store
    // One may be under way.
    await until(() => store.polls >= polls + 2)
  }
  stop()
  assert.deepEqual(told, [
    [3, false],
    [2, true],
    [9, false],
  ])
})

test('the mark of the horizon is known once nothing new was found, and follows the database', async () => {
  const store = trialStore()
  store.position = 3
  store.marked = 7
  const feed = new EventFeed({ store, failed() {}, interval: 5 })
  await feed.read()
  assert.equal(feed.mark, undefined)
  await feed.read()
  assert.equal(feed.mark, 7)
  store.marked = 8
  await feed.read()
  assert.equal(feed.mark, 8)
  store.position = 4
  await feed.read()
  assert.equal(feed.mark, undefined)
})

test('an answer that comes after that of a later question is not taken for a loss', async () => {
  const answers: ((position: number) => void)[] = []
  const store = { horizon: () => new Promise<number>((resolve) => answers.push(resolve)), mark: async () => 0 }
  const feed = new EventFeed({ store, failed() {} })
  const told: unknown[] = []
  const stop = feed.listen((isBack) => told.push([feed.horizon, isBack]))
  const reads = [feed.read(), feed.read()]
  answers[1]?.(12)
  await reads[1]
  answers[0]?.(10)
  assert.equal(await reads[0], 12)
  stop()
  assert.deepEqual(told, [[12, false]])
})

test('a change of this process is found at once, and many are found together', async () => {
  const store = trialStore()
  const feed = new EventFeed({ store, failed() {}, interval: 60_000 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = feed.listen(() => resolve())
  store.position = 1
  for (let change = 0; change < 1_000; change++) feed.wake()
  await promise
  await sleep(20)
  assert.ok(store.polls <= 3, `${store.polls} polls`)
  assert.equal(feed.horizon, 1)
  stop()
})

test('a wake during a poll is not lost', async () => {
  const held = Promise.withResolvers<void>()
  let position = 0
  const store = {
    async horizon() {
      const found = position
      if (found === 0) await held.promise
      return found
    },
    mark: async () => 0,
  }
  const feed = new EventFeed({ store, failed() {}, interval: 60_000 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = feed.listen(() => resolve())
  feed.wake()
  await sleep(20)
  position = 5
  feed.wake()
  held.resolve()
  await promise
  assert.equal(feed.horizon, 5)
  stop()
})

test('a database that cannot be polled is reported once a minute, and polling goes on', async () => {
  const store = trialStore()
  const failures: unknown[] = []
  const feed = new EventFeed({ store, failed: (error) => void failures.push(error), interval: 5 })
  const stop = feed.listen(() => {})
  store.failure = new Error('gone')
  const { polls } = store
  await until(() => store.polls > polls + 3)
  store.failure = undefined
  store.position = 4
  await until(() => feed.horizon === 4)
  stop()
  assert.equal(failures.length, 1)
})
