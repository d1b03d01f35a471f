/** BLK-1 to BLK-4, RES-17, SUM-3, HIS-1: some order explains what clients do at the same time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { depotOf } from './depot.ts'
import { type Deed, explain, type Found } from './explain.ts'
import { Histories } from './histories.ts'
import { begun } from './play.ts'
import type { Act } from './requests.ts'
import { siteHere } from './sites.ts'

test('BLK-2, BLK-3, BLK-4: some order explains random histories, and all sums and events', async (context) => {
  const histories = new Histories(context, await siteHere(context, depotOf()))
  await histories.run(40)
})

const item = (id: string, sku: string) => ({ id, sku, title: id, slot: null, kind: 'x', amount: null, box_id: null })
const world = { created: new Map(), erased: new Set<string>(), kept: new Set<string>() }

/** Two requests, the second of which begins at a time. */
function two(second: number, acts: readonly (readonly [Act, number, unknown])[]): readonly (readonly Deed[])[] {
  return acts.map(([act, status, json], index) => [
    { act, called: index * second, returned: 10 + index * second, reply: { status, json } },
  ])
}

const isExplained = (clients: readonly (readonly Deed[])[], found: readonly ReturnType<typeof item>[]) => {
  const records: Found = new Map(
    found.map((values) => [values.id, { values, isLive: true, deletion: null, revision: '1' }]),
  )
  return explain(world, begun.state, clients, records).end !== undefined
}

test('a history that no order explains is found', () => {
  const create = (id: string): Act => ({ kind: 'create', collection: 'items', body: { sku: 'a', title: id } })
  const list: Act = { kind: 'list', collection: 'items' }
  const empty = { data: [], pagination: { total_count: 0 } }
  const [one, other] = [item('one', 'a'), item('other', 'a')]
  const made = [create('one'), 201, one] as const
  const refused = [create('other'), 409, {}] as const
  assert.ok(isExplained(two(1, [made, refused]), [one]))
  assert.ok(!isExplained(two(1, [made, refused]), []), 'what was acknowledged is lost')
  assert.ok(!isExplained(two(1, [made, [create('other'), 201, other]]), [one, other]), 'both have one value')
  assert.ok(isExplained(two(1, [made, [list, 200, empty]]), [one]), 'the list came first')
  assert.ok(!isExplained(two(20, [made, [list, 200, empty]]), [one]), 'the list was asked for after the creation')
})
