/** What a run knows and does beside its cases: whom it asks, as whom, and what it has made. */
import type { Ask, Body, Caller, Request } from '../case/case.ts'
import type { CaseState, CreatedRecord } from '../case/case-state.ts'
import { fill, fillAll } from '../case/fill.ts'
import { objectOf } from '../case/members.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { collection as collectionAddress, ifRequired } from '../case/references.ts'
import type { Client } from '../client/client.ts'
import { type Answer, type Exchange, type Fields, fieldOf, jsonOf } from '../client/exchange.ts'
import { type Profile, urlOf } from '../profile/profile.ts'
import { type JsonObject, valueAt } from '../values/json.ts'
import { isNarrow, uniqueValue } from '../values/unique-value.ts'
import type { Ledger } from './ledger.ts'

/** A run's surroundings. */
export interface World {
  readonly client: Client
  readonly profile: Profile
  /** What each caller sends along. */
  readonly credentials: Readonly<Record<Caller, Fields>>
  /** What was created, and what of it still exists. */
  readonly ledger: Ledger
  /** Whether the identifier of a deleted record is given to the next one. */
  reusesIdentifiers?: boolean
}

/** Sends a request of a case. Where few values are possible, one that must differ may be somebody's already: then once more. */
export async function ask(world: World, known: CaseState, asked: Ask, atOnce = false): Promise<Exchange> {
  let exchange = await askOnce(world, known, asked, atOnce)
  for (let turn = 0; turn < mostTurns && exchange.answer?.status === 409; turn++) {
    if (atOnce || !isUnlucky(asked.request, known)) break
    exchange = await askOnce(world, known, asked, atOnce)
  }
  return exchange
}

const mostTurns = 12

/** Whether another body of the kind could be taken: it is made up, and the same is not meant to be sent twice. */
function isUnlucky({ body, headers = {} }: Request, { collection: { unique, schemas = {} } }: CaseState): boolean {
  if (body === undefined || !('from' in body) || (body.from !== 'example' && body.from !== 'least')) return false
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')) return false
  return unique.some((member) => !Object.hasOwn(body.with ?? {}, member) && isNarrow(schemas[member] ?? {}))
}

function askOnce(world: World, known: CaseState, { as, request }: Ask, atOnce: boolean): Promise<Exchange> {
  const { method, to, headers = {}, body, caller = 'caller', impatient } = request
  const text = body === undefined ? undefined : textOf(body, known)
  const fields: (readonly [string, string])[] = Object.entries(headers)
    .filter(([, value]) => value !== ifRequired.headers['If-Match'] || known.collection.conditional)
    .map(([name, value]) => [fill(name, known), fill(value, known)])
  const isTyped = fields.some(([name]) => name.toLowerCase() === 'content-type')
  if (text !== undefined && !isTyped) fields.push(['Content-Type', 'application/json'])
  if (!fields.some(([name]) => name.toLowerCase() === 'accept')) fields.push(['Accept', 'application/json'])
  const isNamed = fields.some(([name]) => name.toLowerCase() === 'authorization')
  const url = urlOf(world.profile, fill(to, known))
  const all = [...(isNamed || !isTrusted(world.profile, url) ? [] : world.credentials[caller]), ...fields]
  return world.client.send(as, { method, url, fields: all, body: text }, { impatient, atOnce })
}

/** Whether an address is one of the server that is checked: where an answer leads elsewhere, no credential goes along. */
function isTrusted({ base, deprecated, retired }: Profile, url: string): boolean {
  const { origin } = new URL(url)
  return [base, deprecated, retired].some((each) => each !== undefined && new URL(each).origin === origin)
}

/** The text of a body. */
export function textOf(body: Body, known: CaseState): string {
  if ('text' in body) return fill(body.text, known)
  if ('json' in body) return JSON.stringify(fillAll(body.json, known))
  const plus = body.plus === undefined ? {} : known.collection[body.plus]
  const whole = { ...baseOf(body.from, known), ...uniqueOf(known, body.like), ...plus }
  const given = { ...whole, ...(fillAll(body.with ?? {}, known) as JsonObject) }
  const names = (body.without ?? []).map((name) => fill(name, known))
  return JSON.stringify(without(given, names))
}

function without(whole: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)))
}

function baseOf(from: Exclude<Body, { text: string } | { json: unknown }>['from'], known: CaseState): JsonObject {
  const { collection, exchanges } = known
  if (from === 'example') return sampleOf(known)
  if (from === 'change' || from === 'invalid') return collection[from]
  if (from === 'least') return without(sampleOf(known), Object.keys(collection.optional))
  if (from === 'mark') {
    const member = collection.marker ?? collection.label
    return member === undefined ? {} : { [member]: known.mark }
  }
  if (from === 'part') {
    const found = objectOf(collection)
    return found === undefined ? {} : { [found.member]: found.part }
  }
  const { asked, answer } = exchanges.get('sent' in from ? from.sent : from.answered)?.at(-1) ?? {}
  const value = 'sent' in from ? JSON.parse(asked?.body ?? '{}') : answer && jsonOf(answer)
  if (typeof value !== 'object' || value === null) throw new NotSetUp('an answer that was to be sent back is no object')
  return value
}

/** The unique members that the request of a step had. */
function uniqueOf({ collection, exchanges }: CaseState, step: string | undefined): JsonObject {
  if (step === undefined) return {}
  const sent = JSON.parse(exchanges.get(step)?.at(-1)?.asked.body ?? '{}') as JsonObject
  return Object.fromEntries(Object.entries(sent).filter(([name]) => collection.unique.includes(name)))
}

let samples = 0

