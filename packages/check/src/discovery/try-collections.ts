/**
 * Completes a profile by trying: before the cases run, it creates records in each collection that they will use,
 * corrects bodies by the errors of the server, and deletes the records again.
 */
import type { Case } from '../case/case.ts'
import { recordOf } from '../case/expect-records.ts'
import { areSequential } from '../case/fill.ts'
import type { Requester } from '../client/client.ts'
import { type Answer, type Exchange, type Fields, isSuccess, jsonOf } from '../client/exchange.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import { creatableCollections } from '../run/choose-collections.ts'
import { newExample } from '../run/context.ts'
import type { Ledger } from '../run/ledger.ts'
import { statusText } from '../run/run-case.ts'
import { type Schema, takesMark, typeOf } from '../values/generate.ts'
import { isSame, type JsonObject, memberPointer, without } from '../values/json.ts'
import { oftenUnique } from './describe.ts'
import type { Parameter } from './openapi.ts'
import { probe } from './probe.ts'
import { singular } from './record-names.ts'
import { type Complaint, complaintsIn, repairBody } from './repair-body.ts'
import { Trial, type TrialRecord } from './trial.ts'

export interface TrialOptions {
  readonly profile: Profile
  /** The cases that will run: only collections that they use are tried. */
  readonly cases: readonly Case[]
  /** Collections that no document describes. */
  readonly guessed: ReadonlySet<string>
  /** The documented query parameters of lists, by collection. */
  readonly parameters?: ReadonlyMap<string, readonly Parameter[]> | undefined
  /** Credential of the second caller. */
  readonly other?: Fields | undefined
  /** Notes everything that is created; a new one if undefined. */
  readonly ledger?: Ledger | undefined
}

export interface TrialResult {
  readonly profile: Profile
  readonly notices: readonly string[]
  /** Paths of records that could not be deleted. */
  readonly remains: readonly string[]
}

/** Tries the collections that cases will use, those first to which others refer. */
export async function tryCollections(requester: Requester, options: TrialOptions): Promise<TrialResult> {
  const { cases } = options
  const other = options.other && { ...requester, credential: options.other }
  const trial = new Trial(requester, other, options)
  const callers = { hasKey: requester.credential.length > 0, hasOther: other !== undefined }
  const tried = new Set<string>()
  let remains: readonly string[] = []
  try {
    while (requester.signal?.aborted !== true) {
      // If a collection turns out to be unusable, another one takes its place.
      const used = creatableCollections({ profile: trial.profile, cases, ...callers })
      const name = used.find((each) => !tried.has(each))
      if (name === undefined) break
      tried.add(name)
      await tryCollection(trial, name)
    }
  } finally {
    remains = await trial.removeAll()
  }
  return { profile: trial.profile, notices: trial.notices, remains }
}

async function tryCollection(trial: Trial, name: string): Promise<void> {
  const single = await createMarked(trial, name)
  if (single === undefined) return
  // A single record shows whether records can be deleted. If not, no other is created.
  if (!(await trial.remove(single)) || (await trial.isStillListed(name, single))) {
    trial.notices.push(
      `${name}: ${single.path} was created and cannot be deleted again. The checker creates no other record ` +
        'there and leaves out cases that need one.',
    )
    return withoutCreation(trial, name)
  }
  const first = await createMarked(trial, name)
  if (first === undefined) return
  await findUniqueMembers(trial, name, first)
  trial.learn(name, await probe(trial, trial.collection(name), first))
  trial.learn(name, { sequential: areSequential(trial.identifiers.get(name) ?? []) })
  // Cases about callers who may do nothing need a collection in which the second caller may not create records.
  if (trial.collection(name).owner !== undefined && trial.other !== undefined) {
    const isOwned = (each: CollectionProfile) => Number(each.name === name)
    const collections = trial.profile.collections.toSorted((left, right) => isOwned(left) - isOwned(right))
    trial.profile = { ...trial.profile, collections }
  }
}

/** Creates a record with the checker's mark in a member that takes any text. Without such a member, a plain record. */
async function createMarked(trial: Trial, name: string): Promise<TrialRecord | undefined> {
  const collection = trial.collection(name)
  const label = collection.marker ?? labelOf(collection)
  const plain = exampleOf(trial, collection)
  if (label === undefined || chosenIdentifier(trial.profile, collection, plain) !== undefined) {
    return create(trial, name)
  }
  // Lists are filtered by the whole value of a marker.
  const text = label === collection.marker ? trial.mark : `${plain[label] ?? ''} ${trial.mark}`.trim()
  const body = { ...plain, [label]: text }
  const exchange = await trial.request(collection, 'POST', { body })
  if (!isSuccess(exchange.answer)) {
    if (collection.sample === undefined) return create(trial, name)
    // The same body without the mark was accepted before.
    const { schemas = {}, marker } = collection
    const known = { ...schemas, [label]: { ...schemas[label], 'x-unmarked': true } }
    trial.learn(name, { schemas: known, label: undefined, ...(marker === label && { marker: undefined }) })
    return createMarked(trial, name)
  }
  const created = await noteCreation(trial, collection, exchange, body)
  if (created === undefined) return undefined
  const sent = without(plain, trial.ignoredMembers(name, exchange.answer, body))
  learnBody(trial, collection, sent, new Set(collection.unique))
  // The next record has its mark in another member if the server ignores this one.
  if (collection.marker === undefined && Object.hasOwn(sent, label)) trial.learn(name, { label })
  return created
}

