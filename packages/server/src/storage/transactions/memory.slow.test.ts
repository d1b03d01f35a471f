import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { ReadPage, ReadRecord } from '../../plan/plan.ts'
import { listOf, scanOf } from './list.ts'
import { Memory, mostRemembered } from './memory.ts'
import { context, resource } from './query-plan.fixture.ts'

const shelves = resource('shelves')
const owned: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'ann' }
const plan = (id: string, permitted: Predicate = always, fields?: string[]): ReadRecord => ({
  ...{ kind: 'read-record', resource: shelves, id, permitted, fields, conditions: {} },
})
const record = (json: string) => ({ kind: 'record', json, revision: 1, updatedAt: '2026-11-21T08:00:00.000Z' }) as const
const page = (json: string): PageOutcome => ({
  ...{ kind: 'page', json, count: 1, total: 1, tag: 't', previous: undefined, next: undefined },
})
const pagePlan = (key: string): ReadPage => ({
  ...{ kind: 'read-page', resource: shelves, parent: undefined, filter: always, versionFilter: undefined },
  ...{ permitted: always, search: undefined, deleted: undefined, sort: [], fields: undefined, key },
  ...{ page: { style: 'page', page: 1, perPage: 20 }, conditions: {} },
})
const at = (own: number, others = 0) => ({ own, others })

/** Remembers a record, which was asked for twice. */
function keep(memory: Memory, ...read: Parameters<Memory['keep']>): void {
  memory.keep(...read)
  memory.keep(...read)
}

/** A memory with the records `1` to `3`, read at revision 5. */
function remembering() {
  const memory = new Memory()
  for (const id of ['1', '2', '3']) keep(memory, plan(id), at(5), record(`{"id":"${id}"}`))
  /** The ids that are remembered, when the clock is at a revision. */
  const ids = (revision: number) =>
    ['1', '2', '3'].filter((id) => memory.record(plan(id), at(revision)) !== undefined).join('')
  return { memory, ids }
}

test('a cached record is visible to callers with the same read permission', () => {
  const memory = new Memory()
  keep(memory, plan('1'), at(1), record('{}'))
  assert.equal(memory.record(plan('1'), at(1))?.json, '{}')
  assert.equal(memory.record(plan('2'), at(1)), undefined)
  assert.equal(memory.record(plan('1', owned), at(1)), undefined)
  assert.equal(memory.record({ ...plan('1'), resource: resource('labels') }, at(1)), undefined)
})

test('a record is cached for each permission and choice of fields', () => {
  const memory = new Memory()
  keep(memory, plan('1'), at(1), record('whole'))
  keep(memory, plan('1', always, ['name']), at(1), record('name'))
  keep(memory, plan('1', owned), at(1), record('owned'))
  const known = (...asked: Parameters<typeof plan>) => memory.record(plan(...asked), at(1))?.json
  assert.deepEqual([known('1'), known('1', always, ['name']), known('1', owned)], ['whole', 'name', 'owned'])
  keep(memory, plan('1', { ...owned, value: 'bob' }), at(1), record('of Bob'))
  assert.deepEqual([known('1', owned), known('1', { ...owned, value: 'bob' })], ['owned', 'of Bob'])
  memory.committed([{ collection: 'shelves', ids: ['1'], stride: 1 }])
  const after = [[], [always, ['name']], [owned]] as const
  assert.deepEqual(
    after.map(([permitted, fields]) => memory.record(plan('1', permitted, fields && [...fields]), at(2))),
    [undefined, undefined, undefined],
  )
})

test('a commit of this process forgets the records that it touched, and no others', () => {
  const { memory, ids } = remembering()
  memory.committed([{ collection: 'shelves', ids: ['2'], stride: 1 }])
  assert.equal(ids(6), '13')
  memory.committed([
    { collection: 'shelves', ids: ['4'], stride: 1 },
    { collection: 'shelves', ids: [], stride: 1 },
    { collection: 'labels', ids: ['1'], stride: 1 },
  ])
  assert.equal(ids(8), '13')
})

test('a change that no commit of this process explains forgets the collection', () => {
  for (const [explained, revision] of [[0, 6], [1, 7], [2, 6]] as const) {
    const { memory, ids } = remembering()
    memory.committed(Array.from({ length: explained }, () => ({ collection: 'shelves', ids: [], stride: 1 })))
    assert.equal(ids(revision), '', `${explained} changes explained, at ${revision}`)
    keep(memory, plan('1'), at(revision), record('{}'))
    assert.equal(ids(revision), '1')
  }
  // As many changes, but not those of this process: strides are random.
  const { memory, ids } = remembering()
  memory.committed([{ collection: 'shelves', ids: [], stride: 100 }])
  assert.equal(ids(5 + 101), '')
}) // biome-ignore format: a table

