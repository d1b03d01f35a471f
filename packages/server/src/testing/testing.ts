/**
 * The entry point `resourced/testing`: an application in memory, for the tests of those who build on it. Its clock
 * stands still until the test moves it, its requests need no socket, and its records are created past access rules,
 * with the checks of a POST.
 */

import type { Client, InterfaceTypes, TypesOf, UntypedInterface } from 'resourced-client'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { suggest } from 'resourced-contract/model/nearest'
import { always } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { isRecordId } from 'resourced-contract/model/text'
import { momentOf, parseDuration, timestamp } from 'resourced-contract/model/time'
import { type Fault, sentenceOf } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { Create } from '../plan/plan.ts'
import { hashOfKey, hintOfKey, newKey } from '../policy/api-keys.ts'
import { type CallerInput, readCaller } from '../policy/own-credentials.ts'
import { clientAs } from '../server/client-as.ts'
import { type App, type AppOptions, prepareApp } from '../server/create-app.ts'
import { toFetchHandler } from '../server/fetch/fetch.ts'
import { createNodeServer, type NodeServer } from '../server/node/listener.ts'
import type { ServedDatabase } from '../server/open-served-database.ts'
import type { RateOptions } from '../server/rates/rate-limiter.ts'
import type { Storage } from '../storage/storage.ts'

export { ProblemError } from 'resourced-client'
export type { CallerInput }

/** How an application under test runs. Options of databases and of Redis do not exist here. */
export interface TestAppOptions
  extends Pick<AppOptions, 'authenticate' | 'basePath' | 'console' | 'corsCredentials' | 'corsOrigins' | 'development'>,
    Pick<AppOptions, 'jwt' | 'log' | 'metrics' | 'observe' | 'requireHttps'>,
    Pick<RateOptions, 'rateLimit'> {
  /** The first time of the clock; the system's time by default. */
  readonly now?: Moment
  /** `declared`: the limits of the declaration; `off` by default. */
  readonly rateLimit?: RateOptions['rateLimit']
}

/** The types of a declaration; of one that carries none, collections of JSON objects. */
type Collections<Declaration> = [TypesOf<Declaration>] extends [InterfaceTypes]
  ? keyof TypesOf<Declaration> extends never
    ? UntypedInterface
    : TypesOf<Declaration>
  : UntypedInterface

type Collection<Declaration> = keyof Collections<Declaration> & string

type RecordOf<Declaration, Name extends Collection<Declaration>> = Collections<Declaration>[Name]['record']

/** Options of `seed`. */
interface SeedOptions {
  /** The owner of records without an owner field. */
  readonly as?: CallerInput
}

/** What a POST has, and an id or an owner as well. */
type Seed<Declaration, Name extends Collection<Declaration>> = Collections<Declaration>[Name]['create'] &
  Partial<RecordOf<Declaration, Name>>

/** An application in memory. `toNodeHandler` and `toFetchHandler` take it like any other one. */
export interface TestApp<Declaration = InterfaceDeclaration> extends Omit<App, 'as' | 'ready'>, AsyncDisposable {
  /** The clock of the application: it stands still until the test moves it. */
  readonly clock: TestClock
  /**
   * Makes a client of a caller. Access rules, validation and business rules apply to it.
   *
   * @throws TypeError if this is no caller
   * @example
   * const ann = app.as({ id: 'ann', roles: ['editor'] })
   * const task = await ann.tasks.create({ title: 'Write a test' })
   */
  as(caller: CallerInput): Client<Collections<Declaration>>
  /**
   * Sends a request without a socket, to look at its status, header fields and body.
   *
   * @param path with the version and the query: `/v1/tasks?status=open`
   * @example
   * const { status, headers } = await app.request('/v1/tasks', { as: ann, body: { title: 'Write a test' } })
   */
  request(path: string, request?: TestRequest): Promise<TestResponse>
  /**
   * Creates records past access rules, with the checks of a POST: schema, references, uniqueness, business rules. A
   * record may have an `id` (a UUID in lower case), and may refer to records before it.
   *
   * @returns the records as a read gives them, in the same order
   * @throws Error that names the first refused record and what is wrong with it; others may have been created
   * @example
   * const [house] = await app.seed('projects', [{ name: 'House' }])
   * await app.seed('tasks', [{ title: 'Paint', project_id: house.id }])
   */
  seed<Name extends Collection<Declaration>, const Given extends readonly unknown[]>(
    collection: Name,
    records: { readonly [Index in keyof Given]: Seed<Declaration, Name> },
    options?: SeedOptions,
  ): Promise<{ -readonly [Index in keyof Given]: RecordOf<Declaration, Name> }>
  /** Makes an API key, for requests over a socket: `Authorization: Bearer ${key}`. */
  key(caller: Pick<CallerInput, 'id' | 'roles' | 'claims'>): Promise<string>
  /** Waits until every background job has ended: deletions, exports, purges. */
  jobsFinished(): Promise<void>
  /**
   * Waits until every event is delivered to the functions of `on` and to webhooks. What failed is delivered again after
   * the clock was moved.
   */
  deliveriesFinished(): Promise<void>
  /** Listens on a free port of the loopback interface. Returns the origin, such as `http://127.0.0.1:41235`. */
  listen(): Promise<string>
  /**
   * Begins again with an empty database and the first time of the clock, in a few milliseconds. Clients and the
   * listener stay; API keys are gone.
   */
  reset(): Promise<void>
}

