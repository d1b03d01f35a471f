/** The program as a library: a declaration in, an application out. */

import type { Client, TypesOf, UntypedInterface } from 'resourced-client'
import { addressPolicy } from 'resourced-contract/model/address-policy'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import { DeclarationError } from 'resourced-contract/model/check/problem'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { Fault } from 'resourced-contract/spec/faults'
import { type Cors, readCors } from '../http/cors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { JwtOptions } from '../policy/jwt-settings.ts'
import type { AuthenticateOption, CallerInput } from '../policy/own-credentials.ts'
import { completeVersions, type Versions } from '../versions/versions.ts'
import { type Application, assemble } from './app.ts'
import { clientAs } from './client-as.ts'
import { defaultDatabase } from './database-address.ts'
import { earlyRefusal, toFault } from './finish-request.ts'
import { readJwt } from './jwt.ts'
import { type LogOption, readLog } from './observe/app-log.ts'
import type { Metrics } from './observe/metrics.ts'
import type { Observation, Observe } from './observe/observe.ts'
import type { DatabaseOptions } from './open-database.ts'
import { openServed, type ServedDatabase } from './open-served-database.ts'
import { type ConsoleOption, readConsole } from './pages/console-settings.ts'
import type { RateOptions } from './rates/rate-limiter.ts'

/** How an application runs. */
export interface AppOptions extends RateOptions, Omit<DatabaseOptions, 'database'> {
  /** `sqlite:FILE`, `sqlite::memory:` or `postgres://…`; `sqlite:.resourced/data.db` by default. */
  readonly database?: string
  /**
   * The path that all addresses begin with, such as `/api`; none by default. Links, `Location` and the OpenAPI document
   * have it too.
   */
  readonly basePath?: string
  /** What start-up may change in the database; `additive` by default. */
  readonly migrate?: 'never' | 'additive'
  /**
   * Where the log goes: a logger such as one of pino, a function that receives each entry, or `false` for nowhere. By
   * default, warnings and errors go to standard error.
   */
  readonly log?: LogOption
  /** Receives everything that happens, for metrics: requests, failures, jobs. */
  readonly observe?: Observe
  /**
   * Metrics of `collectMetrics()`: they receive everything that happens, and administrators read them at
   * `/health/metrics`. By default, that address does not exist.
   */
  readonly metrics?: Pick<Metrics, 'observe' | 'read'>
  /** Refuses requests that did not come over HTTPS (403); false by default. */
  readonly requireHttps?: boolean
  /** Origins whose pages may read responses, such as `https://app.example.com`, or `*`; none by default. */
  readonly corsOrigins?: readonly string[]
  /** Whether those pages may send credentials; never together with `*`. */
  readonly corsCredentials?: boolean
  /** Which JWTs are accepted besides API keys; none by default. */
  readonly jwt?: JwtOptions
  /**
   * Checks credentials of your own, such as a session cookie. API keys and `jwt` are tried if it returns `undefined`.
   */
  readonly authenticate?: AuthenticateOption
  /**
   * Whether the console is served at `/console`, and how people sign in to it besides API keys; `true` by default.
   */
  readonly console?: ConsoleOption
  /**
   * The networks that webhooks may reach besides public addresses, such as `10.1.0.0/16`, also by http; none by
   * default.
   */
  readonly webhookNetworks?: readonly string[]
  /** Adds `Server-Timing` to responses. */
  readonly development?: boolean
}

/** An application that answers requests until it is closed. */
export interface App {
  /** The beginning of every address: `/api`, or empty. */
  readonly basePath: string
  /** Answers a request. It never throws. */
  respond(request: HttpRequest): Promise<HttpResponse>
  /**
   * Makes a client that calls the application in process, without HTTP and without a credential. Rules and validation
   * apply as ever; rates do not. With the type of the declaration every call is typed, as in `createClient`.
   *
   * @throws TypeError if this is no caller
   * @example
   * const open = await app.as<typeof declaration>({ id: 'ann', roles: [] }).tasks.list({ status: 'open' })
   */
  as<Types = UntypedInterface>(caller: CallerInput): Client<TypesOf<Types>>
  /** Makes the response to a request that is refused before `respond`. */
  refuse(error: Fault, request?: Pick<HttpRequest, 'target' | 'headers' | 'secure'>): HttpResponse
  /** Resolves when the database is open; rejects if it cannot be opened, for instance with MigrationRefused. */
  ready(): Promise<void>
  /** Finishes running requests and closes the database. */
  close(): Promise<void>
}

