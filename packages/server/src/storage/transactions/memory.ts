/**
 * The cache of an open database's reads. An answer is remembered with the state of the clocks that it depends on, so it
 * is as current as the clocks that a read compares it with (docs/explanation/performance.md).
 */

import type { Outcome, PageOutcome } from '../../plan/outcome.ts'
import type { ReadRecord } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { advance } from '../sql/marks.ts'
import { predicateDigest } from '../sql/predicate.ts'
import { grantsDigest, versionedName } from '../sql/records.ts'
import type { Touched } from '../transaction.ts'
import type { EventTotal } from './event-totals.ts'
import type { List } from './list.ts'
import type { Clock } from './rows/clock.ts'

/** A record as it was read: found and permitted. A conditional request may have read its validators only. */
type KnownRecord =
  | Extract<Outcome, { readonly kind: 'record' }>
  | (Extract<Outcome, { readonly kind: 'not-modified' }> & { readonly json?: undefined })

/** The most bytes of all answers that are remembered: records and pages together. */
export const mostRemembered = 16 * 1_048_576

/** The most bytes of one answer that is remembered. */
const largest = mostRemembered / 64

/** About so many bytes of objects belong to a remembered answer. */
const overhead = 400

/** For how many versions, permissions and choices of fields one record is remembered. */
const mostVariants = 4

/** The revisions of the clocks that the answer about a record depends on. */
export interface RecordState {
  /** Of the record's own collection. */
  readonly own: number
  /** The sum of those that the permission depends on. */
  readonly others: number
}

/** The records of one collection that are remembered. */
interface Collection {
  /** The revision at which they are true. */
  revision: number
  /** The revision after the changes of this process that forgot the records which they touched. */
  explained: number
  /** Records of earlier generations are forgotten. */
  generation: number
}

/** One record, as different callers see it. */
interface RecordEntry {
  readonly generation: number
  readonly variants: readonly { readonly variant: string; readonly others: number; readonly record: KnownRecord }[]
}

/** A page; without its outcome, it was asked for once. */
interface PageEntry {
  readonly state: number
  readonly page: PageOutcome | undefined
  /** Whether a request was answered with it. */
  isUsed: boolean
}

/** Results of reads that are still current, and the SQL of lists. */
export class Memory {
  /** The SQL of lists, by query and permission; it depends on nothing in the database. */
  readonly lists = new BoundedMap<List>(1_000)
  /** Each total has the revision at which it is true. */
  readonly totals = new Totals()
  /** The clocks that were read since the database last changed. */
  readonly clocks = new Map<string, Clock>()
  readonly #collections = new Map<string, Collection>()
  readonly #answers = new BoundedMap<RecordEntry | PageEntry>(mostRemembered)
  readonly #asked = new AskedOnce()

  /** Has the clocks read again, because the database may have changed. */
  changed(): void {
    this.clocks.clear()
  }

  /** Forgets all answers, because the tables were changed. */
  forget(): void {
    this.clocks.clear()
    this.#answers.clear()
    this.totals.clear()
  }

  /**
   * Forgets the records that a commit of this process has touched; others of their collections stay. Nothing may be
   * read between the commit and this call.
   */
  committed(touches: readonly Touched[]): void {
    for (const { collection, ids, stride } of touches) {
      const known = this.#collections.get(collection)
      if (known === undefined) continue
      known.explained = advance(known.explained, stride)
      for (const id of ids) this.#answers.delete(recordKey(collection, id))
    }
  }

  /** A record that was read before with the same permission. */
  record(plan: ReadRecord, state: RecordState): KnownRecord | undefined {
    const generation = this.#generationAt(plan.resource.name, state.own)
    const entry = this.#answers.get(recordKey(plan.resource.name, plan.id)) as RecordEntry | undefined
    if (entry?.generation !== generation) return undefined
    const variant = variantOf(plan)
    for (const each of entry.variants) {
      if (each.variant === variant) return each.others === state.others ? each.record : undefined
    }
    return undefined
  }

