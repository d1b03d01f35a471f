/**
 * Runs one case on a collection: takes its steps, creates records with those to which they refer, judges the exchanges,
 * and removes what it created.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Ask,
  type Body,
  type Caller,
  type Case,
  type CreatedRecord,
  type Finding,
  NotApplicable,
  NotSetUp,
  type Observations,
  type Step,
} from '../case/case.ts'
import { itemsOf } from '../case/expect.ts'
import { isPart } from '../case/expect-list.ts'
import { fill, fillAll, nestedPath } from '../case/fill.ts'
import { referredCollections } from '../case/members.ts'
import { base, collection as collectionAddress, credentialFields, Reference } from '../case/references.ts'
import { keyOf } from '../client/credentials.ts'
import { type Answer, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { type CollectionProfile, profileFor, urlOf } from '../profile/profile.ts'
import { inQueryStyle, parameterOf } from '../profile/query-style.ts'
import { type JsonObject, valueAt } from '../values/json.ts'
import { randomText } from '../values/random.ts'
import { removeExports, removeRecords, removeWebhooks } from './cleanup.ts'
import { bodyText, type CaseRun, type RunContext, send } from './context.ts'
import { takeStreams } from './take-stream.ts'

export type Outcome =
  | { readonly kind: 'judged'; readonly findings: readonly Finding[]; readonly exchanges: readonly Exchange[] }
  | { readonly kind: 'not set up' | 'not applicable'; readonly why: string }

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

/** A text by which the checker recognizes the records of one case. */
export function newMark(): string {
  return `checked-${randomText()}`
}

/**
 * Runs a case on a collection.
 *
 * @param mark text by which the checker recognizes the records of this case
 */
export async function runCase(
  { steps, expect }: Pick<Case, 'steps' | 'expect'>,
  run: RunContext & { readonly collection: CollectionProfile },
  mark: string,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const key = keyOf(run.credentials.caller)
  const profile = profileFor(run.profile, run.collection)
  const state: CaseRun = { ...run, profile, mark, key, made: new Map(), exchanges: new Map() }
  try {
    for (const step of steps) {
      if (signal?.aborted) return { kind: 'not set up', why: 'the run was stopped' }
      await take(state, step)
    }
    const seen = seenOf(state)
    const findings = expect.flatMap((judge) => judge(seen) ?? [])
    return { kind: 'judged', findings, exchanges: [...state.exchanges.values()].flat() }
  } catch (error) {
    if (error instanceof NotSetUp) return { kind: 'not set up', why: error.message }
    if (error instanceof NotApplicable) return { kind: 'not applicable', why: error.message }
    // A judgement that fails on an unexpected response must not end the whole run.
    return { kind: 'not set up', why: `the checker could not go on: ${(error as Error).message}` }
  } finally {
    const exchanges = [...state.exchanges.values()].flat()
    const hasDeleted = exchanges.some(
      ({ asked: { method, url } }) => method === 'DELETE' || url.endsWith('/bulk-delete'),
    )
    await removeRecords(run, [...state.made.values()].reverse(), hasDeleted)
    await removeExports(run, exchanges)
    await removeWebhooks(run, exchanges)
  }
}

function seenOf(run: CaseRun): Observations {
  const { profile, collection, exchanges, made } = run
  const all: Observations['all'] = ({ name }) => exchanges.get(name) ?? []
  return {
    profile,
    collection,
    earlier: run.ledger.kept,
    fill: (text) => fill(text, run),
    all,
    ids: (step) =>
      [...made].filter(([name]) => name === step.name || name.startsWith(`${step.name}.`)).map(([, { id }]) => id),
    of(step) {
      const exchange = all(step).at(-1)
      if (exchange === undefined) throw new NotSetUp(`the step ${step.name} was not taken`)
      return exchange
    },
  }
}

