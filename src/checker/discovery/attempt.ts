/** Tries before the cases run what it takes to make a record of each collection that they use, and what can be done with it. */

import { randomBytes } from 'node:crypto'
import type { Case } from '../case/case.ts'
import type { Answer, Fields } from '../client/exchange.ts'
import { type CollectionProfile, canCreate, type Profile } from '../profile/profile.ts'
import { choose } from '../run/choose-collections.ts'
import { Ledger } from '../run/ledger.ts'
import { distinct } from '../values/distinct.ts'
import { type Schema, typeOf } from '../values/generate.ts'
import type { JsonObject } from '../values/json.ts'
import { amend } from './amend.ts'
import { type Asker, ask, isGood } from './asker.ts'
import { complaintsIn } from './complaint.ts'
import { learnt } from './learn.ts'
import { oftenUnique } from './members.ts'
import { isListed, isRemoved, keep, known, learn, removeTried, type Trial, type Tried } from './trial.ts'

/** What is to be tried. */
export interface Attempts {
  readonly profile: Profile
  /** The cases that are to run: only what they use is tried. */
  readonly cases: readonly Case[]
  readonly hasKey: boolean
  readonly hasOther: boolean
  /** Collections that no document describes. */
  readonly guessed: ReadonlySet<string>
  /** The credential of somebody else. */
  readonly other?: Fields | undefined
  readonly signal?: AbortSignal | undefined
  /** What notes all that is created; begun anew unless given. */
  readonly ledger?: Ledger | undefined
  readonly onCollection?: ((name: string) => void) | undefined
}

/** What came of it. */
export interface Attempted {
  readonly profile: Profile
  readonly notices: readonly string[]
  /** What was made and could not be taken away again: paths. */
  readonly remains: readonly string[]
}

/** The collections in which cases will make records, with those that they refer to: as far as it is known. */
export function usedCollections({ profile, cases, hasKey, hasOther }: Omit<Attempts, 'guessed'>): string[] {
  const used = new Set<string>()
  const add = (name: string) => {
    const found = profile.collections.find((each) => each.name === name)
    if (found === undefined || used.has(name)) return
    for (const other of Object.values(found.references)) if (other !== name) add(other)
    if (canCreate(found)) used.add(name)
  }
  for (const one of cases) {
    const chosen = one.kind === 'changing' ? choose(one, profile, { hasKey, hasOther }) : undefined
    if (chosen !== undefined && 'collections' in chosen) for (const { name } of chosen.collections) add(name)
  }
  return [...used]
}

/** Tries them, and takes away what was made. */
export async function attempt(asker: Asker, attempts: Attempts): Promise<Attempted> {
  const { signal, onCollection, guessed, other, profile, ledger = new Ledger() } = attempts
  const mark = `checked-${randomBytes(5).toString('hex')}`
  const trial: Trial = { asker, profile, made: new Map(), there: [], notices: [], guessed, other, ledger, mark }
  const done = new Set<string>()
  let remains: readonly string[] = []
  try {
    // What cannot be used is seen to be so, and another collection takes its place.
    for (let name = nextOf(trial, attempts, done); name !== undefined; name = nextOf(trial, attempts, done)) {
      if (signal?.aborted) break
      done.add(name)
      onCollection?.(name)
      await tryCollection(trial, name)
    }
  } finally {
    remains = await removeTried(trial)
  }
  return { profile: trial.profile, notices: trial.notices, remains }
}

function nextOf({ profile }: Trial, attempts: Attempts, done: ReadonlySet<string>): string | undefined {
  return usedCollections({ ...attempts, profile }).find((each) => !done.has(each))
}

async function tryCollection(trial: Trial, name: string): Promise<void> {
  const probe = await createLabelled(trial, name)
  if (probe === undefined) return
  // One record shows whether records can be deleted: where they cannot, no other is created.
  if (!(await isRemoved(trial, probe)) || (await isListed(trial, name, probe))) return cannotRemove(trial, name, probe)
  const first = await createLabelled(trial, name)
  if (first === undefined) return
  await tryAgain(trial, name, first)
  for (const [key, value] of Object.entries(await learnt(trial, known(trial, name), first))) {
    learn(trial, name, { [key]: value })
  }
  // Where others may do something is the wrong place to see what they may not: that is tried elsewhere if it can be.
  if (known(trial, name).owner !== undefined && trial.other !== undefined) putLast(trial, name)
}

