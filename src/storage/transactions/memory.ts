/** What was read since the database last changed. Whoever owns it must call `forget` before reading a changed database. */
import type { Predicate } from '../../model/predicate.ts'
import type { Resource } from '../../model/resource.ts'
import type { Outcome, ReadRecord } from '../../plan/plan.ts'
import type { KnownClock } from './rows/clock.ts'
import { Totals } from './totals.ts'

/** A record as it was read: found, permitted, all of its fields. */
type KnownRecord = Extract<Outcome, { readonly kind: 'record' }>

// Together some ten megabytes: what is asked for again within moments, not a copy of the database.
const most = 5_000
const largest = 2_000

/** Answers of the database that are still true. */
export class Memory {
  /** Totals know by themselves at which revision they are true. */
  readonly totals = new Totals()
  readonly clocks = new Map<string, KnownClock>()
  // By the predicate that says what may be read: a record known to one caller is not known to another.
  #records = new WeakMap<Predicate, Map<string, KnownRecord>>()
  #kept = 0

  /** From here on the database may be another. */
  forget(): void {
    this.clocks.clear()
    if (this.#kept === 0) return
    this.#records = new WeakMap()
    this.#kept = 0
  }

  /** A record that was read before with the same permission. */
  record({ resource, versionResource, id, permitted, fields }: ReadRecord): KnownRecord | undefined {
    return fields === undefined ? this.#records.get(permitted)?.get(keyOf(versionResource ?? resource, id)) : undefined
  }

  /** Keeps a record that was read. */
  keep({ resource, versionResource, id, permitted, fields }: ReadRecord, record: KnownRecord): void {
    if (fields !== undefined || record.json.length > largest) return
    if (this.#kept >= most) this.forget()
    const records = this.#records.get(permitted) ?? new Map<string, KnownRecord>()
    this.#records.set(permitted, records)
    records.set(keyOf(versionResource ?? resource, id), record)
    this.#kept++
  }
}

/** What one version shows of a record is not what another does. */
function keyOf({ name, mapping }: Resource, id: string): string {
  return mapping === undefined ? `${name} ${id}` : `${mapping.version}/${name} ${id}`
}