/**
 * Makes an application of a declaration.
 *
 * @throws DeclarationError with everything wrong in the declaration
 * @throws ConfigurationError if an option cannot be used
 * @throws MigrationRefused if the database does not fit it, and changing it would lose data
 * @example
 * const app = createApp(declaration, { database: 'sqlite:data.db' })
 * http.createServer(toNodeHandler(app)).listen(8080)
 */
export function createApp(declaration: InterfaceDeclaration, options: AppOptions = {}): App {
  const { versions, cors, observe, open, start } = prepareApp(declaration, options)
  const database = open()
  const { respond, ...app } =
    database instanceof Promise
      ? deferredApp(database.then(start), cors, observe)
      : { ...start(database), async ready() {} }
  let closed: Promise<void> | undefined
  return {
    basePath: versions.basePath,
    respond: (request) => respond(request),
    as: (caller) => clientAs(caller, versions.current.basePath, respond) as never,
    refuse: app.refuse,
    ready: app.ready,
    close() {
      closed ??= app.close()
      return closed
    },
  }
}

/** An application that can be opened, as often as there are databases for it. */
interface PreparedApp {
  readonly versions: Versions
  readonly cors: Cors | undefined
  readonly observe: Observe
  /** Opens the database; synchronously if it is a file or in memory. */
  open(): ServedDatabase | Promise<ServedDatabase>
  /** Begins to answer requests and to run jobs. */
  start(database: ServedDatabase): Application
}

/**
 * Checks a declaration and options, and prepares an application of them.
 *
 * @param now milliseconds since 1970; the system's clock by default
 * @throws DeclarationError, ConfigurationError as `createApp` does
 */
export function prepareApp(declaration: InterfaceDeclaration, options: AppOptions, now?: () => number): PreparedApp {
  const problems = checkDeclaration(declaration)
  if (problems.length > 0) throw new DeclarationError(problems)
  const versions = completeVersions(declaration, options.basePath)
  const { stored: catalog } = versions
  const {
    database = defaultDatabase,
    migrate,
    corsOrigins,
    corsCredentials,
    jwt: tokens = {},
    log,
    console: consoleOption,
    metrics,
    ...rest
  } = options
  const cors = readCors(corsOrigins, corsCredentials)
  addressPolicy(rest.webhookNetworks)
  const jwt = readJwt(tokens)
  const console = readConsole(consoleOption, jwt)
  const logged = readLog(log)
  const observe = (observation: Observation) => {
    logged?.(observation)
    metrics?.observe(observation)
    rest.observe?.(observation)
  }
  return {
    versions,
    cors,
    observe,
    open: () =>
      openServed({ ...rest, database }, catalog, {
        migrate,
        now,
        failed: (error) => observe({ kind: 'failure', requestId: 'tenants', error, task: 'other' }),
        onCommit: (metrics ?? rest.observe) && ((commit) => observe({ kind: 'commit', ...commit })),
        onReplica: (news) => observe({ kind: 'replica', ...news }),
      }),
    start(opened) {
      const readMetrics = metrics?.read
      const app = assemble(catalog, opened, { ...rest, observe, now, versions, cors, jwt, console, readMetrics })
      void app.runner.maintain()
      return app
    },
  }
}

/**
 * Makes an application whose database is still being opened: requests wait for it. If it cannot be opened, every
 * request gets the 502 of a database failure.
 */
function deferredApp(
  opening: Promise<Application>,
  cors: Cors | undefined,
  observe: Observe,
): Omit<App, 'basePath' | 'as' | 'respond'> & Pick<Application, 'respond'> {
  let opened: Application | undefined
  let failure: unknown
  const settled = opening.then(
    (app) => {
      opened = app
    },
    (error: unknown) => {
      failure = error
      observe({ kind: 'failure', requestId: 'database', error })
    },
  )
  return {
    async respond(request, caller) {
      await settled
      if (opened === undefined) return earlyRefusal(cors, toFault(failure), request)
      return opened.respond(request, caller)
    },
    refuse: (error, request) =>
      opened === undefined ? earlyRefusal(cors, error, request) : opened.refuse(error, request),
    async ready() {
      await opening
    },
    async close() {
      await settled
      await opened?.close()
    },
  }
}
