/** Runs one case: its steps in turn, then what they have shown is judged. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ask, Body, Caller, Case, Finding, Named, Seen, Step } from '../case/case.ts'
import type { CaseState, CreatedRecord } from '../case/case-state.ts'
import { isPart } from '../case/expect-list.ts'
import { nestedPath } from '../case/family.ts'
import { fill, fillAll } from '../case/fill.ts'
import { NotApplicable, NotSetUp } from '../case/not-judged.ts'
import { base, collection as collectionAddress, credentialFields, Reference } from '../case/references.ts'
import { keyOf } from '../client/credentials.ts'
import { type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { type CollectionProfile, urlOf } from '../profile/profile.ts'
import { type JsonObject, valueAt } from '../values/json.ts'
import { removeAll, removeExports } from './cleanup.ts'
import { ask, create, madeOf, saidOf, textOf, type World } from './context.ts'

/** What a case has shown. */
export type Shown =
  | { readonly kind: 'judged'; readonly findings: readonly Finding[]; readonly exchanges: readonly Exchange[] }
  | { readonly kind: 'not set up' | 'not applicable'; readonly why: string }

type Running = Omit<CaseState, 'exchanges' | 'made'> & {
  readonly made: Map<string, CreatedRecord>
  readonly exchanges: Map<string, Exchange[]>
}

/** The most seconds that a case waits because a server says so. */
const longestPause = 15

/** How many requests at once are to be too many. */
const several = 10

/** Runs a case on a collection, and removes what it has made. */
export async function runCase(
  world: World,
  { steps, expect }: Case,
  collection: CollectionProfile,
  mark: string,
  signal?: AbortSignal,
): Promise<Shown> {
  const key = keyOf(world.credentials.caller)
  const known: Running = { profile: world.profile, collection, mark, key, made: new Map(), exchanges: new Map() }
  try {
    for (const step of steps) {
      if (signal?.aborted) return { kind: 'not set up', why: 'the run was stopped' }
      await take(world, known, step)
    }
    const findings = expect.flatMap(({ judge }) => judge(seenOf(known)) ?? [])
    return { kind: 'judged', findings, exchanges: [...known.exchanges.values()].flat() }
  } catch (error) {
    if (error instanceof NotSetUp) return { kind: 'not set up', why: error.message }
    if (error instanceof NotApplicable) return { kind: 'not applicable', why: error.message }
    // A judgement that stumbles over what it has never seen must not end the whole run.
    return { kind: 'not set up', why: `the checker could not go on: ${(error as Error).message}` }
  } finally {
    const exchanges = [...known.exchanges.values()].flat()
    const hasDeleted = exchanges.some(({ asked }) => isDeletion(asked))
    await removeAll(world, [...known.made.values()].reverse(), hasDeleted)
    await removeExports(world, exchanges)
  }
}

function isDeletion({ method, url }: Exchange['asked']): boolean {
  return method === 'DELETE' || url.endsWith('/bulk-delete')
}