function putLast(trial: Trial, name: string): void {
  const { collections } = trial.profile
  const [own, rest] = [
    collections.filter((each) => each.name === name),
    collections.filter((each) => each.name !== name),
  ]
  trial.profile = { ...trial.profile, collections: [...rest, ...own] }
}

const mostTurns = 6

/** Makes a record, however often it takes. */
async function create(trial: Trial, name: string): Promise<Tried | undefined> {
  const collection = known(trial, name)
  const { schemas = {}, required, unique, references } = collection
  let body = bodyOf(trial, collection)
  let last: Answer | undefined
  const needs = new Set(required)
  const differs = new Set(unique)
  const said: Record<string, Schema> = { ...schemas }
  for (let turn = 0; turn <= mostTurns; turn++) {
    const chosen = chosenId(trial.profile, { ...collection, schemas: said }, body)
    if (chosen !== undefined) return cannot(trial, name, chosen)
    const exchange = await ask(trial.asker, 'POST', trial.profile.base + collection.path, { body })
    last = exchange.answer
    if (last === undefined) return cannot(trial, name, `no answer: ${exchange.failure}`)
    if (isGood(last)) {
      const made = keep(trial, collection, exchange, body)
      if (made === undefined) return cannot(trial, name, unnamed)
      learnBody(trial, collection, body, differs)
      learn(trial, name, { required: [...needs], schemas: said })
      return made
    }
    if (![400, 409, 422].includes(last.status)) break
    const members = [...new Set([...Object.keys(said), ...Object.keys(body)])]
    const next = amend({
      body,
      complaints: complaintsIn(last, members),
      schemas: said,
      required: [...needs],
      turn,
      references,
    })
    if (next === undefined) break
    body = next.body
    for (const each of next.demanded) needs.add(each)
    for (const each of next.taken) differs.add(each)
    Object.assign(said, next.schemas)
  }
  return cannot(trial, name, `${last?.status}: ${textOf(last)}`)
}

/** Makes a record that a text of the checker's own tells from others, where a member takes any text; otherwise one as before. */
async function createLabelled(trial: Trial, name: string): Promise<Tried | undefined> {
  const collection = known(trial, name)
  const label = collection.marker ?? labelOf(collection)
  if (label === undefined) return create(trial, name)
  const plain = bodyOf(trial, collection)
  if (chosenId(trial.profile, collection, plain) !== undefined) return create(trial, name)
  // Lists are filtered by a marker's whole value.
  const text = label === collection.marker ? trial.mark : `${plain[label] ?? ''} ${trial.mark}`.trim()
  const body = { ...plain, [label]: text }
  const exchange = await ask(trial.asker, 'POST', trial.profile.base + collection.path, { body })
  if (!isGood(exchange.answer)) return create(trial, name)
  const made = keep(trial, collection, exchange, body)
  if (made === undefined) return cannot(trial, name, unnamed)
  learnBody(trial, collection, plain, new Set(collection.unique))
  if (collection.marker === undefined) learn(trial, name, { label })
  return made
}

const unnamed = 'the answer tells neither its identifier nor its Location, or names a record that existed before'

/** Writes down a body that was accepted. What was made different this time is made so anew each time. */
function learnBody(
  trial: Trial,
  { name, unique, example: before = {} }: CollectionProfile,
  body: JsonObject,
  differs: ReadonlySet<string>,
): void {
  const same = unique.filter((each) => Object.hasOwn(before, each))
  learn(trial, name, {
    example: { ...body, ...Object.fromEntries(same.map((each) => [each, before[each]])) },
    unique: [...differs].filter((each) => Object.hasOwn(body, each)),
  })
}

/** A text member of the body that takes any text, as far as is known. */
function labelOf(collection: CollectionProfile): string | undefined {
  const { example = {}, unique, schemas = {} } = collection
  return textsOf(example, collection).find((each) => {
    const { pattern, maxLength } = schemas[each] ?? {}
    return !unique.includes(each) && pattern === undefined && Number(maxLength ?? 99) >= 40
  })
}

/** A record that was made stays: none is made in its collection any more. */
function cannotRemove(trial: Trial, name: string, { path }: Tried): void {
  trial.notices.push(
    `${name}: ${path} was created and cannot be deleted again. No other record is created there, and cases that need one are left out.`,
  )
  learn(trial, name, { operations: known(trial, name).operations.filter((each) => each !== 'create') })
}