test('a record is forgotten when a collection changes that its permission depends on', () => {
  const memory = new Memory()
  keep(memory, plan('1', owned), at(5, 7), record('{}'))
  assert.equal(memory.record(plan('1', owned), at(5, 7))?.json, '{}')
  assert.equal(memory.record(plan('1', owned), at(5, 8)), undefined)
})

test('the cache is bounded by bytes, and is cleared when the tables change', () => {
  const memory = new Memory()
  const json = 'ä'.repeat(10_000)
  const count = Math.ceil(mostRemembered / 10_000)
  for (let id = 0; id < count; id++) keep(memory, plan(String(id)), at(1), record(json))
  const known = Array.from({ length: count }, (_, id) => memory.record(plan(String(id)), at(1))).filter((each) => each)
  assert.ok(known.length <= count / 2 && known.length > count / 3, `${known.length} of ${count}`)
  memory.clocks.set('shelves', { revision: 1, live: 1 })
  memory.forget()
  assert.equal(memory.record(plan(String(count - 1)), at(1)), undefined)
  assert.equal(memory.clocks.size, 0)
  keep(memory, plan('1'), at(1), record('x'.repeat(1_100_000)))
  assert.equal(memory.record(plan('1'), at(1)), undefined)
})

/** Reads one page at a state of the clocks, as requests do: what was remembered is the result. */
function pageReader(): (state: number) => string | undefined {
  const memory = new Memory()
  return (state) => {
    const known = memory.answer(pagePlan('/shelves?'), state)
    assert.ok(known?.kind !== 'with-related')
    if (known === undefined) memory.keepAnswer(pagePlan('/shelves?'), state, page(`read at ${state}`))
    return known?.json
  }
}

test('a page is remembered when it is read again, for as long as the clocks stay', () => {
  const read = pageReader()
  assert.deepEqual([read(1), read(1), read(1)], [undefined, undefined, 'read at 1'])
  assert.deepEqual([read(2), read(2)], [undefined, 'read at 2'])
})

test('a page that was used is remembered from the first read after a change, and not after a change without use', () => {
  const read = pageReader()
  for (const _ of [1, 2, 3]) read(1)
  assert.deepEqual([read(2), read(2)], [undefined, 'read at 2'])
  assert.deepEqual([read(3), read(4), read(4), read(4)], [undefined, undefined, undefined, 'read at 4'])
})

test('a cached list does not hold the conditions of its request, which may name thousands of tags', () => {
  const memory = new Memory()
  const request: ReadPage = {
    ...pagePlan('/shelves?'),
    conditions: { ifNoneMatch: Array.from({ length: 4_000 }, () => ({ opaque: 'a', weak: false })) },
  }
  const list = listOf(context, memory, request)
  assert.equal(listOf(context, memory, request), list)
  assert.deepEqual(list.plan.conditions, {})
})

/** The bytes of memory in use after a garbage collection: they depend neither on the clock nor on other processes. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** A text of its own of so many characters. */
function textOf(number: number, length: number): string {
  return Buffer.from(`{"id":"${number}"`.padEnd(length, 'x')).toString()
}

test('answers hold about as many bytes as they count', () => {
  for (const length of [50, 400, 20_000]) {
    const memory = new Memory()
    const before = heldBytes()
    const count = (2 * mostRemembered) / (400 + length)
    for (let number = 0; number < count; number++) {
      const key = String(number)
      const kept = number % 2 === 0
      if (kept) keep(memory, plan(key), at(1), record(textOf(number, length)))
      else for (const _ of [1, 2]) memory.keepAnswer(pagePlan(key), 1, page(textOf(number, length)))
    }
    const held = heldBytes() - before
    assert.ok(held > mostRemembered / 2 && held < mostRemembered * 1.25, `${held} bytes with ${length} characters`)
    memory.forget()
  }
})

test('150,000 different requests leave a bounded memory', () => {
  const memory = new Memory()
  const send = (from: number, to: number) => {
    for (let number = from; number < to; number++) {
      keep(memory, plan(`${number}`), at(number), record(textOf(number, 400)))
      memory.keepAnswer(pagePlan(`/shelves?name=${number}`), number, page(textOf(number, 4_000)))
      memory.totals.set(`shelves ${number}`, { revision: number, total: 1 })
      const filter: Predicate = { kind: 'compare', field: 'name', operator: 'eq', value: `${number}` }
      const query = { ...pagePlan(`/shelves?name=${number}`), filter }
      scanOf(listOf(context, memory, query), query.page, { total: 1, live: 1 })
    }
  }
  send(0, 50_000)
  const full = heldBytes()
  send(50_000, 150_000)
  const held = heldBytes() - full
  // Tables of maps take up to 2 MB more or less, by how many entries came and went. 42 bytes for each request would show.
  assert.ok(held < mostRemembered / 4, `${held} bytes more`)
  // Used after the bytes were counted, so that nothing is collected before.
  assert.ok(memory.lists.size <= 1_000)
})
