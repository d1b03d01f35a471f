/** Runs one case on a collection: takes its steps, judges the exchanges, and removes what it created. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Ask,
  type Body,
  type Case,
  type Finding,
  NotApplicable,
  NotSetUp,
  type Observations,
  type Step,
} from '../case/case.ts'
import { isPart } from '../case/expect-list.ts'
import { fill, fillAll } from '../case/fill.ts'
import { base, collection as collectionAddress, credentialFields, Reference } from '../case/references.ts'
import { keyOf } from '../client/credentials.ts'
import { type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { type CollectionProfile, urlOf } from '../profile/profile.ts'
import { type JsonObject, valueAt } from '../values/json.ts'
import { removeExports, removeRecords } from './cleanup.ts'
import { bodyText, type CaseRun, type RunContext, send } from './context.ts'
import { createRecord, noteCreated, statusText } from './create-record.ts'

/** What a case has shown. */
export type Outcome =
  | { readonly kind: 'judged'; readonly findings: readonly Finding[]; readonly exchanges: readonly Exchange[] }
  | { readonly kind: 'not set up' | 'not applicable'; readonly why: string }

/** A step of one kind. */
type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

/**
 * Runs a case on a collection.
 *
 * @param mark text by which the checker recognizes the records of this case
 */
export async function runCase(
  { steps, expect }: Case,
  run: RunContext & { readonly collection: CollectionProfile },
  mark: string,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const key = keyOf(run.credentials.caller)
  const state: CaseRun = { ...run, mark, key, made: new Map(), exchanges: new Map() }
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
  }
}

function seenOf(run: CaseRun): Observations {
  const { profile, collection, exchanges, made } = run
  const all: Observations['all'] = ({ name }) => exchanges.get(name) ?? []
  return {
    profile,
    collection,
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
  const body: Body | undefined = request.body && { text: bodyText(request.body, run) }
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
  let to = fill(from, run)
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
    next.searchParams.set('cursor', cursor)
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
