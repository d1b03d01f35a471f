/**
 * The cache of an open database's reads. An answer is remembered with the state of the clocks that it depends on, so it
 * is as current as the clocks that a read compares it with (docs/explanation/performance.md).
 */

import { predicatesOf } from 'resourced-contract/model/field-grants'
import { always, collectionsOf } from 'resourced-contract/model/predicate'
import type { Outcome, PageOutcome, WithRelated } from '../../plan/outcome.ts'
import type { Include, Plan, ReadPage, ReadRecord, ReadSummary } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { advance } from '../sql/marks.ts'
import { digestOf, grantsDigest, predicateDigest, versionedName } from '../sql/records.ts'
import type { Touched } from '../transaction.ts'
import type { EventTotal } from './event-totals.ts'
import { allowedKey, type List, otherCollections, relatedTo } from './list.ts'
import type { Clock } from './rows/clock.ts'

/** A record as it was read: found and permitted. A conditional request may have read its validators only. */
type KnownRecord =
  | Extract<Outcome, { readonly kind: 'record' }>
  | (Extract<Outcome, { readonly kind: 'not-modified' }> & { readonly json?: undefined })

/** A page, or what was read with related records. */
type KnownAnswer = PageOutcome | WithRelated

/** The most bytes of all answers that are remembered: records and pages together. */
export const mostRemembered = 16 * 1_048_576

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
  readonly answer: KnownRecord | KnownAnswer
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

/** What is remembered where others change the database at any time: the rest of `Memory` takes far more space. */
export class ListMemory {
  /** The SQL of lists, by query and permission; it depends on nothing in the database. */
  readonly lists = new BoundedMap<List>(1_000)
  /** Exact totals of filtered lists. */
  readonly totals = new BoundedMap<Total>(10_000)
}

/** Results of reads that are still current, and the SQL of lists. */
export class Memory extends ListMemory {
  /** The clocks that were read since the database last changed. */
  readonly clocks = new Map<string, Clock>()
  readonly #collections = new Map<string, Collection>()
  readonly #answers: BoundedMap<Entry>
  /** The most bytes of one answer that is remembered. */
  readonly #largest: number
  /** The keys that were asked for, and at which state, in little memory: of two in one slot, the later one counts. */
  readonly #asked = new Int32Array(slots)
  /** How often commits of this process have touched the records of a slot. */
  readonly #touched = new Uint32Array(slots)

  /** @param most the most bytes of all answers */
  constructor(most = mostRemembered) {
    super()
    this.#answers = new BoundedMap(most)
    this.#largest = most / 16
  }

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

  /** The answer that was given to a read before, while the sum of the revisions that it depends on was the same. */
  answer(plan: RememberedRead, state: number): KnownAnswer | undefined {
    const key = answerKey(plan)
    return key === undefined ? undefined : (this.#get(key, state) as KnownAnswer | undefined)
  }

  /** Remembers the answer to a read, unless it is a refusal. */
  keepAnswer(plan: RememberedRead, state: number, answer: Outcome): void {
    if (answer.kind !== 'page' && answer.kind !== 'with-related') return
    const key = answerKey(plan)
    if (key !== undefined) this.#keep(key, state, answer)
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
    if (weight <= this.#largest) this.#answers.set(key, { state, answer, isUsed: false }, weight)
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

/** A read with related records. */
export type IncludingRead = (ReadRecord | ReadPage) & { readonly include: Include }

/** A read whose whole answer is remembered. */
export type RememberedRead = ReadPage | ReadSummary | IncludingRead

/** Whether a plan is a read with related records. */
export function isIncluding<P extends Pick<ReadPage, 'include'>>(plan: P): plan is P & IncludingRead {
  return plan.include !== undefined
}

/** Whether the whole answer to a plan is remembered. */
export function isRemembered(plan: Plan): plan is RememberedRead {
  return plan.kind === 'read-page' || plan.kind === 'read-summary' || (plan.kind === 'read-record' && isIncluding(plan))
}

/**
 * What an answer is remembered by: the query, the address and the permissions of the caller. `undefined`: it is not
 * worth remembering, or depends on more than the clocks of its collections.
 */
function answerKey(plan: RememberedRead): string | undefined {
  if (plan.kind === 'read-summary') {
    const { permitted, readableFields } = plan.list
    return `${predicateDigest(permitted)}${grantsDigest(readableFields)} ${plan.resource.name}/summary ${plan.key}`
  }
  const key = plan.kind === 'read-page' ? pageKey(plan) : recordKey(plan)
  if (key === undefined || !isIncluding(plan)) return key
  const included = includedKey(plan.include)
  return included === undefined ? undefined : `${included} ${key}`
}

/** A record as one caller sees it: versions represent it differently, and callers have different permissions. */
function recordKey({ resource, versionResource, id, permitted, fields, readableFields }: ReadRecord): string {
  const isWhole = fields === undefined && readableFields === undefined
  if (versionResource === undefined && permitted.kind === 'always' && isWhole) return `${resource.name}/${id}`
  const shown = `${fields?.join() ?? '*'}${grantsDigest(readableFields)}`
  return `${resource.name}/${id} ${versionedName(versionResource ?? resource)} ${predicateDigest(permitted)} ${shown}`
}

function pageKey(plan: ReadPage): string | undefined {
  const { key, parent, deleted } = plan
  // Which deleted records a caller is shown depends on the time.
  if (key === undefined || deleted !== undefined || parent?.deleted !== undefined) return undefined
  const allowed = allowedKey(plan)
  // Callers write the end of the key, so it comes last.
  if (parent === undefined) return `${allowed} ${key}`
  return JSON.stringify([key, allowed, parent.id, predicateDigest(parent.permitted)])
}

/**
 * The part of keys that depends on related records: what is asked for, and what the caller may read of them.
 *
 * @returns `undefined`: which deleted records a caller is shown depends on the time
 */
function includedKey({ paths }: Include): string | undefined {
  if (paths.some(({ deleted }) => deleted !== undefined)) return undefined
  return digestOf(paths)
}

/** The collections beside its own that an answer depends on, with the permissions to read them and the parent. */
export function othersOf(plan: RememberedRead): ReadonlySet<string> {
  if (plan.kind === 'read-summary') return othersOf(plan.list)
  const list = plan.kind === 'read-page' ? plan : { ...plan, ...ofOneRecord }
  const others = withIncluded(otherCollections(list), plan.include)
  if (list.parent === undefined) return others
  const { resource, permitted } = list.parent
  return collectionsOf(permitted, new Set([...others, resource.name]))
}

const ofOneRecord = { parent: undefined, filter: always, sort: [], deleted: undefined }

/** Adds the collections that the related records of a read depend on, with their permissions, to those of the read. */
function withIncluded(others: ReadonlySet<string>, include: Include | undefined): ReadonlySet<string> {
  if (include === undefined) return others
  const all = new Set(others)
  for (const { collection, permitted, referring, readableFields, sort } of include.paths) {
    all.add(collection)
    collectionsOf(referring, all)
    for (const each of relatedTo({ filter: permitted, sort })) all.add(each)
    for (const each of predicatesOf(readableFields)) collectionsOf(each, all)
  }
  return all
}
