import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../../../test/until.ts'
import { KeptOpen, type KeptOpenOptions } from './kept-open.ts'

function keptOpen(options: Partial<KeptOpenOptions<{ readonly id: string }>> = {}) {
  const events: string[] = []
  const kept = new KeptOpen<{ readonly id: string }>({
    async open(id) {
      events.push(`open ${id}`)
      await sleep(5)
      return { id }
    },
    async close({ id }) {
      await sleep(5)
      events.push(`close ${id}`)
    },
    mayClose: async () => true,
    failed: (error) => void events.push(String(error)),
    ...options,
  })
  return { kept, events }
}

test('what several ask for at the same time is opened once, and closed after the last of them', async () => {
  const { kept, events } = keptOpen({ idle: 0 })
  const leases = await Promise.all([kept.use('a'), kept.use('a'), kept.use('b')])
  assert.deepEqual(events, ['open a', 'open b'])
  assert.equal(leases[0]?.value, leases[1]?.value)
  leases[0]?.leave()
  await sleep(1_100)
  assert.deepEqual(events, ['open a', 'open b'])
  leases[1]?.leave()
  await until(() => events.length > 2)
  assert.deepEqual(events, ['open a', 'open b', 'close a'])
  leases[2]?.leave()
  await kept.close()
  assert.deepEqual(events.at(-1), 'close b')
})

test('who asks while it is being closed gets it opened anew', async () => {
  const { kept, events } = keptOpen()
  ;(await kept.use('a')).leave()
  const dropping = kept.drop('a')
  const { leave } = await kept.use('a')
  await dropping
  assert.deepEqual(events, ['open a', 'close a', 'open a'])
  leave()
  await kept.close()
})

test('beyond the limit, those that are idle for longest are closed at once', async () => {
  const { kept, events } = keptOpen({ most: 2 })
  const held = await kept.use('held')
  for (const id of ['a', 'b', 'c']) {
    ;(await kept.use(id)).leave()
    await sleep(20)
  }
  assert.deepEqual(
    events.filter((event) => event.startsWith('close')),
    ['close a', 'close b'],
  )
  held.leave()
  await kept.close()
})

test('what has something to do stays open', async () => {
  const { kept, events } = keptOpen({ idle: 0, mayClose: async () => false })
  ;(await kept.use('a')).leave()
  await sleep(1_100)
  assert.deepEqual(events, ['open a'])
  await kept.close()
  assert.deepEqual(events, ['open a', 'close a'])
})

test('beyond the limit, what has something to do is asked only now and then, and others are closed instead', async () => {
  const asked: string[] = []
  const { kept, events } = keptOpen({
    most: 2,
    async mayClose(_, id) {
      asked.push(id)
      return id === 'idle'
    },
  })
  const begun = performance.now()
  for (const id of ['a', 'b', 'c', 'd']) (await kept.use(id)).leave()
  for (let use = 0; use < 20; use++) {
    ;(await kept.use('idle')).leave()
    await sleep(10)
  }
  const looks = 2 + (performance.now() - begun) / 500
  assert.ok(asked.filter((id) => id !== 'idle').length <= 4 * looks, asked.join())
  assert.ok(events.includes('close idle'))
  await kept.close()
})

test('what cannot be opened is tried again by the next who asks', async () => {
  let attempts = 0
  const { kept } = keptOpen({
    async open(id) {
      attempts++
      if (attempts === 1) throw new Error('not now')
      return { id }
    },
  })
  await assert.rejects(kept.use('a'), /not now/)
  assert.equal((await kept.use('a')).value.id, 'a')
})

test('closing does not wait for what cannot be opened', { timeout: 5_000 }, async () => {
  const { promise, reject } = Promise.withResolvers<{ readonly id: string }>()
  const { kept, events } = keptOpen({ open: () => promise })
  const asked = assert.rejects(kept.use('a'), /broken/)
  const dropped = kept.drop('a')
  reject(new Error('broken'))
  await Promise.all([asked, dropped])
  await kept.close()
  assert.deepEqual(events, [])
})