async function take(run: CaseRun, step: Step): Promise<void> {
  switch (step.kind) {
    case 'ask':
      await takeRequest(run, step)
      return
    case 'create':
      return create(run, step)
    case 'outgrow':
      return outgrow(run, step)
    case 'each': {
      const listed = run.profile.collections.filter(({ operations }) => operations.includes('list'))
      const exchanges = await Promise.all(listed.map((collection) => send({ ...run, collection }, step.ask)))
      for (const exchange of exchanges) noteExchange(run, exchange)
      return
    }
    case 'together':
      return sendTogether(run, step)
    case 'walk':
      return walk(run, step)
    case 'eventually':
      return repeat(run, step)
    case 'stream': {
      const between = async () => {
        for (const each of step.between) await take(run, each)
      }
      for (const exchange of await takeStreams(run, step, seenOf(run), between)) noteExchange(run, exchange)
      return
    }
    case 'poll':
      return poll(run, step)
    case 'settle':
      return settle(run, step)
    case 'wait':
      // Servers purge now and then: a little later than the grace period ends.
      return sleep(step.milliseconds === 'grace' ? (run.collection.grace ?? 0) * 1_000 + 400 : step.milliseconds)
    case 'require':
      if (step.test(seenOf(run))) return
      throw step.otherwise === 'not set up' ? new NotSetUp(step.why) : new NotApplicable(step.why)
    case 'pause': {
      const seconds = Number(fill(new Reference(step.after).field('Retry-After'), run))
      if (!(seconds <= longestPause)) throw new NotSetUp(`a pause of ${seconds} seconds would be too long`)
      return sleep(seconds * 1_000)
    }
    case 'exhaust':
      return exhaust(run, step)
    case 'bytes':
      return sendBytes(run, step)
  }
}

/** The longest pause for which a case waits if the server wants one, in seconds. */
const longestPause = 15

function noteExchange({ exchanges }: CaseRun, exchange: Exchange): void {
  exchanges.set(exchange.step, [...(exchanges.get(exchange.step) ?? []), exchange])
}

async function takeRequest(run: CaseRun, step: Ask): Promise<Exchange> {
  const exchange = await send(run, step)
  noteExchange(run, exchange)
  if (step.isPreparation) checkPreparation(exchange)
  // Requests that are judged may create records, too.
  noteCreated(run, step.as, exchange, step.request.caller)
  return exchange
}

/** How long a repeated request pauses, in milliseconds. */
const pauseOfRepetition = 100

/** Repeats a request until what it shows is right. Only the last exchange is judged. */
async function repeat(run: CaseRun, { ask, until, seconds }: StepOf<'eventually'>): Promise<void> {
  for (const end = performance.now() + seconds * 1_000; ; ) {
    run.exchanges.delete(ask.as)
    await takeRequest(run, ask)
    if (until(seenOf(run)) || performance.now() > end) return
    await sleep(pauseOfRepetition)
  }
}

/** Reads an address for a step that needs its response. */
function read(run: CaseRun, as: string, to: string): Promise<Exchange> {
  return takeRequest(run, { kind: 'ask', as, request: { method: 'GET', to }, isPreparation: true })
}

function checkPreparation({ asked, answer, failure }: Exchange): void {
  const what = `${asked.method} ${new URL(asked.url).pathname}`
  if (answer === undefined) throw new NotSetUp(`${what}: ${failure}`)
  if (answer.status >= 400) throw new NotSetUp(`${what} was answered ${statusText(answer)}`)
}

async function create(run: CaseRun, { as, count, caller, without, ...step }: StepOf<'create'>): Promise<void> {
  for (let turn = 0; turn < (count ?? 1); turn++) {
    const members = fillAll(step.with ?? {}, run) as JsonObject
    const name = count === undefined ? as : `${as}.${turn}`
    noteExchange(run, await createRecord(run, name, { with: members, without, caller }))
  }
}

async function sendTogether(run: CaseRun, step: StepOf<'together'>): Promise<void> {
  const asks = step.asks.flatMap((each) => repeated(each, run))
  const exchanges = await Promise.all(asks.map((each) => send(run, each, true)))
  for (const [index, exchange] of exchanges.entries()) {
    noteExchange(run, exchange)
    noteCreated(run, `${exchange.step}.${index}`, exchange, asks[index]?.request.caller)
  }
  for (const [index, exchange] of exchanges.entries()) if (asks[index]?.isPreparation) checkPreparation(exchange)
}

/** A request as often as it is to be sent, with the same body each time. */
function repeated(one: Ask, run: CaseRun): Ask[] {
  const { request, times = 1 } = one
  if (times === 1) return [one]
  const body: Body | undefined = request.body && { text: bodyText(request.body, run, request.to) }
  return Array.from({ length: times }, () => ({ ...one, request: body === undefined ? request : { ...request, body } }))
}

/** The number of records that are created at once; the client limits how many requests are under way. */
const batch = 20

/** Creates records until the list of the collection does not hold them all. */
async function outgrow(run: CaseRun, { as, most }: StepOf<'outgrow'>): Promise<void> {
  for (let count = 0; ; ) {
    const { answer } = await read(run, as, collectionAddress)
    const seen = seenOf(run)
    if (count >= most || isPart(answer, seen, seen.ids({ name: as }))) return
    // The first one creates the records to which all refer.
    if (count === 0) await createRecord(run, `${as}.${count++}`)
    await Promise.all(Array.from({ length: batch }, () => createRecord(run, `${as}.${count++}`)))
  }
}