/** Why a body must not be sent that chooses the identifier of its record; `undefined` where it may be sent. */
function chosenId(
  { allowChosenIds }: Profile,
  { id, sequential, schemas = {} }: CollectionProfile,
  body: JsonObject,
): string | undefined {
  if (allowChosenIds === true || !Object.hasOwn(body, id)) return undefined
  const isText = typeof body[id] === 'string' && typeOf(schemas[id] ?? {}) === 'string'
  if (sequential === false ? typeof body[id] === 'string' : isText && sequential === undefined) return undefined
  return `it would need an identifier of the checker's choice in ${id}, which could move a sequence for ever; --allow-chosen-ids sends one`
}

function textOf(answer: Answer | undefined): string {
  const text = (answer?.body ?? '').replaceAll(/\s+/g, ' ').trim()
  return text.length > 400 ? `${text.slice(0, 400)} …` : text
}

function cannot(trial: Trial, name: string, why: string): undefined {
  trial.notices.push(
    `No record of ${name} can be made (${why}). Write a body that can into the profile: collections.${name}.example; or leave it alone: collections.${name}: false`,
  )
  learn(trial, name, { operations: known(trial, name).operations.filter((each) => each !== 'create') })
  return undefined
}

let turns = 0

function bodyOf(trial: Trial, { example = {}, references, unique, schemas = {} }: CollectionProfile): JsonObject {
  const body: Record<string, unknown> = { ...example }
  const turn = ++turns
  for (const member of unique) {
    if (Object.hasOwn(body, member)) body[member] = distinct(body[member], turn, schemas[member])
  }
  for (const [member, other] of Object.entries(references)) {
    const parent = trial.made.get(other)
    if (parent === undefined) continue
    body[member] =
      typeof body[member] === 'number' || schemas[member]?.['type'] === 'integer' ? Number(parent.id) : parent.id
  }
  return body
}

/** Makes the same once more: what must differ is refused. Then one that differs. */
async function tryAgain(trial: Trial, name: string, first: Tried): Promise<void> {
  const collection = known(trial, name)
  const same = await ask(trial.asker, 'POST', trial.profile.base + collection.path, { body: first.body })
  if (isGood(same.answer)) {
    keep(trial, collection, same, first.body)
    learn(trial, name, { unique: [] })
    return
  }
  if (same.answer === undefined || ![400, 409, 422].includes(same.answer.status)) return
  const complaints = complaintsIn(same.answer, Object.keys(first.body))
  const named = complaints.flatMap(({ member, kind }) =>
    member !== undefined && kind === 'taken' && Object.hasOwn(first.body, member) ? [member] : [],
  )
  // Of several that must differ together one that refers to others cannot.
  const own = named.filter((each) => !Object.hasOwn(collection.references, each))
  const told = own.length > 0 ? own : named.length > 0 ? wordsIn(same.answer.body, textsOf(first.body, collection)) : []
  const all = [...new Set([...collection.unique, ...told])]
  const guess =
    all.length > 0
      ? all
      : Object.keys(first.body).filter((each) => typeof first.body[each] === 'string' && oftenUnique.test(each))
  const isMarked = collection.marker !== undefined && !guess.includes(collection.marker)
  const unique = guess.length > 0 ? guess : isMarked ? [] : textsOf(first.body, collection).slice(0, 1)
  learn(trial, name, { unique })
  const body = bodyOf(trial, { ...known(trial, name), example: first.body })
  const other = await ask(trial.asker, 'POST', trial.profile.base + collection.path, { body })
  if (isGood(other.answer)) keep(trial, collection, other, body)
  else
    trial.notices.push(
      `A second record of ${name} is refused (${other.answer?.status}: ${textOf(other.answer)}). Write into the profile which members must differ: collections.${name}.unique`,
    )
}

function wordsIn(text: string, members: readonly string[]): string[] {
  const words = new Set(text.match(/[\w-]+/g) ?? [])
  return members.filter((each) => words.has(each))
}

function textsOf(body: JsonObject, { references, schemas = {} }: CollectionProfile): string[] {
  return Object.keys(body).filter((each) => {
    const schema = schemas[each] ?? {}
    return (
      typeof body[each] === 'string' && !Object.hasOwn(references, each) && !('enum' in schema) && !('format' in schema)
    )
  })
}