const mostTurns = 6

/** Creates a record. Refused bodies are repaired a few times by the errors of the server. */
async function create(trial: Trial, name: string): Promise<TrialRecord | undefined> {
  const collection = trial.collection(name)
  const { references } = collection
  let body = exampleOf(trial, collection)
  let last: Answer | undefined
  const required = new Set(collection.required)
  const unique = new Set(collection.unique)
  const schemas: Record<string, Schema> = { ...collection.schemas }
  for (let turn = 0; turn <= mostTurns; turn++) {
    const chosen = chosenIdentifier(trial.profile, { ...collection, schemas }, body)
    if (chosen !== undefined) return cannotCreate(trial, name, chosen)
    const exchange = await trial.request(collection, 'POST', { body })
    last = exchange.answer
    if (last === undefined) return cannotCreate(trial, name, `no response: ${exchange.failure}`)
    if (isSuccess(last)) {
      const created = await noteCreation(trial, collection, exchange, body)
      if (created === undefined) return undefined
      learnBody(trial, collection, without(body, trial.ignoredMembers(name, last, body)), unique)
      trial.learn(name, { required: [...required], schemas })
      return created
    }
    // A careless server fails at what its database refuses, and says why.
    if (!isRefusal(last) && last.status !== 500) break
    const complaints = complaintsIn(last, [...Object.keys(schemas), ...Object.keys(body), collection.id])
    if (turn === 0 && (await learnEnvelope(trial, name, body, complaints))) continue
    if (turn < 2 && learnsReferenceForms(trial, name, schemas, complaints)) {
      body = exampleOf(trial, trial.collection(name))
      continue
    }
    const repaired = repairBody({ body, complaints, schemas, required: [...required], turn, references })
    if (repaired === undefined) break
    body = repaired.body
    for (const each of repaired.required) required.add(each)
    for (const each of repaired.unique) unique.add(each)
    Object.assign(schemas, repaired.schemas)
  }
  return cannotCreate(trial, name, last === undefined ? 'no response' : statusText(last))
}

/**
 * Tries references as objects with an identifier, if records show the whole record to which a member refers and the
 * server refuses its bare identifier. Returns whether there are such members.
 */
function learnsReferenceForms(
  trial: Trial,
  name: string,
  schemas: Readonly<Record<string, Schema>>,
  complaints: readonly Complaint[],
): boolean {
  const { references, referenceForms } = trial.collection(name)
  const isAbout = (each: string) => complaints.every(({ member }) => member === undefined || member === each)
  const populated = Object.keys(references).filter((each) => schemas[each]?.['x-populated'] === true && isAbout(each))
  if (referenceForms !== undefined || populated.length === 0) return false
  trial.learn(name, { referenceForms: Object.fromEntries(populated.map((each) => [each, 'object'])) })
  return true
}

/**
 * Learns the envelope that bodies need, if the server refused a body without one: it misses a member in which responses
 * hold records, or does not accept the members of the body. Returns whether the envelope is right.
 */
