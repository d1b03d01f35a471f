/** What has been made to try a server, and what was learnt by it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Exchange, type Fields, fieldOf, jsonOf } from '../client/exchange.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import type { Ledger } from '../run/ledger.ts'
import { isObject, type JsonObject, valueAt } from '../values/json.ts'
import { type Asker, ask, isGood } from './asker.ts'
import { idIn } from './look.ts'

/** A record that was made to try it. */
export interface Tried {
  readonly id: string
  /** Whole address. */
  readonly url: string
  readonly path: string
  readonly body: JsonObject
  readonly record: JsonObject | undefined
  /** Who made it. */
  readonly by: Asker
}

/** What goes on while it is tried. */
export interface Trial {
  readonly asker: Asker
  profile: Profile
  readonly made: Map<string, Tried>
  /** Everything that is there, in the order in which it was made. */
  readonly there: Tried[]
  readonly notices: string[]
  readonly guessed: ReadonlySet<string>
  readonly other?: Fields | undefined
  readonly ledger: Ledger
  /** A text in what is created here, by which it is recognised. */
  readonly mark: string
}

/** A collection as it is known by now. */
export function known({ profile }: Trial, name: string): CollectionProfile {
  return profile.collections.find((each) => each.name === name) as CollectionProfile
}

/** Writes down what was learnt of a collection. */
export function learn(trial: Trial, name: string, more: Partial<CollectionProfile>): void {
  const collections = trial.profile.collections.map((each) => (each.name === name ? { ...each, ...more } : each))
  trial.profile = { ...trial.profile, collections }
}

/** Notes what an answer says was made. */
export function keep(
  trial: Trial,
  collection: CollectionProfile,
  exchange: Exchange,
  body: JsonObject,
  by = trial.asker,
): Tried | undefined {
  const answer = exchange.answer as Answer
  const { items } = trial.profile.names
  const said = jsonOf(answer)
  const inner = items === '' ? undefined : valueAt(said, items)
  const record = isObject(inner) ? inner : isObject(said) ? said : undefined
  const idMember =
    record === undefined
      ? undefined
      : Object.hasOwn(record, collection.id)
        ? collection.id
        : idIn(record, collection.name)
  const location = fieldOf(answer, 'Location')
  const id = idMember === undefined ? location?.split(/[?#]/)[0]?.split('/').at(-1) : record?.[idMember]
  if (id === undefined || id === '') return undefined
  if (idMember !== undefined && idMember !== collection.id) learn(trial, collection.name, { id: idMember })
  const url = `${trial.profile.base}${collection.path}/${encodeURIComponent(String(id))}`
  const tried = { id: String(id), url, path: new URL(url).pathname, body, record, by }
  // An answer may name a record that was there before: it is not to be deleted.
  if (trial.ledger.foreign.has(tried.path)) return undefined
  trial.there.push(tried)
  trial.ledger.remains.add(tried.path)
  trial.ledger.created++
  if (!trial.made.has(collection.name)) trial.made.set(collection.name, tried)
  return tried
}

/** Deletes what was made, the last first. Gives the paths of what stays. */
export async function removeTried(trial: Trial): Promise<string[]> {
  const remains: string[] = []
  for (const tried of trial.there.toReversed()) if (!(await isRemoved(trial, tried))) remains.push(tried.path)
  return remains
}

/** Deletes a record that was made to try its collection, and forgets it. Gives whether it is gone. */
export async function isRemoved(trial: Trial, { url, path, by }: Tried): Promise<boolean> {
  const { asker, ledger, there, made } = trial
  // Who could make it may not be allowed to delete it.
  const isGone = (await isRemovedBy(by, url)) || (by !== asker && (await isRemovedBy(asker, url)))
  if (!isGone) return false
  ledger.remains.delete(path)
  const at = there.findIndex((each) => each.path === path)
  if (at >= 0) there.splice(at, 1)
  for (const [name, each] of made) if (each.path === path) made.delete(name)
  return true
}

/** Whether a record is still there soon after its deletion was said to be done, or accepted. */
export async function isListed(trial: Trial, name: string, { url, id, path }: Tried): Promise<boolean> {
  const collection = known(trial, name)
  const patient = { ...trial.asker, signal: undefined }
  for (let pause = 50; pause < longestPause; pause *= 2) {
    if (!isGood((await ask(patient, 'GET', url)).answer)) return false
    // What is only marked as deleted may still be read, and is in no list.
    const { answer } = await ask(patient, 'GET', trial.profile.base + collection.path)
    const items = answer && valueAt(jsonOf(answer), trial.profile.names.items)
    if (!Array.isArray(items) || !items.some((each) => String(each?.[collection.id]) === id)) return false
    await sleep(pause)
  }
  trial.ledger.remains.add(path)
  return true
}

/** A deletion may be carried out later: so long it is waited for, in milliseconds. */
const longestPause = 4_000

async function isRemovedBy(asker: Asker, url: string): Promise<boolean> {
  // Also after a stop.
  const patient = { ...asker, signal: undefined }
  let { answer } = await ask(patient, 'DELETE', url)
  if (answer?.status === 428) answer = (await ask(patient, 'DELETE', url, { fields: [['If-Match', '*']] })).answer
  return isGood(answer) || answer?.status === 404 || answer?.status === 410
}