function seenOf(known: Running): Seen {
  const { profile, collection, exchanges, made } = known
  const all = ({ name }: Named) => exchanges.get(name) ?? []
  return {
    profile,
    collection,
    fill: (text) => fill(text, known),
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

async function take(world: World, known: Running, step: Step): Promise<void> {
  switch (step.kind) {
    case 'ask': {
      const exchange = await ask(world, known, step)
      note(known, exchange)
      if (step.given) checkGiven(exchange)
      // What a request under test has made must not stay either.
      if (isCreation(exchange, known)) keep(world, known, step.as, exchange, step.request.caller)
      return
    }
    case 'create': {
      for (let turn = 0; turn < (step.count ?? 1); turn++) {
        const name = step.count === undefined ? step.as : `${step.as}.${turn}`
        const given = fillAll(step.with ?? {}, { ...known, mark: known.mark }) as JsonObject
        const { caller, without } = step
        note(known, await create(world, known, name, { with: given, without, ...(caller ? { caller } : {}) }))
      }
      return
    }
    case 'outgrow':
      return outgrow(world, known, step)
    case 'each': {
      const listed = world.profile.collections.filter(({ operations }) => operations.includes('list'))
      const exchanges = await Promise.all(listed.map((collection) => ask(world, { ...known, collection }, step.ask)))
      for (const exchange of exchanges) note(known, exchange)
      return
    }
    case 'together': {
      const asks = step.asks.flatMap((each) => repeated(each, known))
      const exchanges = await Promise.all(asks.map((each) => ask(world, known, each, true)))
      for (const [index, exchange] of exchanges.entries()) {
        note(known, exchange)
        const { request } = asks[index] as Ask
        if (isCreation(exchange, known)) keep(world, known, `${exchange.step}.${index}`, exchange, request.caller)
      }
      for (const [index, each] of asks.entries()) if (each.given) checkGiven(exchanges[index] as Exchange)
      return
    }
    case 'walk':
      return walk(world, known, step)
    case 'poll':
      return poll(world, known, step)
    case 'settle':
      return settle(world, known, step)
    case 'wait':
      return sleep(step.milliseconds === 'grace' ? millisecondsOfGrace(known) : step.milliseconds)
    case 'only':
      if (step.test(seenOf(known))) return
      throw step.otherwise === 'not set up' ? new NotSetUp(step.why) : new NotApplicable(step.why)
    case 'pause': {
      const seconds = Number(fill(new Reference(step.after).field('Retry-After'), known))
      if (!(seconds <= longestPause)) throw new NotSetUp(`a pause of ${seconds} seconds would be too long`)
      return sleep(seconds * 1_000)
    }
    case 'exhaust': {
      const { as, request, until } = step
      const one: Ask = { kind: 'ask', as, request: { ...request, impatient: true }, given: false }
      const most = 4 * (world.profile.attempts ?? 0)
      for (let count = 0; count < most; count += several) {
        const exchanges = await Promise.all(Array.from({ length: several }, () => ask(world, known, one)))
        const found = exchanges.find(({ answer }) => answer?.status === until)
        // All that were answered otherwise are alike.
        known.exchanges.set(as, [found ?? (exchanges[0] as Exchange)])
        if (found !== undefined) return
      }
      return
    }
    case 'bytes': {
      const { as, bytes, seconds = 5, plain = false } = step
      const address = urlOf(world.profile, fill(`${base}/`, known))
      const url = plain ? withoutTls(address) : address
      const credential = world.credentials.caller.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      const parts = bytes.split(credentialFields).map((part) => fill(part, known))
      for (const exchange of await world.client.bytes(as, url, parts.join(credential), seconds)) {
        note(known, exchange)
        if (isCreation(exchange, known)) keep(world, known, as, exchange)
      }
    }
  }
}

/** A request as often as it is to be sent. */
function repeated(one: Ask, known: Running): Ask[] {
  const { request, times = 1 } = one
  if (times === 1) return [one]
  const body: Body | undefined = request.body && { text: textOf(request.body, known) }
  return Array.from({ length: times }, () => ({ ...one, request: body === undefined ? request : { ...request, body } }))
}

function note({ exchanges }: Running, exchange: Exchange): void {
  const known = exchanges.get(exchange.step)
  if (known === undefined) exchanges.set(exchange.step, [exchange])
  else known.push(exchange)
}

/** The same host and port. */
function withoutTls(address: string): string {
  const { hostname, port } = new URL(address)
  return `http://${hostname}:${port || 443}/`
}

/** Whether a request may have made a record: by POST to the collection, at the top level or below a record, or by PUT where none was. */
function isCreation({ asked: { method, url }, answer }: Exchange, known: Running): boolean {
  if (!URL.canParse(url)) return false
  const path = new URL(url).pathname.replace(/\/+$/, '')
  const collection = fill(collectionAddress, known)
  const isThere = [...known.made.values()].some((made) => made.path === path)
  if (method === 'PUT') return (answer?.status ?? 500) < 300 && path.startsWith(`${collection}/`) && !isThere
  return method === 'POST' && (path === collection || path === nestedPath(known))
}

/** What a PUT has made is where it was sent. */
function madeAt({ asked }: Exchange): CreatedRecord {
  const path = new URL(asked.url).pathname
  return { id: decodeURIComponent(path.slice(path.lastIndexOf('/') + 1)), path }
}

function keep(world: World, known: Running, as: string, exchange: Exchange, by?: Caller): void {
  const made = exchange.asked.method === 'PUT' ? madeAt(exchange) : madeOf(world, known, exchange)
  if (made === undefined || world.ledger.foreign.has(made.path)) return
  // Several of one name are all to be removed.
  known.made.set(known.made.has(as) ? `${as}.${known.made.size}` : as, { ...made, by: by === 'other' ? by : undefined })
  world.ledger.remains.add(made.path)
  world.ledger.created++
}

function checkGiven({ asked, answer, failure }: Exchange): void {
  const what = `${asked.method} ${new URL(asked.url).pathname}`
  if (answer === undefined) throw new NotSetUp(`${what}: ${failure}`)
  if (answer.status >= 400) throw new NotSetUp(`${what} was answered ${saidOf(answer)}`)
}

// So many at once: the client says how many are on their way.
const handful = 21

async function outgrow(world: World, known: Running, { as, most }: Extract<Step, { kind: 'outgrow' }>): Promise<void> {
  for (let made = 0; ; ) {
    const request = { method: 'GET', to: collectionAddress }
    const exchange = await ask(world, known, { kind: 'ask', as, request, given: true })
    note(known, exchange)
    checkGiven(exchange)
    const seen = seenOf(known)
    if (made >= most || isPart(exchange.answer, seen, seen.ids({ name: as }))) return
    // What it refers to is made with the first.
    if (made === 0) await create(world, known, `${as}.${made++}`)
    await Promise.all(Array.from({ length: handful - 1 }, () => create(world, known, `${as}.${made++}`)))
  }
}

async function walk(world: World, known: Running, step: Extract<Step, { kind: 'walk' }>): Promise<void> {
  const { as, from, most, between = [] } = step
  let to = fill(from, known)
  for (let page = 0; page < most; page++) {
    const exchange = await ask(world, known, { kind: 'ask', as, request: { method: 'GET', to }, given: true })
    note(known, exchange)
    // Where a cursor leads is what is looked at.
    if (page === 0) checkGiven(exchange)
    const cursor = exchange.answer && valueAt(jsonOf(exchange.answer), world.profile.names.next)
    if (typeof cursor !== 'string' || cursor === '') return
    const next = new URL(urlOf(world.profile, to))
    next.searchParams.set('cursor', cursor)
    to = next.pathname + next.search
    if (page === 0) for (const each of between) await take(world, known, each)
  }
}

async function poll(world: World, known: Running, step: Extract<Step, { kind: 'poll' }>): Promise<void> {
  const { finished } = world.profile.names
  const until = performance.now() + step.seconds * 1_000
  for (let turn = 0; performance.now() < until; turn++) {
    const request = { method: 'GET', to: step.at }
    const exchange = await ask(world, known, { kind: 'ask', as: step.as, request, given: true })
    note(known, exchange)
    checkGiven(exchange)
    const status = exchange.answer && valueAt(jsonOf(exchange.answer), '/status')
    if (finished.includes(String(status))) return
    const seconds = Number((exchange.answer && fieldOf(exchange.answer, 'Retry-After')) ?? 1) || 1
    // What is quickly over is not waited for as long as what takes its time.
    await sleep(Math.min(5_000, Math.max(100, seconds * 1_000), 100 * 2 ** turn))
  }
}

/** Waits for the end of what a step's answer says was only accepted. */
async function settle(world: World, known: Running, step: Extract<Step, { kind: 'settle' }>): Promise<void> {
  for (const { answer, asked } of [...(known.exchanges.get(step.of) ?? [])]) {
    if (answer?.status !== 202) continue
    const address = valueAt(jsonOf(answer), '/status_url') ?? fieldOf(answer, 'Location')
    if (typeof address !== 'string') throw new NotSetUp(`${asked.method} was answered 202 without the address of a job`)
    const { pathname, search, origin } = new URL(address, asked.url)
    // A credential is not taken elsewhere.
    if (origin !== new URL(world.profile.base).origin)
      throw new NotSetUp(`the address of the job is elsewhere: ${origin}`)
    await poll(world, known, { kind: 'poll', as: step.as, at: pathname + search, seconds: step.seconds })
  }
}

/** Servers look at their clocks now and then: a little longer than the period itself. */
function millisecondsOfGrace({ collection }: Running): number {
  return (collection.grace ?? 0) * 1_000 + 400
}
