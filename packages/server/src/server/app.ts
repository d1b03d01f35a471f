/** An application without a socket: a catalog on a storage that answers requests. */
import { randomBytes } from 'node:crypto'
import { addressPolicy } from 'resourced-contract/model/address-policy'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Fault } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import type { DeliveryWorker } from '../events/worker.ts'
import type { Cors } from '../http/cors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { type ExportFiles, exportFiles } from '../jobs/export-files.ts'
import { type Runner, startRunner } from '../jobs/runner.ts'
import { authenticator, Revocations } from '../policy/authenticate.ts'
import type { Caller } from '../policy/caller.ts'
import type { JwtSettings } from '../policy/jwt-settings.ts'
import { type AuthenticateOption, ownAuthenticator } from '../policy/own-credentials.ts'
import { KnownQueries } from '../request/list-query.ts'
import type { Storage } from '../storage/storage.ts'
import { onlyVersion, type Versions } from '../versions/versions.ts'
import { clientOfFunctions } from './client-as.ts'
import { Compressor } from './compressor.ts'
import { openDeliveries } from './deliveries.ts'
import { documentsOf } from './documents.ts'
import { earlyRefusal } from './finish-request.ts'
import { verifyBy } from './jwt.ts'
import { type KeyUses, noteUses } from './key-uses.ts'
import { type MaintenanceWatch, watchMaintenance } from './maintenance.ts'
import type { Observe } from './observe/observe.ts'
import type { ConsoleSettings } from './pages/console-settings.ts'
import { pageServer } from './pages/page-server.ts'
import type { Counter } from './rates/counter.ts'
import { openRateLimiter, type RateOptions } from './rates/rate-limiter.ts'
import { respond } from './respond.ts'
import type { AppServices } from './stages.ts'
import { EventStreams } from './streams/event-streams.ts'
import type { StreamPlaces } from './streams/stream-places.ts'

/** Options of an application. */
export interface AssemblyOptions extends RateOptions {
  /** By default, the catalog is the only version, named in the path. */
  readonly versions?: Versions | undefined
  readonly observe?: Observe
  /** Milliseconds since 1970; the system's clock by default. */
  readonly now?: () => number
  readonly cors?: Cors | undefined
  /** Which JWTs are accepted; `undefined`: none. */
  readonly jwt?: JwtSettings | undefined
  /** Checks credentials of the application, before API keys and JWTs. */
  readonly authenticate?: AuthenticateOption | undefined
  /** How long it may take, in milliseconds. */
  readonly authenticateTimeout?: number | undefined
  readonly requireHttps?: boolean
  /** How the console is served; `undefined`: by default. */
  readonly console?: ConsoleSettings | undefined
  readonly development?: boolean
  /** Reads the metrics of the server as text, for administrators; `undefined`: none are collected. */
  readonly readMetrics?: (() => Promise<string>) | undefined
  /** Counts requests where Redis does not; in the memory of this process by default. */
  readonly counter?: Counter | undefined
  /** Counts the streams of each caller; by default, in the memory of this process alone. */
  readonly streamPlaces?: StreamPlaces | undefined
  /** Called when a key was revoked, before that is answered. */
  readonly onRevoked?: (() => Promise<void>) | undefined
  /** The networks that webhooks may reach besides public addresses, such as `10.1.0.0/16` (EVT-10). */
  readonly webhookNetworks?: readonly string[] | undefined
  /** Milliseconds between two polls of the maintenance switch; see `watchMaintenance`. */
  readonly maintenanceInterval?: number | undefined
}

/** An application that answers requests until it is closed. */
export interface Application {
  /** Answers a request; of the caller, if it is a call in process. */
  respond(request: HttpRequest, caller?: Caller): Promise<HttpResponse>
  /**
   * Makes the response to a request that is refused before `respond`; without the request if it could not be parsed.
   */
  refuse(error: Fault, request?: Pick<HttpRequest, 'target' | 'headers' | 'secure'>): HttpResponse
  /** Forgets cached keys: one was revoked elsewhere. */
  forgetKeys(): void
  /** Resolves when no request is running. */
  idle(): Promise<void>
  /** From now on, new requests get 503. Running ones finish. */
  stop(): void
  /** Finishes running requests and closes the storage. */
  close(): Promise<void>
  readonly catalog: Catalog
  /** The name by which the server claims jobs among the servers of one database (JOB-5). */
  readonly server: string
  readonly storage: Storage
  readonly runner: Runner
  readonly files: ExportFiles
  readonly keyUses: KeyUses
  readonly maintenance: MaintenanceWatch
  /** Delivers events to webhooks and functions; `undefined`: no resource is declared with events. */
  readonly deliveries: DeliveryWorker | undefined
}

