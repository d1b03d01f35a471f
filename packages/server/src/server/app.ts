/** An application without a socket: a catalog on a storage that answers requests. */
import { randomBytes } from 'node:crypto'
import { addressPolicy } from 'resourced-contract/model/address-policy'
import type { Catalog } from 'resourced-contract/model/resource'
import { operatorsOf } from 'resourced-contract/model/tenants'
import type { Fault } from 'resourced-contract/spec/faults'
import type { DeliveryWorker } from '../events/worker.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { ExportFiles } from '../jobs/export-files.ts'
import type { Runner } from '../jobs/runner.ts'
import { authenticator, Revocations } from '../policy/authenticate.ts'
import type { Caller } from '../policy/caller.ts'
import type { JwtSettings } from '../policy/jwt-settings.ts'
import { type AuthenticateOption, ownAuthenticator } from '../policy/own-credentials.ts'
import { KnownQueries } from '../request/list-query.ts'
import type { Storage } from '../storage/storage.ts'
import { onlyVersion, type Versions } from '../versions/versions.ts'
import { Compressor } from './compressor.ts'
import { openParts, type SharedParts } from './database-parts.ts'
import { documentsOf } from './documents.ts'
import { earlyRefusal } from './finish-request.ts'
import { verifyBy } from './jwt.ts'
import type { KeyUses } from './key-uses.ts'
import { type MaintenanceWatch, watchMaintenance } from './maintenance.ts'
import type { ServedDatabase } from './open-served-database.ts'
import { type OpenTenants, serveTenants } from './open-tenants.ts'
import type { ConsoleSettings } from './pages/console-settings.ts'
import { pageServer } from './pages/page-server.ts'
import type { Counter } from './rates/counter.ts'
import { openRateLimiter, type RateOptions } from './rates/rate-limiter.ts'
import { respond } from './respond.ts'
import type { AppServices } from './stages.ts'
import type { StreamPlaces } from './streams/stream-places.ts'

type Optional = 'cors' | 'development' | 'now' | 'observe' | 'onRevoked' | 'readMetrics' | 'requireHttps'

/** Options of an application. By default, there are no metrics, no other origins, and the clock of the system. */
export interface AssemblyOptions extends RateOptions, Partial<Pick<AppServices, Optional>> {
  /** By default, the catalog is the only version, named in the path. */
  readonly versions?: Versions | undefined
  /** Which JWTs are accepted; `undefined`: none. */
  readonly jwt?: JwtSettings | undefined
  /** Checks credentials of the application, before API keys and JWTs. */
  readonly authenticate?: AuthenticateOption | undefined
  /** How long it may take, in milliseconds. */
  readonly authenticateTimeout?: number | undefined
  /** How the console is served; `undefined`: by default. */
  readonly console?: ConsoleSettings | undefined
  /** Counts requests where Redis does not; in the memory of this process by default. */
  readonly counter?: Counter | undefined
  /** Counts the streams of each caller; by default, in the memory of this process alone. */
  readonly streamPlaces?: StreamPlaces | undefined
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
 * @param opened its database; with tenants, that of the operators with the databases of the tenants
 */
export function assemble(
  catalog: Catalog,
  opened: Storage | ServedDatabase,
  options: AssemblyOptions = {},
): Application {
  const { now = Date.now, observe = () => {}, versions = onlyVersion(catalog), webhookNetworks = [] } = options
  const { storage, tenants } = 'storage' in opened ? opened : { storage: opened, tenants: undefined }
  const server = randomBytes(6).toString('base64url').replaceAll(/[-_]/g, '0')
  const rates = openRateLimiter(catalog, options, { now, observe, counter: options.counter })
  const maintenance = watchMaintenance({ storage, now, observe, interval: options.maintenanceInterval })
  const paused = () => maintenance.current !== undefined
  const running = new RunningRequests()
  const authenticate = authenticator({
    findKey: async (hash) => (await storage.keys.find(hash)) ?? served?.findKey(hash),
    verifyToken: options.jwt === undefined ? undefined : verifyBy(options.jwt, { now, observe }),
    hasOwn: options.authenticate !== undefined,
    now,
    used: (key, tenant) => (tenant === undefined ? parts.keyUses.note(key) : served?.noteUse(tenant, key)),
  })
  const authenticateOwn = options.authenticate && ownAuthenticator(options.authenticate, options.authenticateTimeout)
  const services: SharedParts['services'] = {
    versions,
    authenticate,
    authenticateOwn,
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
  const shared: SharedParts = {
    ...{ services, server, paused, streamPlaces: options.streamPlaces },
    addressPolicy: addressPolicy(webhookNetworks),
  }
  const failed = (error: unknown) => observe({ kind: 'failure', requestId: 'tenants', error, task: 'other' })
  const served: OpenTenants | undefined =
    tenants && serveTenants({ tenants, registry: storage.tenants, catalog, shared, now, paused, failed })
  const own = operatorsOf(catalog) ?? catalog
  const parts = openParts(shared, {
    catalog: own,
    storage,
    authenticate,
    authenticateOwn,
    tenant: undefined,
    tenants: served,
  })
  const { app, runner, files, keyUses, deliveries, streams } = parts
  return {
    ...{ catalog, server, storage, runner, files, keyUses, maintenance, deliveries },
    respond: (request, caller) => respond(app, request, caller),
    refuse: (error, request) => earlyRefusal(options.cors, error, request),
    forgetKeys() {
      authenticate.forget()
      streams?.recheck()
      served?.recheck()
    },
    idle: () => running.idle(),
    stop() {
      app.state.stopping = true
      streams?.close()
      served?.stop()
    },
    async close() {
      // What is waited for here, such as the pause after a batch, keeps no process alive by itself.
      const alive = setInterval(() => {}, 60_000)
      try {
        app.state.stopping = true
        streams?.close()
        served?.stop()
        await running.idle()
        await maintenance.close()
        await served?.close()
        await parts.close()
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
