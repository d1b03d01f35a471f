/**
 * The cache of an open database's reads. An answer is remembered with the state of the clocks that it depends on, so it
 * is as current as the clocks that a read compares it with (docs/explanation/performance.md).
 */

import type { Outcome, PageOutcome, WithRelated } from '../../plan/outcome.ts'
import type { ReadRecord } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { advance } from '../sql/marks.ts'
import { predicateDigest } from '../sql/predicate-digest.ts'
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
const largest = mostRemembered / 16

/** About so many bytes of objects belong to a remembered answer. */
const overhead = 400

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
  /** The revision after the changes of this process that counted the records which they touched. */
  explained: number
  /** Records of earlier generations are forgotten. */
  generation: number
}

/** An answer, and the state at which it is true. */
interface Entry {
  readonly state: number
  readonly answer: KnownRecord | PageOutcome | WithRelated
  /** Whether a request was answered with it. */
  isUsed: boolean
}

/** The total of a list, and the revision of the clocks at which it is true. */
export interface Total {
  readonly revision: number
  readonly total: number
  /** Of a list of events: from where the next count goes on. */
  readonly counted?: EventTotal | undefined
}

/** Results of reads that are still current, and the SQL of lists. */
export class Memory {
  /** The SQL of lists, by query and permission; it depends on nothing in the database. */
  readonly lists = new BoundedMap<List>(1_000)
  /** Exact totals of filtered lists. */
  readonly totals = new BoundedMap<Total>(10_000)
  /** The clocks that were read since the database last changed. */
  readonly clocks = new Map<string, Clock>()
  readonly #collections = new Map<string, Collection>()
  readonly #answers = new BoundedMap<Entry>(mostRemembered)
  /** The keys that were asked for, and at which state, in little memory: of two in one slot, the later one counts. */
  readonly #asked = new Int32Array(slots)
  /** How often commits of this process have touched the records of a slot. */
  readonly #touched = new Uint32Array(slots)

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
      for (const id of ids) (this.#touched[slotOf(hashOf(id))] as number)++
    }
  }

  /** A record that was read before with the same permission. */
  record(plan: ReadRecord, state: RecordState): KnownRecord | undefined {
    return this.#get(recordKey(plan), this.#stateOf(plan, state)) as KnownRecord | undefined
  }

  /** Remembers a record. */
  keep(plan: ReadRecord, state: RecordState, record: KnownRecord): void {
    this.#keep(recordKey(plan), this.#stateOf(plan, state), record)
  }

  /** A page that was read before, while the sum of the revisions that it depends on was the same. */
  page(key: string, state: number): PageOutcome | undefined {
    return this.#get(key, state) as PageOutcome | undefined
  }

  /** Remembers a page. */
  keepPage(key: string, state: number, page: PageOutcome): void {
    this.#keep(key, state, page)
  }

  /** The same of a record or a page with its related records. */
  related(key: string, state: number): WithRelated | undefined {
    return this.#get(key, state) as WithRelated | undefined
  }

  /** Remembers such a record or page. */
  keepRelated(key: string, state: number, answer: WithRelated): void {
    this.#keep(key, state, answer)
  }

  #get(key: string, state: number): Entry['answer'] | undefined {
    const entry = this.#answers.get(key)
    if (entry?.state !== state) return undefined
    entry.isUsed = true
    return entry.answer
  }

  /**
   * Remembers what was read for the second time: much is asked for only once, and to remember costs more than to read.
   * What was used before it changed will be asked for again, so its first read counts.
   */
  #keep(key: string, state: number, answer: Entry['answer']): void {
    const hash = hashOf(key)
    const asked = (hash + state) | 0
    const isAgain = this.#asked[slotOf(hash)] === asked
    this.#asked[slotOf(hash)] = asked
    if (!isAgain && this.#answers.get(key)?.isUsed !== true) return
    const weight = overhead + key.length + textBytes(answer)
    if (weight <= largest) this.#answers.set(key, { state, answer, isUsed: false }, weight)
  }

  /** The state of a record: another one after each change of it, and after changes that this process cannot explain. */
  #stateOf({ resource, id }: ReadRecord, { own, others }: RecordState): number {
    // Both counts only grow, so their sum stays the same only if both do.
    return others + this.#generationAt(resource.name, own) + (this.#touched[slotOf(hashOf(id))] as number)
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

/** A record as one caller sees it: versions represent it differently, and callers have different permissions. */
export function recordKey({ resource, versionResource, id, permitted, fields, readableFields }: ReadRecord): string {
  const isWhole = fields === undefined && readableFields === undefined
  if (versionResource === undefined && permitted.kind === 'always' && isWhole) return `${resource.name}/${id}`
  const shown = `${fields?.join() ?? '*'}${grantsDigest(readableFields)}`
  return `${resource.name}/${id} ${versionedName(versionResource ?? resource)} ${predicateDigest(permitted)} ${shown}`
}

const slots = 65_536

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 16)) & (slots - 1)
}

function hashOf(text: string): number {
  let hash = 1
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  return hash
}

/** About the bytes of an answer. The response that is made of related records is kept with them. */
function textBytes(answer: Entry['answer']): number {
  if (answer.kind !== 'with-related') return answer.json === undefined ? 0 : bytesOf(answer.json)
  const ids = answer.related.reduce((sum, { records }) => {
    return records.reduce((total, each) => total + overhead + each.ids.length * idBytes, sum)
  }, 0)
  return 2 * answer.included.reduce((sum, { json }) => sum + bytesOf(json), bytesOf(answer.answer.json)) + ids
}

/** About the bytes of the text of an id. */
const idBytes = 64

/** About the bytes of a text: one with any character beyond Latin-1 takes two for each. */
function bytesOf(text: string): number {
  return text.length * (Buffer.byteLength(text) === text.length ? 1 : 2)
}