async function learnEnvelope(trial: Trial, name: string, body: JsonObject, complaints: readonly Complaint[]) {
  const { names: known } = trial.collection(name)
  const ofAnswers = trial.profileOf(name).names.items.replace(/^\//, '')
  const member = [ofAnswers, singular(name)].find((each) => isEnvelope(each, each === ofAnswers, complaints))
  if (member === undefined) return false
  trial.learn(name, { names: { ...known, body: memberPointer(member) } })
  const collection = trial.collection(name)
  const exchange = await trial.request(collection, 'POST', { body })
  const { answer } = exchange
  if (isSuccess(answer)) {
    const created = trial.note(collection, exchange, body)
    const record = recordOf(answer, { profile: trial.profileOf(name), collection })
    if (created !== undefined) await trial.remove(created)
    // A server that ignores what it does not know accepts any envelope.
    if (Object.keys(body).some((each) => isSame(record?.[each], body[each]))) return true
  } else if (answer !== undefined && isRefusal(answer)) {
    const others = complaintsIn(answer, [...Object.keys(body), member])
    const isRight =
      others.length > 0 && !others.some(({ kind, member: about }) => kind === 'unknown' || about === member)
    if (isRight) return true
  }
  trial.learn(name, { names: known })
  return false
}

/** Whether complaints about a body suggest that its members belong into a member with this name. */
function isEnvelope(name: string, isOfAnswers: boolean, complaints: readonly Complaint[]): boolean {
  if (!/^[\w-]+$/.test(name)) return false
  const isNamed = ({ member, text }: Complaint) => member === name || new RegExp(`\\b${name}\\b`).test(text)
  return complaints.some(
    (each) => (each.kind === 'missing' && isNamed(each)) || (isOfAnswers && each.kind === 'unknown'),
  )
}

/** Whether a response refuses a body because of its content. */
function isRefusal({ status }: Answer): boolean {
  return [400, 409, 422].includes(status)
}

async function noteCreation(trial: Trial, { name }: CollectionProfile, exchange: Exchange, body: JsonObject) {
  const noted = trial.note(trial.collection(name), exchange, body)
  if (noted === undefined) {
    const why = 'the response has neither its identifier nor its Location, or names a record that existed before'
    return cannotCreate(trial, name, why)
  }
  const created = await trial.locate(name, noted, exchange)
  const why = `it was created, but it is not at ${noted.path}; write the member that addresses have into the profile: `
  return created ?? cannotCreate(trial, name, `${why}collections.${name}.id`)
}

function cannotCreate(trial: Trial, name: string, why: string): undefined {
  // No body helps who lacks a credential.
  const remedy = /^40[13]\b/.test(why)
    ? 'Give a credential that may create records with --key or --header'
    : `Write a body that creates one into the profile: collections.${name}.example`
  trial.notices.push(
    `No record of ${name} can be created (${why}). ${remedy}; or exclude it: collections.${name}: false`,
  )
  withoutCreation(trial, name)
}

function withoutCreation(trial: Trial, name: string): void {
  trial.learn(name, { operations: trial.collection(name).operations.filter((each) => each !== 'create') })
}

/**
 * Keeps a body that the server accepted. Its unique members keep their examples, because each body has other values.
 */
function learnBody(
  trial: Trial,
  { name, unique, example: before = {} }: CollectionProfile,
  body: JsonObject,
  differing: ReadonlySet<string>,
): void {
  const kept = unique.filter((each) => Object.hasOwn(before, each))
  trial.learn(name, {
    example: { ...body, ...Object.fromEntries(kept.map((each) => [each, before[each]])) },
    unique: [...differing].filter((each) => Object.hasOwn(body, each)),
  })
}

/** A text member of the example that seems to take any text. */
function labelOf(collection: CollectionProfile): string | undefined {
  const { example = {}, unique, schemas = {} } = collection
  const fitting = freeTexts(example, collection).filter(
    (each) => !unique.includes(each) && takesMark(schemas[each] ?? {}, 40),
  )
  return fitting.find((each) => !('x-seen' in (schemas[each] ?? {}))) ?? fitting[0]
}

/** Finds another text for the mark: one with which the server takes a body that it took before. */
async function findLabel(trial: Trial, name: string, body: JsonObject): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    const collection = trial.collection(name)
    const label = labelOf(collection)
    if (label === undefined) return trial.learn(name, { label })
    const fresh = exampleOf(trial, { ...collection, example: body })
    const marked = { ...fresh, [label]: `${fresh[label] ?? ''} ${trial.mark}`.trim() }
    const exchange = await trial.request(collection, 'POST', { body: marked })
    if (isSuccess(exchange.answer)) {
      trial.note(collection, exchange, marked)
      return trial.learn(name, { label })
    }
    const { schemas = {} } = collection
    trial.learn(name, { label: undefined, schemas: { ...schemas, [label]: { ...schemas[label], 'x-unmarked': true } } })
  }
}

/** Why a body must not be sent: it would choose the identifier of its record. `undefined` if it may be sent. */
function chosenIdentifier(
  { allowChosenIds }: Profile,
  { id, sequential, schemas = {} }: CollectionProfile,
  body: JsonObject,
): string | undefined {
  if (allowChosenIds === true || !Object.hasOwn(body, id)) return undefined
  const isText = typeof body[id] === 'string' && typeOf(schemas[id] ?? {}) === 'string'
  if (sequential === false ? typeof body[id] === 'string' : isText && sequential === undefined) return undefined
  return (
    `the checker would have to choose the identifier ${id}, which could move a sequence for ever; ` +
    '--allow-chosen-ids permits it'
  )
}

function exampleOf({ first }: Trial, collection: CollectionProfile): JsonObject {
  return newExample(collection, (other) => first.get(other))
}

/**
 * Finds unique members: sends the same body again, and then one with other values where the server refuses the same
 * ones.
 */
