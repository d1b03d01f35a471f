/** The state of a trial: the records that it created, and what they have shown about their collections so far. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Requester, type RequestParts, request } from '../client/client.ts'
import { type Exchange, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import { isGone, requestDeletion } from '../run/cleanup.ts'
import type { Ledger } from '../run/ledger.ts'
import { isObject, type JsonObject, objectOf, valueAt } from '../values/json.ts'
import { identifierIn } from './naming.ts'

/** A record that a trial created. */
export interface TrialRecord {
  readonly id: string
  readonly url: string
  readonly path: string
  /** Body that created it. */
  readonly body: JsonObject
  readonly creator: Requester
}

/** A trial of several collections, one after the other. */
export interface Trial {
  readonly requester: Requester
  /** The second caller, if there is one. */
  readonly other: Requester | undefined
  /** What is known so far. */
  profile: Profile
  /** All records that exist, in the order of their creation. */
  readonly records: TrialRecord[]
  /** The first existing record of each collection. */
  readonly first: Map<string, TrialRecord>
  readonly notices: string[]
  /** Collections that no document describes. */
  readonly guessed: ReadonlySet<string>
  readonly ledger: Ledger
  /** Text by which the checker recognizes the records. */
  readonly mark: string
}

/** What is known of a collection so far. */
export function collectionOf({ profile }: Trial, name: string): CollectionProfile {
  return profile.collections.find((each) => each.name === name) as CollectionProfile
}

/** Adds to what is known of a collection. */
export function learn(trial: Trial, name: string, facts: Partial<CollectionProfile>): void {
  const collections = trial.profile.collections.map((each) => (each.name === name ? { ...each, ...facts } : each))
  trial.profile = { ...trial.profile, collections }
}

/** Sends a request to a collection: `suffix` follows its address. */
export function requestCollection(
  { requester, profile }: Trial,
  { path }: CollectionProfile,
  method: string,
  { suffix = '', ...parts }: RequestParts & { readonly suffix?: string } = {},
): Promise<Exchange> {
  return request(requester, method, profile.base + path + suffix, parts)
}

/** The records in the response of a list; `undefined` if it is no list. */
export function listItems({ profile }: Trial, { answer }: Exchange): readonly JsonObject[] | undefined {
  const items = isSuccess(answer) ? valueAt(jsonOf(answer), profile.names.items) : undefined
  return Array.isArray(items) ? items.map(objectOf) : undefined
}

/** Notes the record that a request created; `undefined` if the response does not identify a new record. */
export function noteRecord(
  trial: Trial,
  { name, id, path }: CollectionProfile,
  { answer }: Exchange,
  body: JsonObject,
  creator = trial.requester,
): TrialRecord | undefined {
  if (answer === undefined) return undefined
  const { items } = trial.profile.names
  const whole = jsonOf(answer)
  const record = [items === '' ? undefined : valueAt(whole, items), whole].find(isObject)
  const member = record === undefined ? undefined : Object.hasOwn(record, id) ? id : identifierIn(record, name)
  const location = fieldOf(answer, 'Location')?.split(/[?#]/)[0]?.split('/').at(-1)
  const value = member === undefined ? location : record?.[member]
  if (value === undefined || value === '') return undefined
  if (member !== undefined && member !== id) learn(trial, name, { id: member })
  const url = `${trial.profile.base}${path}/${encodeURIComponent(String(value))}`
  const created = { id: String(value), url, path: new URL(url).pathname, body, creator }
  // A response may name a record that existed before. It must not be deleted.
  if (!trial.ledger.add(created.path)) return undefined
  trial.records.push(created)
  if (!trial.first.has(name)) trial.first.set(name, created)
  return created
}

/** Deletes all records, the last one first. Returns the paths of those that could not be deleted. */
export async function removeTrialRecords(trial: Trial): Promise<string[]> {
  const remaining: string[] = []
  for (const each of trial.records.toReversed()) if (!(await removeTrialRecord(trial, each))) remaining.push(each.path)
  return remaining
}

/** Deletes a record. Returns whether the server says that it is gone. */
export async function removeTrialRecord(trial: Trial, { url, path, creator }: TrialRecord): Promise<boolean> {
  const { requester, records, first } = trial
  // A caller who may create records may not be allowed to delete them.
  const isGone = (await isDeleted(creator, url)) || (creator !== requester && (await isDeleted(requester, url)))
  if (!isGone) return false
  trial.ledger.remains.delete(path)
  const at = records.findIndex((each) => each.path === path)
  if (at >= 0) records.splice(at, 1)
  for (const [name, each] of first) if (each.path === path) first.delete(name)
  return true
}

async function isDeleted(requester: Requester, url: string): Promise<boolean> {
  // Cleanup goes on after the user stops the run.
  const answer = await requestDeletion({ ...requester, signal: undefined }, url)
  return isSuccess(answer) || isGone(answer)
}

/** How long a deletion may take that the server has accepted, in milliseconds. */
const longestDeletion = 4_000

/** Whether a record still exists soon after the server said that it is gone. */
export async function isStillListed(trial: Trial, name: string, { url, id, path }: TrialRecord): Promise<boolean> {
  const collection = collectionOf(trial, name)
  const patient = { ...trial, requester: { ...trial.requester, signal: undefined } }
  for (let pause = 50; pause < longestDeletion; pause *= 2) {
    if (!isSuccess((await request(patient.requester, 'GET', url)).answer)) return false
    // A record that is only marked as deleted may still be readable. No list shows it.
    const items = listItems(trial, await requestCollection(patient, collection, 'GET'))
    if (!items?.some((each) => String(each[collection.id]) === id)) return false
    await sleep(pause)
  }
  trial.ledger.remains.add(path)
  return true
}