const seeder: CallerInput = { id: 'seed', roles: [] }

/**
 * Starts an application in memory. Rates are not limited. Close it after the test, or declare it with `await using`.
 *
 * @throws DeclarationError with everything wrong in the declaration
 * @throws ConfigurationError if an option cannot be used
 * @throws TypeError if `now` is no moment
 * @example
 * await using app = await testApp(declaration, { now: '2027-01-01' })
 * const ann = app.as({ id: 'ann', roles: [] })
 */
export async function testApp<const Declaration extends InterfaceDeclaration>(
  declaration: Declaration,
  { now = Date.now(), rateLimit = 'off', ...options }: TestAppOptions = {},
): Promise<TestApp<Declaration>> {
  const clock = testClock(readMoment(now), async (moved) => {
    // The application would take the move for a wrong clock, and remove nothing for a day.
    await app.storage.purgeClock.confirm(moved)
    await app.runner.maintain()
    await keepRunning(app.runner.idle())
  })
  const settings = { ...options, rateLimit, database: 'sqlite::memory:' }
  const { versions, open, start } = prepareApp(declaration, settings, () => clock.now)
  const { basePath, current } = versions
  const begin = async () => {
    const begun = start(open() as ServedDatabase)
    // Functions of `on` get the changes that follow their registration.
    await keepRunning(begun.deliveries?.settle() ?? Promise.resolve())
    return begun
  }
  let app = await begin()
  let server: NodeServer | undefined
  let listening: Promise<string> | undefined
  let closed: Promise<void> | undefined
  const respond: App['respond'] = (request) => app.respond(request)
  const refuse: App['refuse'] = (error, request) => app.refuse(error, request)
  const close = async () => {
    await server?.close(0)
    await keepRunning(app.close())
  }
  const made = {
    basePath,
    clock,
    respond,
    refuse,
    as: (caller: CallerInput) => clientAs(caller, current.basePath, (request, known) => app.respond(request, known)),
    request(path: string, { as, ...request }: TestRequest = {}) {
      const caller = as && readCaller(as, 'app.request() received')
      return sendRequest({ respond: (asked) => app.respond(asked, caller), refuse }, path, request)
    },
    async seed(collection: string, records: readonly object[], { as = seeder }: SeedOptions = {}) {
      const { catalog, storage } = app
      const caller = readCaller(as, 'app.seed() received')
      return seedRecords({ catalog, storage, caller, now: clock.now }, collection, records)
    },
    async key(caller: Pick<CallerInput, 'id' | 'roles' | 'claims'>) {
      const { id: subject, roles, claims } = readCaller(caller, 'app.key() received')
      const key = newKey()
      const identity = { id: uuidv7(), hash: hashOfKey(key), hint: hintOfKey(key), subject, roles, claims }
      await app.storage.keys.add({ ...identity, expires_at: null, created_at: timestamp(clock.now), revoked_at: null })
      return key
    },
    jobsFinished: () => keepRunning(app.runner.idle()),
    deliveriesFinished: () => keepRunning(app.deliveries?.settle() ?? Promise.resolve()),
    listen() {
      server ??= createNodeServer({ respond, problem: refuse, basePath })
      listening ??= server.listen('127.0.0.1', 0)
      return listening
    },
    async reset() {
      const former = app
      clock.reset()
      app = await begin()
      await keepRunning(former.close())
    },
    close() {
      closed ??= close()
      return closed
    },
    [Symbol.asyncDispose]: () => made.close(),
  }
  return made as unknown as Omit<typeof made, 'as' | 'seed'> & Pick<TestApp<Declaration>, 'as' | 'seed'>
}

/** Keeps the process running while something is awaited: pauses between batches of jobs do not. */
function keepRunning(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => {}, 1_000)
  return work.finally(() => clearInterval(timer))
}

/** What creates records. */
interface Seeding {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'run'>
  /** The owner of records without an owner field. */
  readonly caller: CallerView
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Creates records in order, so that a record may refer to those before it.
 *
 * @returns the records as a read gives them
 * @throws TypeError if there is no such collection
 * @throws Error that names the first refused record, its fields and what is wrong with them
 */
async function seedRecords(
  { catalog, storage, caller, now }: Seeding,
  collection: string,
  records: readonly object[],
): Promise<object[]> {
  const resource = resourceOf(catalog, collection)
  const plans = records.map((record, index): Create => {
    const { id = uuidv7(), ...body } = JSON.parse(JSON.stringify(record)) as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || !isRecordId(id)) {
      throw refusal(collection, index, ['/id must be a UUID in lower case. Leave it out to get one.'])
    }
    const right = { permitted: always, mayAssignOwner: true, caller }
    return { kind: 'create', resource, id, parent: undefined, body, now, ...right }
  })
  // A transaction begins after those before it, and changes that wait together commit together.
  const outcomes = await Promise.all(plans.map((plan) => storage.run(plan)))
  return outcomes.map((outcome, index) => {
    if (outcome.kind === 'created') return JSON.parse(outcome.json)
    throw refusal(collection, index, mistakesOf(outcome))
  })
}