/** Reads a list page by page. Takes other steps after the first page. */
async function walk(run: CaseRun, { as, from, most, between = [] }: StepOf<'walk'>): Promise<void> {
  let to = fill(inQueryStyle(from, run.collection), run)
  for (let page = 0; page < most; page++) {
    // The case judges what a cursor leads to, also if it is an error.
    const { answer } = await takeRequest(run, {
      kind: 'ask',
      as,
      request: { method: 'GET', to },
      isPreparation: page === 0,
    })
    const cursor = answer && valueAt(jsonOf(answer), run.profile.names.next)
    if (typeof cursor !== 'string' || cursor === '') return
    const next = new URL(urlOf(run.profile, to))
    next.searchParams.set(parameterOf(run.collection, 'cursor'), cursor)
    to = next.pathname + next.search
    if (page === 0) for (const each of between) await take(run, each)
  }
}

/** Reads the status of a job until it has ended. */
async function poll(run: CaseRun, { as, at, seconds }: Omit<StepOf<'poll'>, 'kind'>): Promise<void> {
  const until = performance.now() + seconds * 1_000
  for (let turn = 0; performance.now() < until; turn++) {
    const { answer } = await read(run, as, at)
    if (answer === undefined || run.profile.names.finished.includes(String(valueAt(jsonOf(answer), '/status')))) return
    const wanted = Number(fieldOf(answer, 'Retry-After') ?? 1) || 1
    // The first pauses are short, because many jobs end quickly.
    await sleep(Math.min(5_000, Math.max(100, wanted * 1_000), 100 * 2 ** turn))
  }
}

/** Waits for the jobs of a step's responses with the status 202. */
async function settle(run: CaseRun, { as, of, seconds }: StepOf<'settle'>): Promise<void> {
  for (const { answer, asked } of [...(run.exchanges.get(of) ?? [])]) {
    if (answer?.status !== 202) continue
    const address = valueAt(jsonOf(answer), '/status_url') ?? fieldOf(answer, 'Location')
    if (typeof address !== 'string') throw new NotSetUp(`${asked.method} was answered 202 without the address of a job`)
    const { pathname, search, origin } = new URL(address, asked.url)
    // Credentials are sent to no other server.
    if (origin !== new URL(run.profile.base).origin) {
      throw new NotSetUp(`the address of the job is on another server: ${origin}`)
    }
    await poll(run, { as, at: pathname + search, seconds })
  }
}

/** The number of requests that are sent at once to exceed a limit. */
const burst = 10

/** Sends a request again and again until the server answers with a status. */
async function exhaust(run: CaseRun, { as, request, until }: StepOf<'exhaust'>): Promise<void> {
  const one: Ask = { kind: 'ask', as, request: { ...request, noRetry: true }, isPreparation: false }
  const most = 4 * (run.profile.attempts ?? 0)
  for (let count = 0; count < most; count += burst) {
    const exchanges = await Promise.all(Array.from({ length: burst }, () => send(run, one)))
    const found = exchanges.find(({ answer }) => answer?.status === until)
    run.exchanges.set(as, [found ?? (exchanges[0] as Exchange)])
    if (found !== undefined) return
  }
}

async function sendBytes(run: CaseRun, { as, bytes, seconds = 5, plain = false }: StepOf<'bytes'>): Promise<void> {
  const address = urlOf(run.profile, fill(`${base}/`, run))
  const { hostname, port } = new URL(address)
  const url = plain ? `http://${hostname}:${port || 443}/` : address
  const credential = run.credentials.caller.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const parts = bytes.split(credentialFields).map((part) => fill(part, run))
  for (const exchange of await run.client.bytes(as, url, parts.join(credential), seconds)) {
    noteExchange(run, exchange)
    noteCreated(run, as, exchange)
  }
}

interface Creation {
  readonly caller?: Caller | undefined
  readonly with?: JsonObject | undefined
  readonly without?: readonly string[] | undefined
}

/**
 * Creates a record of the case's collection.
 *
 * @throws NotSetUp if the server creates none
 */
export async function createRecord(run: CaseRun, as: string, creation: Creation = {}): Promise<Exchange> {
  await createParents(run, 0)
  const { caller, with: members = {}, without = [] } = creation
  const body = { from: 'example', with: members, without } as const
  const request = { method: 'POST', to: collectionAddress, body, ...(caller && { caller }) }
  const exchange = await send(run, { kind: 'ask', as, request, isPreparation: true })
  const what = `POST of a record of ${run.collection.name}`
  if (exchange.answer === undefined) throw new NotSetUp(`${what}: ${exchange.failure}`)
  if (exchange.answer.status >= 300) throw new NotSetUp(`${what} was answered ${statusText(exchange.answer)}`)
  const record = recordIn(run, exchange)
  if (record === undefined) throw new NotSetUp(`${what} returned neither its identifier nor its Location`)
  if (!run.ledger.add(record.path)) throw new NotSetUp(`${what} returned a record that existed before`)
  run.made.set(as, { ...record, by: caller })
  return exchange
}

