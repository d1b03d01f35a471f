/** The entry point `resourced/testing`: an application in memory, for the tests of those who build on it. */

import type { Client, InterfaceTypes, TypesOf, UntypedInterface } from 'resourced-client'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { timestamp } from 'resourced-contract/model/time'
import { uuidv7 } from 'uuidv7'
import { hashOfKey, hintOfKey, newKey } from '../policy/api-keys.ts'
import { type CallerInput, readCaller } from '../policy/own-credentials.ts'
import { clientAs } from '../server/client-as.ts'
import { type App, type AppOptions, prepareApp } from '../server/create-app.ts'
import { createNodeServer, type NodeServer } from '../server/node/listener.ts'
import type { RateOptions } from '../server/rates/rate-limiter.ts'
import type { Storage } from '../storage/storage.ts'
import { seedRecords } from './seed.ts'
import { type Moment, readMoment, type TestClock, testClock } from './test-clock.ts'
import { sendRequest, type TestRequest, type TestResponse } from './test-request.ts'

export { ProblemError } from 'resourced-client'
export type { CallerInput, Moment, TestClock, TestRequest, TestResponse }

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
    const begun = start(open() as Storage)
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