function resourceOf({ resources }: Catalog, collection: string): Resource {
  const resource = resources.get(collection)
  if (resource !== undefined) return resource
  throw new TypeError(`There is no collection ${JSON.stringify(collection)}. ${suggest(collection, resources.keys())}`)
}

function refusal(collection: string, index: number, mistakes: readonly string[]): Error {
  return new Error(`Record ${index} of ${collection} was refused: ${mistakes.join('; ')}`)
}

function mistakesOf(outcome: Outcome): readonly string[] {
  if (!('issues' in outcome) || outcome.issues === undefined) return [outcome.kind]
  return outcome.issues.map((each) => `${each.pointer ?? ''} ${each.code} ${sentenceOf(each)}`.trim())
}

/** A moment: a date or date-time of ISO 8601 such as `2027-01-01T09:00:00Z`, a `Date`, or milliseconds since 1970. */
export type Moment = string | Date | number

/** The clock of an application under test. */
export interface TestClock {
  /** The time, in milliseconds since 1970. It stands still until the test moves it. */
  readonly now: number
  /**
   * Moves the clock by an ISO 8601 duration of weeks, days, hours, minutes and seconds, or by milliseconds. Then
   * removes what has expired, such as deleted records after their grace period.
   *
   * @throws TypeError if this is no such duration
   * @example
   * await app.clock.advance('P31D')
   */
  advance(duration: string | number): Promise<void>
  /**
   * Moves the clock to a moment, also to an earlier one. Then removes what has expired.
   *
   * @throws TypeError if this is no moment
   */
  set(moment: Moment): Promise<void>
}

/**
 * Makes a clock.
 *
 * @param start its first time, in milliseconds since 1970
 * @param moved is called with the time after each move, and awaited
 */
function testClock(start: number, moved: (now: number) => Promise<void>): TestClock & { reset(): void } {
  let now = start
  const moveTo = (moment: number) => {
    now = moment
    return moved(now)
  }
  return {
    get now() {
      return now
    },
    advance: async (duration) => moveTo(now + millisecondsOf(duration)),
    set: async (moment) => moveTo(readMoment(moment)),
    reset() {
      now = start
    },
  }
}

function millisecondsOf(duration: string | number): number {
  if (typeof duration === 'number' && Number.isFinite(duration)) return duration
  const reading = parseDuration(String(duration))
  if (reading.kind === 'duration') return reading.milliseconds
  const found = `${JSON.stringify(duration)} is no duration of fixed length`
  throw new TypeError(`${found}. Write weeks, days, hours, minutes or seconds, such as 'P31D' or 'PT1H'.`)
}

/** @throws TypeError */
function readMoment(moment: Moment): number {
  const milliseconds = typeof moment === 'string' ? momentOf(moment) : Number(moment)
  if (milliseconds !== undefined && Number.isFinite(milliseconds)) return milliseconds
  throw new TypeError(`${JSON.stringify(moment)} is no moment. Write it as '2027-01-01' or '2027-01-01T09:00:00Z'.`)
}

/** A request of a test. */
export interface TestRequest {
  /** `GET` by default, or `POST` for a request with a body. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Text and bytes are sent as they are, every other value as JSON. */
  readonly body?: unknown
  /** The caller, without a credential; by default, the header fields say who is calling. */
  readonly as?: CallerInput
}

/** A response, completely read. */
export interface TestResponse {
  readonly status: number
  /** Header fields by lower-case name: `response.headers.etag`. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text; empty if there is none. */
  readonly text: string
  /** The parsed body if it is JSON, else the text; `undefined` if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}

/** What a request needs of an application. */
interface TestedApp {
  respond(request: HttpRequest): Promise<HttpResponse>
  refuse(error: Fault): HttpResponse
}

/** Sends a request through `toFetchHandler`, which checks it as it checks those of a server. */
async function sendRequest(
  app: TestedApp,
  path: string,
  { body, headers: fields, method = body === undefined ? 'GET' : 'POST' }: Omit<TestRequest, 'as'>,
): Promise<TestResponse> {
  const headers = new Headers(fields)
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  if (body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json')
  const content = isRaw || body === undefined ? body : JSON.stringify(body)
  const respond = toFetchHandler(app, { address: () => '127.0.0.1' })
  const url = new URL(path, 'https://localhost')
  const response = await respond(new Request(url, { method, headers, body: content as string | undefined }))
  const text = await response.text()
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(response.headers.get('Content-Type') ?? '')
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    body: text === '' ? undefined : isJson && response.status !== 206 ? JSON.parse(text) : text,
  }
}