/**
 * Assembles an application.
 *
 * @param catalog of the current version
 */
export function assemble(catalog: Catalog, storage: Storage, options: AssemblyOptions = {}): Application {
  const { now = Date.now, observe = () => {}, versions = onlyVersion(catalog) } = options
  const server = randomBytes(6).toString('base64url').replaceAll(/[-_]/g, '0')
  const rates = openRateLimiter(catalog, options, { now, observe, counter: options.counter })
  const files = exportFiles({ catalog, storage, server })
  const maintenance = watchMaintenance({ storage, now, observe, interval: options.maintenanceInterval })
  const paused = () => maintenance.current !== undefined
  const runner = startRunner({
    storage,
    files,
    now,
    paused,
    newJobId: uuidv7,
    statusUrlOf: (job) => `${versions.current.basePath}/jobs/${job}`,
    ended: ({ id, task }, status) => observe({ kind: 'job', job: id, task, status }),
    doubted: (doubt) =>
      observe(
        doubt === undefined ? { kind: 'purge', state: 'resumed' } : { kind: 'purge', state: 'stopped', ...doubt },
      ),
    failed: (error, job) =>
      observe({ kind: 'failure', requestId: job?.id ?? 'jobs', error, task: job?.task ?? 'other' }),
  })
  const failed = (error: unknown) => observe({ kind: 'failure', requestId: 'keys', error })
  const client = clientOfFunctions(versions.current.basePath, (request, caller) => respond(app, request, caller))
  const { webhookNetworks = [] } = options
  const deliveries = openDeliveries(
    { catalog, storage, server, now, paused, observe, versions, client },
    addressPolicy(webhookNetworks),
  )
  const keyUses = noteUses(storage.keys, now, failed, paused)
  const running = new RunningRequests()
  const authenticate = authenticator({
    findKey: (hash) => storage.keys.find(hash),
    verifyToken: options.jwt === undefined ? undefined : verifyBy(options.jwt, { now, observe }),
    hasOwn: options.authenticate !== undefined,
    now,
    used: keyUses.note,
  })
  const authenticateOwn = options.authenticate && ownAuthenticator(options.authenticate, options.authenticateTimeout)
  const streams =
    storage.events &&
    new EventStreams({
      ...{ authenticate, authenticateOwn, now, paused, observe, store: storage.events, secret: storage.cursorSecret },
      failed: (error) => observe({ kind: 'failure', requestId: 'events', error, task: 'other' }),
      perCaller: catalog.limits.events.streams,
      places: options.streamPlaces,
    })
  const app: AppServices = {
    catalog,
    versions,
    storage,
    runner,
    files,
    authenticate,
    authenticateOwn,
    streams,
    revocations: new Revocations(),
    onRevoked: options.onRevoked,
    maintenance,
    rates,
    documents: documentsOf(versions, now, { jwt: options.jwt, hasOwn: options.authenticate !== undefined }),
    compressor: new Compressor(),
    pages: pageServer({ versions, console: options.console ?? { isServed: true, openid: undefined }, now }),
    readMetrics: options.readMetrics,
    knownQueries: new KnownQueries(),
    observe,
    now,
    cors: options.cors,
    requireHttps: options.requireHttps ?? false,
    development: options.development ?? false,
    state: { stopping: false },
    running,
    webhookNetworks,
  }
  return {
    catalog,
    server,
    storage,
    runner,
    files,
    keyUses,
    maintenance,
    deliveries: deliveries?.worker,
    respond: (request, caller) => respond(app, request, caller),
    refuse: (error, request) => earlyRefusal(options.cors, error, request),
    forgetKeys() {
      authenticate.forget()
      streams?.recheck()
    },
    idle: () => running.idle(),
    stop() {
      app.state.stopping = true
      streams?.close()
    },
    async close() {
      // What is waited for here, such as the pause after a batch, keeps no process alive by itself.
      const alive = setInterval(() => {}, 60_000)
      try {
        app.state.stopping = true
        streams?.close()
        await running.idle()
        await maintenance.close()
        await deliveries?.close()
        await runner.close()
        await keyUses.close()
        await storage.close()
        rates?.close()
      } finally {
        clearInterval(alive)
      }
    },
  }
}

/** Counts running requests, so that an application is closed after the last of them. */
class RunningRequests {
  #count = 0
  #waiting: (() => void)[] = []

  began(): void {
    this.#count++
  }

  ended(): void {
    this.#count--
    if (this.#count > 0 || this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves when no request is running. */
  idle(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
}