async function findUniqueMembers(trial: Trial, name: string, first: TrialRecord): Promise<void> {
  const collection = trial.collection(name)
  const repeat = () => trial.request(collection, 'POST', { body: first.body })
  const once = await repeat()
  // A failure may have had another cause.
  const same = (once.answer?.status ?? 0) >= 500 ? await repeat() : once
  if (isSuccess(same.answer)) {
    trial.note(collection, same, first.body)
    return trial.learn(name, { unique: [] })
  }
  // A careless server fails at what its database refuses.
  if (same.answer === undefined || !(isRefusal(same.answer) || same.answer.status >= 500)) return
  let last = same
  for (const unique of uniqueToTry(collection, same.answer, first.body)) {
    trial.learn(name, { unique })
    // A value with the mark in it may be too long for another one.
    const { example = {} } = trial.collection(name)
    const kept = Object.fromEntries(unique.flatMap((each) => (each in example ? [[each, example[each]]] : [])))
    const body = exampleOf(trial, { ...trial.collection(name), example: { ...first.body, ...kept } })
    last = await trial.request(collection, 'POST', { body })
    if (isSuccess(last.answer)) {
      trial.note(collection, last, body)
      const { label } = trial.collection(name)
      if (label !== undefined && unique.includes(label)) await findLabel(trial, name, body)
      return
    }
  }
  const why = last.answer === undefined ? last.failure : statusText(last.answer)
  trial.notices.push(
    `A second record of ${name} is refused (${why}), so that no case can create any. Write the members that must be ` +
      `unique into the profile: collections.${name}.unique`,
  )
  // Another collection may take its place.
  trial.learn(name, { unique: collection.unique })
  withoutCreation(trial, name)
}

const mostGuesses = 10

/** Sets of members that may be unique, the likeliest first: what the response says, one text after the other, all. */
function uniqueToTry(collection: CollectionProfile, answer: Answer, body: JsonObject): readonly (readonly string[])[] {
  const { references, schemas = {}, unique } = collection
  const possible = Object.keys(body).filter(
    (each) =>
      ['string', 'number'].includes(typeof body[each]) &&
      !Object.hasOwn(references, each) &&
      !('enum' in (schemas[each] ?? {})),
  )
  const only = (names: readonly string[]) => possible.filter((each) => names.includes(each))
  const reported = only(reportedMembers(collection, answer, body))
  const known = only([...unique, ...reported])
  const texts = only(freeTexts(body, collection))
  const usual = texts.filter((each) => oftenUnique.test(each))
  // A number may be unique together with a reference: the number of an episode, of a line.
  const numbers = possible.filter((each) => typeof body[each] === 'number')
  const all = [
    ...[reported, known],
    ...[...usual, ...texts, ...numbers].map((each) => only([...known, each])),
    only([...known, ...texts, ...numbers]),
  ]
  const seen = new Set(['[]'])
  const isNew = (each: readonly string[]) => !seen.has(JSON.stringify(each)) && seen.add(JSON.stringify(each))
  const different = all.filter(isNew)
  return [...different.slice(0, mostGuesses), ...different.slice(mostGuesses).slice(-1)]
}

/** The members that a response names because a second record has the same values. */
function reportedMembers(collection: CollectionProfile, answer: Answer, body: JsonObject): readonly string[] {
  const named = complaintsIn(answer, Object.keys(body)).flatMap(({ member, kind }) =>
    member !== undefined && kind === 'taken' && Object.hasOwn(body, member) ? [member] : [],
  )
  const texts = freeTexts(body, collection)
  // A reference cannot be changed. If only references are named, other members must be unique together with them.
  const own = named.filter((each) => !Object.hasOwn(collection.references, each))
  const said = valuesIn(answer)
  const words = new Set(said.flatMap((each) => each.match(/[\w-]+/g) ?? []))
  const isQuoted = (each: string) =>
    said.some((text) => String(body[each]).length > 3 && text.includes(String(body[each])))
  // The surest evidence counts: a name in its place, a quoted value, a name among the words.
  const inWords = named.length === 0 ? [] : texts.filter((each) => words.has(each))
  return [own, texts.filter(isQuoted), inWords].find((each) => each.length > 0) ?? []
}

/** The texts of a response, without the names of its members: a problem has a `status`, as many records have. */
function valuesIn(answer: Answer): string[] {
  const valuesOf = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values(objectOrArray(value)).flatMap(valuesOf)
  const json = jsonOf(answer)
  return json === undefined ? [answer.body] : valuesOf(json)
}

function objectOrArray(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

/** Text members without a format, a list of values or a reference. */
function freeTexts(body: JsonObject, { references, schemas = {} }: CollectionProfile): string[] {
  return Object.keys(body).filter((each) => {
    const schema = schemas[each] ?? {}
    return (
      typeof body[each] === 'string' && !Object.hasOwn(references, each) && !('enum' in schema) && !('format' in schema)
    )
  })
}
