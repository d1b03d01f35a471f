import assert from 'node:assert/strict'
import { test } from 'node:test'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import type { EventsOutcome, ReadEvents } from '../plan/plan-events.ts'
import { SharedReads } from './shared-reads.ts'

const owns = (value: string): Predicate => ({ kind: 'compare', field: 'owner', operator: 'eq', value })
const plan: ReadEvents = {
  ...{ kind: 'read-events', resource: { name: 'events' } as Resource, version: 'v1', after: 3, limit: 10 },
  ...{ filter: always, permitted: owns('ann') },
}

test('AUT-13: plans share a read only if everything about their readers is the same', () => {
  const reads = new SharedReads({ read: async () => ({}) as EventsOutcome, floor: async () => 0 }, () => 9, String)
  const key = reads.keyOf(plan)
  assert.equal(reads.keyOf({ ...plan, limit: 5, permitted: owns('ann') }), key)
  const fields = (who: string) => ({ readableFields: { 'tasks.salary': owns(who) } })
  const others: object[] = [
    { after: 4 },
    { version: 'v2' },
    { filter: owns('ann') },
    { permitted: owns('bob') },
    { permitted: always },
    fields('ann'),
    fields('bob'),
    ...[Number.NaN, Infinity, -Infinity].map((value) => ({
      permitted: { kind: 'compare', field: 'level', operator: 'lte', value } satisfies Predicate,
    })),
  ]
  const keys = others.map((other) => reads.keyOf({ ...plan, ...other }))
  assert.equal(new Set([key, ...keys]).size, others.length + 1)
  assert.equal(reads.keyOf({ ...plan, ...fields('ann') }), reads.keyOf({ ...plan, ...fields('ann') }))
})

test('a few reads run at once, and the others wait for their turn', async () => {
  let [running, most] = [0, 0]
  const read = async () => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
    return { events: [], position: 9, mark: 0, more: false }
  }
  const reads = new SharedReads({ read, floor: async () => 0 }, () => 9, String)
  const batches = await Promise.all(
    Array.from({ length: 50 }, (_, index) => reads.read({ ...plan, permitted: owns(`${index}`) })),
  )
  assert.equal(batches.length, 50)
  assert.ok(most <= 5, `${most} at once`)
})
