/** The state of a trial: the records that it created, and what they have shown about their collections so far. */
import { setTimeout as sleep } from 'node:timers/promises'
import { itemsOf } from '../case/expect.ts'
import { recordOf } from '../case/expect-records.ts'
import { type Requester, type RequestParts, request } from '../client/client.ts'
import { type Answer, type Exchange, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import { type CollectionProfile, type Profile, profileFor } from '../profile/profile.ts'
import { isGone, requestDeletion } from '../run/cleanup.ts'
import { Ledger } from '../run/ledger.ts'
import { isObject, isSame, type JsonObject, objectOf, valueAt, wrapAt } from '../values/json.ts'
import { randomText } from '../values/random.ts'
import { mediaTypesIn } from './media-type.ts'
import type { Parameter } from './openapi.ts'
import { identifierIn } from './record-names.ts'

export interface TrialRecord {
  readonly id: string
  readonly url: string
  readonly path: string
  /** Body that created it. */
  readonly body: JsonObject
  readonly creator: Requester
}

/** How long a deletion may take that the server has accepted, in milliseconds. */
const longestDeletion = 4_000

interface TrialParts extends Omit<RequestParts, 'body'> {
  /** A record, without an envelope. */
  readonly body?: JsonObject
  readonly suffix?: string
  readonly by?: Requester
}

interface TrialFacts extends Pick<Trial, 'profile' | 'guessed'> {
  readonly parameters?: ReadonlyMap<string, readonly Parameter[]> | undefined
  readonly ledger?: Ledger | undefined
}

export class Trial {
  readonly requester: Requester
  /** The second caller, if there is one. */
  readonly other: Requester | undefined
  /** What is known so far. */
  profile: Profile
  /** Collections that no document describes. */
  readonly guessed: ReadonlySet<string>
  readonly #parameters: TrialFacts['parameters']
  readonly ledger: Ledger
  /** Text by which the checker recognizes the records. */
  readonly mark = `checked-${randomText()}`
  readonly notices: string[] = []
  /** The first existing record of each collection. */
  readonly first = new Map<string, TrialRecord>()
  /** The identifiers of all records that were created in a collection, in their order. */
  readonly identifiers = new Map<string, string[]>()
  /** All records that exist, in the order of their creation. */
  readonly #records: TrialRecord[] = []

  constructor(
    requester: Requester,
    other: Requester | undefined,
    { profile, guessed, parameters, ledger }: TrialFacts,
  ) {
    this.requester = requester
    this.other = other
    this.profile = profile
    this.guessed = guessed
    this.#parameters = parameters
    this.ledger = ledger ?? new Ledger()
  }

  collection(name: string): CollectionProfile {
    return this.profile.collections.find((each) => each.name === name) as CollectionProfile
  }

  /** The query parameters of its list, as the document says; none if it says nothing. */
  parametersOf(name: string): readonly Parameter[] {
    return this.#parameters?.get(name) ?? []
  }

  learn(name: string, facts: Partial<CollectionProfile>): void {
    const collections = this.profile.collections.map((each) => (each.name === name ? { ...each, ...facts } : each))
    this.profile = { ...this.profile, collections }
  }

  profileOf(name: string): Profile {
    return profileFor(this.profile, this.collection(name))
  }

  /** Sends a request to a collection: `suffix` follows its address. */
  async request(
    { name, path }: CollectionProfile,
    method: string,
    { suffix = '', by = this.requester, body, ...parts }: TrialParts = {},
  ): Promise<Exchange> {
    const sent = body === undefined ? parts : { ...parts, body: this.inEnvelope(name, body) }
    const send = () => request(by, method, this.profile.base + path + suffix, sent)
    const exchange = await send()
    if (exchange.answer?.status !== 415 || by.client.mediaType !== undefined) return exchange
    // Some servers send application/json, and accept only another type.
    const [mediaType] = mediaTypesIn(exchange.answer)
    if (mediaType === undefined) return exchange
    by.client.mediaType = mediaType
    this.profile = { ...this.profile, mediaType }
    return send()
  }

  /** Learns the media type of changes from a 415 that names it (RFC 5789, section 2.2). Returns whether it is new. */
  learnsPatchType(answer: Answer | undefined): boolean {
    const { client } = this.requester
    const named = answer?.status === 415 ? fieldOf(answer, 'Accept-Patch') : undefined
    const [patchType] = named?.toLowerCase().match(/\bapplication\/merge-patch\+json\b/) ?? []
    if (patchType === undefined || client.patchType !== undefined) return false
    client.patchType = patchType
    this.profile = { ...this.profile, patchType }
    return true
  }

  inEnvelope(name: string, body: JsonObject): unknown {
    return wrapAt(this.profileOf(name).names.body, body)
  }

  /** The records that a list shows; `undefined` if there is no list. */
  async list(
    collection: CollectionProfile,
    suffix = '',
    by = this.requester,
  ): Promise<readonly JsonObject[] | undefined> {
    return this.itemsIn(collection.name, await this.request(collection, 'GET', { suffix, by }))
  }

  /** The records in the response of a list; `undefined` if it is no list. */
  itemsIn(name: string, { answer }: Exchange): readonly JsonObject[] | undefined {
    return isSuccess(answer) ? itemsOf(answer, { profile: this.profileOf(name) })?.map(objectOf) : undefined
  }

  /** Notes the record that a request created; `undefined` if the response does not identify a new record. */
  note({ name, id, path }: CollectionProfile, { answer }: Exchange, body: JsonObject, creator = this.requester) {
    if (answer === undefined) return undefined
    const { base, names } = this.profileOf(name)
    const bare = jsonOf(answer)
    const held = isObject(bare) && identifierIn(bare, name) === undefined ? objectsWithId(bare, name) : []
    const whole = held.length === 1 ? held[0] : bare
    const record = [names.items === '' ? undefined : valueAt(bare, names.items), whole].find(isObject)
    const member = record === undefined ? undefined : Object.hasOwn(record, id) ? id : identifierIn(record, name)
    const location = fieldOf(answer, 'Location')?.split(/[?#]/)[0]?.replace(/\/+$/, '').split('/').at(-1)
    const value = member === undefined ? location : record?.[member]
    if (value === undefined || value === '') return undefined
    if (member !== undefined && member !== id) this.learn(name, { id: member })
    const url = `${base}${path}/${encodeURIComponent(String(value))}`
    const created = { id: String(value), url, path: new URL(url).pathname, body, creator }
    // A response may name a record that existed before. It must not be deleted.
    if (!this.ledger.add(created.path)) return undefined
    this.#records.push(created)
    this.identifiers.set(name, [...(this.identifiers.get(name) ?? []), created.id])
    if (!this.first.has(name)) this.first.set(name, created)
    this.learn(name, { sample: created.id })
    return created
  }

  /**
   * A new record where it can be read. If it is not at the address that its identifier makes, another member of the
   * response may be the one that addresses have. `undefined` if the record is nowhere: it could not be deleted either.
   */
  async locate(name: string, record: TrialRecord, { answer }: Exchange): Promise<TrialRecord | undefined> {
    const collection = this.collection(name)
    const read = (url: string) => request(record.creator, 'GET', url)
    if (!collection.operations.includes('read') || !isGone((await read(record.url)).answer)) return record
    const where = { profile: this.profileOf(name), collection }
    const shown = recordOf(answer, where) ?? {}
    for (const [member, value] of Object.entries(shown)) {
      const isAddress = ['string', 'number'].includes(typeof value) && /^[\w-]{1,64}$/.test(String(value))
      if (member === collection.id || !isAddress) continue
      const url = `${where.profile.base}${collection.path}/${value}`
      const found = (await read(url)).answer
      const isSameRecord = recordOf(found, where)?.[collection.id] === shown[collection.id]
      if (!isSuccess(found) || !isSameRecord) continue
      return this.#moved(name, record, { ...record, id: String(value), url, path: new URL(url).pathname }, member)
    }
    return undefined
  }

  /** Notes that a record is at another address, by another member. */
  #moved(name: string, from: TrialRecord, to: TrialRecord, id: string): TrialRecord | undefined {
    this.ledger.remains.delete(from.path)
    if (this.ledger.foreign.has(to.path)) return undefined
    this.ledger.remains.add(to.path)
    this.#records.splice(this.#records.indexOf(from), 1, to)
    if (this.first.get(name) === from) this.first.set(name, to)
    this.identifiers.set(name, [to.id])
    this.learn(name, { id, sample: to.id })
    return to
  }

  /**
   * The members that the server set to other values than those of a body, in a collection without a document: such
   * members look as if clients could set them.
   */
  ignoredMembers(name: string, answer: Answer | undefined, body: JsonObject): readonly string[] {
    if (!this.guessed.has(name)) return []
    const record = recordOf(answer, { profile: this.profileOf(name), collection: this.collection(name) }) ?? {}
    const isIgnored = (member: string) => {
      const shown = record[member] ?? undefined
      const isPopulated = isObject(shown) && String(shown[identifierIn(shown, member) ?? '']) === String(body[member])
      return (
        shown !== undefined && !isPopulated && !isSame(shown, body[member]) && String(shown) !== String(body[member])
      )
    }
    return Object.keys(body).filter(isIgnored)
  }

  /** Deletes all records, the last one first. Returns the paths of those that could not be deleted. */
  async removeAll(): Promise<string[]> {
    const remaining: string[] = []
    for (const each of this.#records.toReversed()) if (!(await this.remove(each))) remaining.push(each.path)
    return remaining
  }

  /** Deletes a record. Returns whether the server says that it is gone. */
  async remove({ url, path, creator }: TrialRecord): Promise<boolean> {
    const { requester } = this
    // A caller who may create records may not be allowed to delete them.
    const isGone = (await isDeleted(creator, url)) || (creator !== requester && (await isDeleted(requester, url)))
    if (!isGone) return false
    this.ledger.remains.delete(path)
    const at = this.#records.findIndex((each) => each.path === path)
    if (at >= 0) this.#records.splice(at, 1)
    for (const [name, each] of this.first) if (each.path === path) this.first.delete(name)
    return true
  }

  /** Whether a record still exists soon after the server said that it is gone. */
  async isStillListed(name: string, { id, path }: TrialRecord): Promise<boolean> {
    const collection = this.collection(name)
    const by = { ...this.requester, signal: undefined }
    for (let pause = 50; pause < longestDeletion; pause *= 2) {
      // A record that is only marked as deleted may still be readable. No list shows it.
      const items = await this.list(collection, '', by)
      if (!items?.some((each) => String(each[collection.id]) === id)) return false
      await sleep(pause)
    }
    this.ledger.remains.add(path)
    return true
  }
}

/** The objects in a body that have an identifier: in `{"city": {…}}` the record. */
function objectsWithId(body: JsonObject, name: string): JsonObject[] {
  return Object.values(body).filter((each) => isObject(each) && identifierIn(each, name) !== undefined) as JsonObject[]
}

async function isDeleted(requester: Requester, url: string): Promise<boolean> {
  // Cleanup goes on after the user stops the run.
  const answer = await requestDeletion({ ...requester, signal: undefined }, url)
  return isSuccess(answer) || isGone(answer)
}