const deepest = 4

/** Creates the records to which those of the collection refer. */
async function createParents(run: CaseRun, depth: number): Promise<void> {
  for (const name of referredCollections(run.collection)) {
    const key = `parent ${name}`
    const collection = run.profile.collections.find((each) => each.name === name)
    if (run.made.has(key) || collection === undefined || depth === deepest) continue
    const profile = profileFor(run.profile, collection)
    const parents: CaseRun = { ...run, profile, collection, made: new Map() }
    if (collection.operations.includes('create') && collection.example !== undefined) {
      await createParents(parents, depth + 1)
      noteExchange(run, await createRecord(parents, key))
    } else {
      parents.made.set(key, await existingRecord(parents, key))
    }
    for (const [each, record] of parents.made) run.made.set(each, record)
  }
}

/** An existing record to refer to, if none can be created. */
async function existingRecord(run: CaseRun, as: string): Promise<CreatedRecord> {
  const request = { method: 'GET', to: collectionAddress }
  const { answer } = await send(run, { kind: 'ask', as, request, isPreparation: true })
  const id = itemsOf(answer, run)?.[0]?.[run.collection.id]
  if (id === undefined) {
    throw new NotSetUp(`there is no record of ${run.collection.name} to refer to, and none can be created`)
  }
  const path = `${fill(collectionAddress, run)}/${encodeURIComponent(String(id))}`
  return { id: String(id), path, isExisting: true }
}

/** Notes the record that a request of a case created, if it created one: the checker deletes it after the case. */
function noteCreated(run: CaseRun, as: string, exchange: Exchange, caller?: Caller): void {
  const record = mayHaveCreated(run, exchange) ? recordIn(run, exchange) : undefined
  if (record === undefined || !run.ledger.add(record.path)) return
  // Several records may have one name.
  const name = run.made.has(as) ? `${as}.${run.made.size}` : as
  run.made.set(name, { ...record, by: caller === 'other' ? caller : undefined })
}

/**
 * Whether a request may have created a record: POST to the collection, there or below a record, or PUT where none was.
 */
function mayHaveCreated(run: CaseRun, { asked: { method, url }, answer }: Exchange): boolean {
  if (!URL.canParse(url)) return false
  const path = new URL(url).pathname.replace(/\/+$/, '')
  const collection = fill(collectionAddress, run)
  if (method === 'POST') return path === collection || path === nestedPath(run)
  const exists = [...run.made.values()].some((made) => made.path === path)
  return method === 'PUT' && (answer?.status ?? 500) < 300 && path.startsWith(`${collection}/`) && !exists
}

/** The record that a successful response names; `undefined` if it names none. */
function recordIn(run: CaseRun, { answer, asked }: Exchange): CreatedRecord | undefined {
  const { profile, collection, mark } = run
  if (answer === undefined || answer.status >= 300) return undefined
  if (asked.method === 'PUT') {
    const path = new URL(asked.url).pathname.replace(/\/+$/, '')
    return { path, id: lastSegment(path) }
  }
  const body = jsonOf(answer)
  const named = valueAt(body, `/${collection.id}`) ?? valueAt(body, `${profile.names.items}/${collection.id}`)
  const location = fieldOf(answer, 'Location')
  if (named === undefined && location === undefined) return undefined
  const id = named === undefined ? lastSegment(new URL(location ?? '', asked.url).pathname) : String(named)
  // Such an identifier would make the record's path the one of its collection.
  if (/^\.{0,2}$/.test(id)) return undefined
  // A case of its own judges the Location. The path is where the record should be.
  const path = `${fill(collectionAddress, run)}/${encodeURIComponent(id)}`
  return { id, path, mark: collection.marker === undefined ? undefined : mark }
}

function lastSegment(path: string): string {
  return decodeURIComponent(path.replace(/\/+$/, '').split('/').at(-1) ?? '')
}

/** A status, and the beginning of the response body. */
export function statusText({ status, body }: Answer): string {
  const text = body.replaceAll(/\s+/g, ' ').trim()
  return text === '' ? String(status) : `${status}: ${text.length > 300 ? `${text.slice(0, 300)} …` : text}`
}