/** A body that creates a record, unlike all before. */
function sampleOf({ collection, mark, made }: CaseState): JsonObject {
  const { example, unique, marker, label, references, schemas = {} } = collection
  if (example === undefined) throw new NotSetUp(`no body is known that creates one of ${collection.name}`)
  const sample: Record<string, unknown> = { ...example }
  const turn = ++samples
  for (const member of unique) sample[member] = uniqueValue(sample[member], turn, schemas[member])
  if (marker !== undefined) sample[marker] = unique.includes(marker) ? `${mark}-${turn}` : mark
  else if (label !== undefined) sample[label] = `${sample[label] ?? ''} ${mark}`.trim()
  for (const [member, other] of Object.entries(references)) {
    const parent = made.get(`parent ${other}`)
    if (parent === undefined) continue
    // Identifiers are known as they stand in addresses.
    const isNumber = typeof sample[member] === 'number' || schemas[member]?.['type'] === 'integer'
    sample[member] = isNumber ? Number(parent.id) : parent.id
  }
  return sample
}

/** Makes a record of a case's collection, and what it refers to before. */
export async function create(
  world: World,
  known: CaseState & { readonly made: Map<string, CreatedRecord> },
  as: string,
  how: Pick<Request, 'caller'> & {
    readonly with?: JsonObject | undefined
    readonly without?: readonly string[] | undefined
  } = {},
): Promise<Exchange> {
  await createParents(world, known, 0)
  const body: Body = { from: 'example', with: how.with ?? {}, without: how.without ?? [] }
  const request: Request = {
    method: 'POST',
    to: collectionAddress,
    body,
    ...(how.caller ? { caller: how.caller } : {}),
  }
  const exchange = await ask(world, known, { kind: 'ask', as, request, given: true })
  known.made.set(as, { ...recordMade(world, known, exchange), by: how.caller })
  return exchange
}

const deepest = 4

async function createParents(
  world: World,
  known: CaseState & { readonly made: Map<string, CreatedRecord> },
  depth: number,
): Promise<void> {
  for (const name of new Set(Object.values(known.collection.references))) {
    const key = `parent ${name}`
    const collection = world.profile.collections.find((each) => each.name === name)
    if (known.made.has(key) || collection === undefined || depth === deepest) continue
    const made = new Map<string, CreatedRecord>()
    const above = { ...known, collection, made }
    if (collection.operations.includes('create') && collection.example !== undefined) {
      await createParents(world, above, depth + 1)
      await create(world, above, key)
    } else {
      await findOne(world, above, key)
    }
    for (const [each, record] of made) known.made.set(each, record)
  }
}

/** Where none can be made, one that is there has to do. It is not touched. */
async function findOne(
  world: World,
  known: CaseState & { readonly made: Map<string, CreatedRecord> },
  as: string,
): Promise<void> {
  const exchange = await ask(world, known, {
    kind: 'ask',
    as,
    request: { method: 'GET', to: collectionAddress },
    given: true,
  })
  const items = exchange.answer && valueAt(jsonOf(exchange.answer), world.profile.names.items)
  const id = Array.isArray(items) ? items[0]?.[known.collection.id] : undefined
  if (id === undefined)
    throw new NotSetUp(`there is none of ${known.collection.name} to refer to, and none can be made`)
  const path = `${fill(collectionAddress, known)}/${encodeURIComponent(String(id))}`
  known.made.set(as, { id: String(id), path, isExisting: true })
}

/** Notes a record that an answer says was made. */
export function recordMade(world: World, known: CaseState, exchange: Exchange): CreatedRecord {
  const { answer } = exchange
  if (answer === undefined) throw new NotSetUp(`POST of one of ${known.collection.name}: ${exchange.failure}`)
  if (answer.status >= 300) throw new NotSetUp(`POST of one of ${known.collection.name} was answered ${saidOf(answer)}`)
  const made = madeOf(world, known, exchange)
  if (made === undefined) {
    throw new NotSetUp(`POST of one of ${known.collection.name} told neither its identifier nor its Location`)
  }
  if (world.ledger.foreign.has(made.path)) {
    throw new NotSetUp(`POST of one of ${known.collection.name} was answered with a record that existed before`)
  }
  world.ledger.remains.add(made.path)
  world.ledger.created++
  return made
}

/** The record that an answer says was made, where it says so. */
export function madeOf({ profile }: World, known: CaseState, { answer, asked }: Exchange): CreatedRecord | undefined {
  if (answer === undefined || answer.status >= 300) return undefined
  const location = fieldOf(answer, 'Location')
  const body = jsonOf(answer)
  const held =
    valueAt(body, `/${known.collection.id}`) ?? valueAt(body, `${profile.names.items}/${known.collection.id}`)
  if (held === undefined && location === undefined) return undefined
  const found = location === undefined ? undefined : new URL(location, asked.url)
  const id = held === undefined ? decodeURIComponent(found?.pathname.split('/').at(-1) ?? '') : String(held)
  // What has no address of its own is never asked for by one: it would be the collection's.
  if (/^\.{0,2}$/.test(id)) return undefined
  // A Location elsewhere is judged by a case of its own; what was made is looked for where it belongs.
  const mark = known.collection.marker === undefined ? undefined : known.mark
  return { id, path: `${fill(collectionAddress, known)}/${encodeURIComponent(id)}`, mark }
}

/** A status, and what the answer says about it. */
export function saidOf({ status, body }: Answer): string {
  const text = body.replaceAll(/\s+/g, ' ').trim()
  return text === '' ? String(status) : `${status}: ${text.length > 300 ? `${text.slice(0, 300)} …` : text}`
}
