/** More of them: `PENDING=200000 node --test many-pending.test.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidv7 } from 'uuidv7'
import { openBench, success } from './worker.fixture.ts'

const count = Number(process.env.PENDING ?? 4_000)

test('a consumer with many pending deliveries delays neither itself nor another one (EVT-9)', async (t) => {
  const bench = await openBench(t)
  const { deliveries } = bench
  const now = Date.now()
  for (const name of ['many', 'few']) await deliveries.addConsumer({ name, position: 0, kinds: ['updated'] })
  const one = uuidv7()
  for (let from = 0; from < count; from += 1_000) {
    const added = Array.from({ length: 1_000 }, (_, index) => {
      const position = from + index + 1
      // Half of them are of one record, whose first delivery keeps failing.
      const of = { collection: 'notes', record: index % 2 === 0 ? one : uuidv7(), kind: 'updated' as const }
      return { ...of, id: uuidv7(), event: uuidv7(), position, turn: position }
    })
    assert.ok(
      await deliveries.fanOut({
        consumer: 'many',
        kinds: { updated: 0 },
        from,
        to: from + 1_000,
        deliveries: added,
        now,
      }),
    )
  }
  const started = performance.now()
  for (let round = 0; round < 100; round++) {
    await deliveries.consumers()
    const at = now + round
    const claim = { consumer: 'many', server: 'a', limit: 8, now: at, until: at + 60_000 }
    for (const delivery of await deliveries.claim(claim)) {
      const { answer } = success as Extract<typeof success, { kind: 'succeeded' }>
      const end = delivery.record === one ? ({ status: 'pending', next: at + 3_600_000, answer } as const) : undefined
      const ending = { consumer: 'many', server: 'a', delivery, now: at }
      assert.ok(await deliveries.end({ ...ending, end: end ?? { status: 'succeeded', answer } }))
    }
  }
  const each = (performance.now() - started) / 100
  t.diagnostic(`${count} pending: a round of eight deliveries took ${each.toFixed(1)} ms`)
  const states = await deliveries.consumers()
  assert.deepEqual(
    states.map(({ name, due }) => [name, due === undefined]),
    [
      ['few', true],
      ['many', false],
    ],
  )
  // A scan of all pending deliveries takes longer by far on the machines of tests.
  assert.ok(each < 250, `${each} ms`)
})
