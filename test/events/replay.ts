/** Events replayed beside the tables that they are about: what each record is by its events, and what its row says. */
import assert from 'node:assert/strict'

/** A row of `events`, as a query gives it. */
export interface EventRow {
  readonly position: number
  readonly collection: string
  readonly record: string
  readonly kind: 'created' | 'updated' | 'deleted' | 'restored' | 'purged'
  readonly data: Readonly<Record<string, unknown>> | null
}

/** A row of a collection. */
export interface RecordRow {
  readonly id: string
  readonly edition: number
  readonly updated_at: string
  readonly deleted_at: string | null
  readonly revision: number
}

/** What a record is by its events. */
export interface Replayed {
  readonly collection: string
  state: 'live' | 'deleted' | 'gone'
  /** How many events it has. */
  count: number
  /** How many of them are deletions. */
  deletions: number
  /** How many of them are updates. */
  updates: number
  /** The editions that its events show, each once. */
  readonly editions: Set<number>
  last: EventRow['data']
}

const next = {
  live: { updated: 'live', deleted: 'deleted' },
  deleted: { restored: 'live', purged: 'gone' },
  gone: {},
} as const

/** All records, as their events show them. */
export class Replay {
  readonly records = new Map<string, Replayed>()
  /** The position of the last event. */
  position = 0
  readonly #hard: ReadonlySet<string>

  /** @param hard the collections whose records are removed at once */
  constructor(hard: readonly string[]) {
    this.#hard = new Set(hard)
  }

  /** Adds the next events, in their order. */
  add(events: readonly EventRow[]): void {
    for (const event of events) {
      assert.ok(event.position > this.position, 'positions grow')
      this.position = event.position
      this.#addOne(event)
    }
  }

  #addOne({ collection, record, kind, data }: EventRow): void {
    const known = this.records.get(record)
    if (kind === 'created') {
      assert.equal(known, undefined, `${record} is created twice`)
      const counts = { count: 1, deletions: 0, updates: 0 }
      this.records.set(record, { collection, state: 'live', ...counts, editions: new Set<number>(), last: data })
    } else {
      assert.ok(known !== undefined, `${record} is ${kind} before it is created`)
      const state = (next[known.state] as Readonly<Record<string, Replayed['state']>>)[kind]
      assert.ok(state !== undefined, `${record} is ${kind} although it is ${known.state}`)
      known.state = state === 'deleted' && this.#hard.has(collection) ? 'gone' : state
      known.count++
      known.last = data
      if (kind === 'deleted') known.deletions++
      if (kind === 'updated') known.updates++
    }
    const edition = data?.['edition']
    if (typeof edition !== 'number' || kind === 'restored') return
    const { editions } = this.records.get(record) as Replayed
    // A cleared reference is a change too, of the same edition.
    assert.ok(!editions.has(edition) || data?.['note_id'] === null, `${record} has the edition ${edition} twice`)
    editions.add(edition)
  }

  /** Compares what the events of a collection come to with its rows. */
  compare(collection: string, rows: readonly RecordRow[]): void {
    const found = new Set<string>()
    for (const row of rows) {
      found.add(row.id)
      const known = this.records.get(row.id)
      assert.ok(known !== undefined, `${row.id} has no event`)
      assert.equal(known.state, row.deleted_at === null ? 'live' : 'deleted', row.id)
      // Each change adds one revision: none is without its event, and none has two.
      assert.equal(known.count, row.revision, `${row.id} has as many events as revisions`)
      if (known.state === 'live') {
        assert.deepEqual([known.last?.['edition'], known.last?.['updated_at']], [row.edition, row.updated_at], row.id)
      }
    }
    for (const [id, record] of this.records) {
      if (record.collection === collection)
        assert.equal(record.state !== 'gone', found.has(id), `${id} ${record.state}`)
    }
  }
}
