import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always, type Predicate, type SortTerm } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import { pick, randomFrom } from '../../../../../test/durability/random.ts'
import { newDatabase } from '../../../../../test/engine.ts'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Create, Page, ReadPage } from '../../plan/plan.ts'
import { Places } from './places.ts'

const catalog = completeCatalog({
  name: 'places',
  resources: {
    tasks: {
      fields: {
        title: { type: 'string', sort: true },
        team: { type: 'string', enum: ['red', 'blue'], filter: true },
        rank: { type: 'integer', sort: true, optional: true },
        cost: { type: 'decimal', sort: true, optional: true },
        share: { type: 'number', sort: true },
        due: { type: 'string', format: 'date-time', sort: true, optional: true },
        done: { type: 'boolean', sort: true, optional: true },
        notes: { type: 'string', filter: true, maxLength: 50 },
      },
    },
  },
})
const resource = catalog.resources.get('tasks') as Resource
const red: Predicate = { kind: 'compare', field: 'team', operator: 'eq', value: 'red' }
const noted: Predicate = { kind: 'compare', field: 'notes', operator: 'contains', value: 'a' }
const filters: readonly Predicate[] = [always, red, noted]

function pageOf(page: Page, over: Partial<ReadPage> = {}): ReadPage {
  return {
    ...{ kind: 'read-page', resource, parent: undefined, filter: always, permitted: always, search: undefined },
    ...{ deleted: undefined, sort: [], page, fields: undefined, conditions: {} },
    ...over,
  }
}

const random = randomFrom(7)
const below = (most: number) => Math.floor(random() * most)

/** A record with many values that others have too, of which some are unset. */
function taskOf(): Record<string, unknown> {
  const unset = <Value>(value: Value) => (below(4) === 0 ? null : value)
  const zone = pick(random, ['Z', '+02:00', '-09:30'])
  return {
    title: pick(random, ['a', 'B', 'é', 'ß"\\\n', '😀', '']),
    team: pick(random, ['red', 'blue']),
    rank: unset(below(5) - 2),
    cost: unset(pick(random, ['10.50', '9', '-1000', '0.10', '12345678901234567890'])),
    share: pick(random, [0.1, 1 / 3, 1e21, -5e-7, 2]),
    due: unset(`2026-11-2${below(9)}T08:00:00${zone}`),
    done: unset(below(2) === 1),
    notes: pick(random, ['a', 'b']),
  }
}

function creation(): Create {
  const caller = { id: 'ann', roles: [], claims: {} }
  const who = { caller, now: Date.now() - below(1_000), permitted: always, mayAssignOwner: false, parent: undefined }
  return { kind: 'create', resource, id: uuidv7(), body: taskOf(), ...who }
}

test('pages by number are the same from any place, in every order, and after changes', async (t) => {
  const database = await newDatabase()
  const storage = await database.open(catalog)
  t.after(async () => {
    await storage.close()
    await database.remove()
  })
  const read = async (plan: ReadPage) => {
    const outcome = await storage.run(plan)
    assert.equal(outcome.kind, 'page')
    return outcome as PageOutcome
  }
  const create = async () => (await storage.run(creation())).kind
  for (let count = 0; count < 600; count++) assert.equal(await create(), 'created')
  const names = ['title', 'rank', 'cost', 'share', 'due', 'done', 'created_at']
  const terms = names.flatMap((field) => [false, true].map((descending): SortTerm => ({ field, descending })))
  for (const first of terms) {
    for (const filter of filters) {
      const other = pick(random, terms)
      const sort = other.field === first.field ? [first] : [first, other]
      const list = { filter, sort }
      const whole = (await read(pageOf({ style: 'offset', offset: 0, limit: 2_000 }, list))).json.split(',\n')
      for (let turn = 0; turn < 12; turn++) {
        const [offset, limit] = [below(whole.length + 40), 1 + below(60)]
        const page: Page =
          turn % 2 === 0 ? { style: 'offset', offset, limit } : { style: 'page', page: 1 + below(30), perPage: 37 }
        const start = page.style === 'page' ? (page.page - 1) * page.perPage : offset
        const expected = whole.slice(start, start + (page.style === 'page' ? page.perPage : limit))
        const found = await read(pageOf(page, list))
        const asked = JSON.stringify([sort, filter, page])
        assert.equal(found.json, expected.join(',\n'), asked)
        assert.equal(found.count, expected.length, asked)
      }
      assert.equal(await create(), 'created')
    }
  }
})

const numbered = (page: number): ReadPage => pageOf({ style: 'page', page, perPage: 50 })
const json = (id: string) => ({ json: `{"id":"0"},\n{"id":"${id}"}`, count: 50 })

test('a page begins at the nearest place before it, at the same revision', () => {
  const places = new Places()
  for (const page of [4, 10, 7]) places.learn('tasks', numbered(page), 1, json(String(page)))
  const before = (page: number, revision = 1) => places.before('tasks', numbered(page), revision)
  assert.deepEqual(before(5), { rows: 200, keys: ['4'] })
  assert.deepEqual(before(8), { rows: 350, keys: ['7'] })
  assert.deepEqual(before(10), { rows: 350, keys: ['7'] })
  assert.deepEqual(before(1_000), { rows: 500, keys: ['10'] })
  assert.equal(before(4), undefined)
  assert.equal(before(8, 2), undefined, 'a change moves rows')
  places.learn('tasks', numbered(20), 2, json('20'))
  assert.equal(before(8), undefined)
  assert.equal(places.before('others', numbered(30), 2), undefined)
  assert.equal(places.before('tasks', { ...numbered(30), sort: [{ field: 'title', descending: true }] }, 2), undefined)
  places.clear()
  assert.equal(before(30, 2), undefined)
})

test('no place is learned where the representation lacks a key, or the list depends on the time', () => {
  const places = new Places()
  const cases: readonly Partial<ReadPage>[] = [
    { fields: ['id'] },
    { sort: [{ field: 'title', descending: false }] },
    { deleted: { permitted: always, since: '2026' } },
  ]
  for (const over of cases) {
    places.learn('tasks', { ...numbered(4), ...over }, 1, json('4'))
    assert.equal(places.before('tasks', { ...numbered(9), ...over }, 1), undefined, JSON.stringify(over))
  }
})

test('a list of many pages has a bounded number of places, the last one among them', () => {
  const places = new Places()
  for (let page = 1; page <= 5_000; page++) {
    places.learn('tasks', numbered(page), 1, json(String(page)))
    if (page > 1) assert.equal(places.before('tasks', numbered(page + 1), 1)?.rows, page * 50)
  }
  const known = new Set(Array.from({ length: 5_000 }, (_, page) => places.before('tasks', numbered(page), 1)?.rows))
  assert.ok(known.size > 100 && known.size <= 257, String(known.size))
})
