/** The cache of an open database's reads. */
import type { Outcome, ReadRecord } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { predicateDigest } from '../sql/predicate.ts'
import { versionedName } from '../sql/records.ts'
import type { List } from './list.ts'
import type { Clock } from './rows/clock.ts'

/** A record as it was read: found, permitted, all of its fields. */
type KnownRecord = Extract<Outcome, { readonly kind: 'record' }>

/** The longest JSON of a record that is kept. With 5,000 records that makes some ten megabytes. */
const longest = 2_000

/**
 * Results of reads that are still current, and the SQL of lists. The owner must call `forget` before it reads a
 * database that may have changed.
 */
export class Memory {
  /** The SQL of lists, by query and permission; it depends on nothing in the database. */
  readonly lists = new BoundedMap<List>(1_000)
  /** Each total has the revision at which it is true. */
  readonly totals = new Totals()
  readonly clocks = new Map<string, Clock>()
  readonly #records = new BoundedMap<KnownRecord>(5_000)

  /** Clears the cached reads, because the database may have changed. */
  forget(): void {
    this.clocks.clear()
    if (this.#records.size > 0) this.#records.clear()
  }

  /** A record that was read before with the same permission. */
  record(plan: ReadRecord): KnownRecord | undefined {
    return plan.fields === undefined ? this.#records.get(keyOf(plan)) : undefined
  }

  /** Keeps a record that was read. */
  keep(plan: ReadRecord, record: KnownRecord): void {
    if (plan.fields === undefined && record.json.length <= longest) this.#records.set(keyOf(plan), record)
  }
}

/** Versions represent a record differently, and callers have different permissions. */
function keyOf({ resource, versionResource, id, permitted }: ReadRecord): string {
  return `${versionedName(versionResource ?? resource)} ${predicateDigest(permitted)} ${id}`
}

/** Exact totals of filtered lists, kept for as long as no collection that they depend on has changed. */
export class Totals {
  readonly #known = new BoundedMap<{ readonly revision: number; readonly total: number }>(10_000)

  /** The total of a list, if it was counted at this revision. */
  get(key: string, revision: number): number | undefined {
    const entry = this.#known.get(key)
    return entry?.revision === revision ? entry.total : undefined
  }

  /** The total that a list had when it was counted last, and the revision at which that was. */
  last(key: string): { readonly revision: number; readonly total: number } | undefined {
    return this.#known.get(key)
  }

  set(key: string, revision: number, total: number): void {
    this.#known.set(key, { revision, total })
  }
}
