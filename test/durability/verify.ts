/** Compares what a server shows with what its clients were told. */
import assert from 'node:assert/strict'
import type { Send } from './client.ts'
import { type Change, type Entry, editionWord, type State, valuesOf, writerWord } from './ledger.ts'

/** What must hold: the entries, the changes, and the newest state of each entry that was acknowledged by then. */
export interface Expected {
  readonly entries: readonly Entry[]
  readonly changes: readonly Change[]
  readonly durable: (entry: Entry) => number
}

/**
 * Reads everything there is and compares it with what is expected.
 *
 * @returns what was found, by name; what is not there is not in it
 * @throws AssertionError at the first difference
 */
export async function verify(send: Send, expected: Expected): Promise<Map<string, State>> {
  const found = new Map<string, State>()
  for (const collection of ['folders', 'notes'] as const) {
    const known = new Map(
      expected.entries.filter((each) => each.collection === collection).map((each) => [each.name, each]),
    )
    const records = await list(send, `/v1/${collection}?limit=100`)
    for (const record of records) {
      const entry = known.get(record.name)
      assert.ok(entry, `${record.name} was never asked for`)
      assert.ok(!found.has(entry.name), `${entry.name} is there twice`)
      const { name, title, edition, text } = record
      assert.deepEqual({ name, title, edition, text }, valuesOf(entry, record.edition), `${name} is a mixture`)
      if (entry.id === undefined) entry.id = record.id
      assert.equal(record.id, entry.id)
      found.set(entry.name, record.edition)
    }
    await compareSearch(send, collection, records)
  }
  for (const entry of expected.entries) {
    const state = found.get(entry.name) ?? 'absent'
    const told = expected.durable(entry)
    const message = `${entry.name} is ${state}; acknowledged: ${entry.states[told]}, of ${entry.states.join(', ')}`
    assert.ok(possible(entry, state, told).length > 0, message)
  }
  for (const change of expected.changes) assertWhole(change, found, expected)
  return found
}

/** The indexes of the states that a record may be in. */
function possible(entry: Entry, state: State, durable: number): number[] {
  return entry.states.flatMap((each, index) => (index >= durable && each === state ? [index] : []))
}

/** A change of several records has happened to all of them or to none. */
function assertWhole(change: Change, found: ReadonlyMap<string, State>, { durable }: Expected): void {
  if (change.steps.length === 1) return
  const options = change.steps.map(({ entry, index }) => {
    const indexes = possible(entry, found.get(entry.name) ?? 'absent', durable(entry))
    return { after: indexes.some((each) => each >= index), before: indexes.some((each) => each < index) }
  })
  const whole = options.every(({ after }) => after) || options.every(({ before }) => before)
  assert.ok(whole, `half of a change: ${change.steps.map(({ entry }) => entry.name).join(', ')}`)
}

/** Search finds exactly the records that have a word: each writer's, and each edition's. */
async function compareSearch(send: Send, collection: Entry['collection'], records: readonly Shown[]): Promise<void> {
  const byWord = new Map<string, string[]>()
  for (const { id, name, edition } of records) {
    const writer = Number(/^[fn](\d+)x/.exec(name)?.[1])
    for (const word of [writerWord(writer), editionWord(edition)]) {
      byWord.set(word, [...(byWord.get(word) ?? []), id])
    }
  }
  const newest = Math.max(0, ...records.map(({ edition }) => edition))
  byWord.set(editionWord(newest + 1), [])
  for (const [word, ids] of byWord) {
    const hits = await list(send, `/v1/${collection}?limit=100&q=${word}`)
    assert.deepEqual(hits.map(({ id }) => id).sort(), ids.sort(), `search for ${word}`)
  }
}

interface Shown {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly edition: number
  readonly text: string
}

/** All records of a list, page by page; their number is its `total_count`. */
async function list(send: Send, path: string): Promise<Shown[]> {
  const records: Shown[] = []
  let cursor: string | null = null
  let total: number
  do {
    const { status, json } = await send('GET', cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`)
    assert.equal(status, 200, JSON.stringify(json))
    records.push(...json.data)
    cursor = json.pagination.next_cursor
    total = json.pagination.total_count
  } while (cursor !== null)
  assert.equal(total, records.length, `total_count of ${path}`)
  return records
}