  /** Remembers a record that was read for the second time: to remember one costs more than to read it. */
  keep(plan: ReadRecord, { own, others }: RecordState, record: KnownRecord): void {
    if (!this.#asked.again(plan.id)) return
    if (weightOfRecord(record) > largest) return
    const generation = this.#generationAt(plan.resource.name, own)
    const key = recordKey(plan.resource.name, plan.id)
    const entry = this.#answers.get(key) as RecordEntry | undefined
    const variant = variantOf(plan)
    const same = entry?.generation === generation ? entry.variants.filter((each) => each.variant !== variant) : []
    const variants = [{ variant, others, record }, ...same.slice(0, mostVariants - 1)]
    const whole = variants.reduce((sum, each) => sum + weightOfRecord(each.record), 0)
    this.#answers.set(key, { generation, variants }, whole)
  }

  /** A page that was read before, while the sum of the revisions that it depends on was the same. */
  page(key: string, state: number): PageOutcome | undefined {
    const entry = this.#answers.get(key) as PageEntry | undefined
    if (entry?.state !== state || entry.page === undefined) return undefined
    entry.isUsed = true
    return entry.page
  }

  /**
   * Remembers a page that was read for the second time: many are asked for only once. A page that was used before the
   * collection changed will be asked for again, so its first read counts.
   */
  keepPage(key: string, state: number, page: PageOutcome): void {
    const entry = this.#answers.get(key) as PageEntry | undefined
    const weight = weightOf(page.json)
    const isKept = entry !== undefined && (entry.state === state || entry.isUsed) && weight <= largest
    const kept = { state, page: isKept ? page : undefined, isUsed: false }
    this.#answers.set(key, kept, key.length + (isKept ? weight : overhead))
  }

  /** The generation of the remembered records of a collection, at a revision of its clock. */
  #generationAt(collection: string, revision: number): number {
    const known = this.#collections.get(collection)
    if (known === undefined) {
      this.#collections.set(collection, { revision, explained: revision, generation: 1 })
      return 1
    }
    if (known.revision !== revision) {
      // Another process or thread has changed the collection, or a change that touches more than single records.
      if (known.explained !== revision) known.generation++
      known.revision = revision
      known.explained = revision
    }
    return known.generation
  }
}

/** The ids that were asked for, in little memory: of two ids in one slot, the later one counts. */
class AskedOnce {
  readonly #slots = new Int32Array(65_536)

  /** Whether an id was asked for before. */
  again(id: string): boolean {
    let hash = 1
    for (let index = 0; index < id.length; index++) hash = (Math.imul(hash, 31) + id.charCodeAt(index)) | 0
    const slot = (hash ^ (hash >>> 16)) & 0xffff
    const isKnown = this.#slots[slot] === hash
    this.#slots[slot] = hash
    return isKnown
  }
}

function recordKey(collection: string, id: string): string {
  return `${collection}/${id}`
}

/** Versions represent a record differently, and callers have different permissions. */
function variantOf({ resource, versionResource, permitted, fields, readableFields }: ReadRecord): string {
  const isWhole = fields === undefined && readableFields === undefined
  if (versionResource === undefined && permitted.kind === 'always' && isWhole) return ''
  const shown = `${fields?.join() ?? '*'}${grantsDigest(readableFields)}`
  return `${versionedName(versionResource ?? resource)} ${predicateDigest(permitted)} ${shown}`
}

function weightOfRecord(record: KnownRecord): number {
  return record.kind === 'record' ? weightOf(record.json) : overhead
}

/** About the bytes of an answer. */
function weightOf(json: string): number {
  // A string with any character beyond Latin-1 takes two bytes for each.
  return overhead + json.length * (Buffer.byteLength(json) === json.length ? 1 : 2)
}

/** Exact totals of filtered lists, kept for as long as no collection that they depend on has changed. */
export class Totals {
  /** Totals of events, by the same keys. They are counted onward, so they need no revision. */
  readonly events = new BoundedMap<EventTotal>(1_000)
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

  clear(): void {
    this.events.clear()
    this.#known.clear()
  }
}
