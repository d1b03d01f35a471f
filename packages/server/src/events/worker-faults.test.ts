/** EVT-9, EVT-12: whichever transaction of the deliveries fails, and whichever commits unnoticed, no event is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidv7 } from 'uuidv7'
import { type FailingCall, failingStore } from '../../../../test/failing-store.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import { openBench, success } from './worker.fixture.ts'

const minute = 60_000

const methods: readonly (keyof DeliveryStore)[] = ['consumers', 'addConsumer', 'fanOut', 'claim', 'end', 'sweep']

for (const method of methods) {
  for (const when of ['before', 'after'] as const) {
    for (const call of method === 'addConsumer' || method === 'sweep' ? [1] : [1, 2, 4]) {
      const words = when === 'before' ? 'fails' : 'commits without an answer'
      test(`each event becomes one delivery where call ${call} of ${method} ${words}`, (t) =>
        loseNothing(t, { method, call, when }))
    }
  }
}

async function loseNothing(t: Parameters<typeof openBench>[0], failing: FailingCall): Promise<void> {
  const bench = await openBench(t)
  const { store, hit } = failingStore(bench.deliveries, failing)
  const got: string[] = []
  const deliver = ({ event }: { event: string }) => {
    got.push(event)
    return success
  }
  const worker = bench.start({ f: deliver, g: () => success }, uuidv7(), store)
  const records = [uuidv7(), uuidv7()]
  const made: string[] = []
  for (let batch = 0; batch < 4; batch++) {
    for (const record of [...records, ...records]) made.push(bench.events.add(record).id)
    // Settling itself asks for the consumers, and may meet the failure.
    await worker.settle().catch((error) => bench.failures.push(error))
    await worker.settle()
  }
  // A claim whose end was not kept is made again later.
  bench.clock.ahead = minute
  await worker.settle()
  assert.ok(hit(), 'The call that fails was not made.')
  assert.ok(bench.failures.length > 0, 'The failure was not reported.')
  assert.deepEqual(new Set(got), new Set(made))
  const shown = (await bench.shown()).filter(({ function: name }) => name === 'f')
  assert.deepEqual(shown.map(({ event_id }) => event_id).toSorted(), made.toSorted())
  assert.deepEqual([...new Set(shown.map(({ status }) => status))], ['succeeded'])
}
