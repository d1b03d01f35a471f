/**
 * The stages of a request before its body is read. Each has everything that the stage before it has. A gate takes a
 * request from one stage to the next (`gates.ts`); one that is refused ends at the last stage that it has reached.
 */
import type { Catalog } from 'resourced-contract/model/resource'
import type { Cors } from '../http/cors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { ExportFiles } from '../jobs/export-files.ts'
import type { Runner } from '../jobs/runner.ts'
import type { Authenticate, Revocations } from '../policy/authenticate.ts'
import type { Caller } from '../policy/caller.ts'
import type { AuthenticateOwn } from '../policy/own-credentials.ts'
import type { KnownQueries } from '../request/list-query.ts'
import type { AddressTarget, Found } from '../request/target.ts'
import type { Maintenance, Storage } from '../storage/storage.ts'
import type { Choice, Version, VersionNotice, Versions } from '../versions/versions.ts'
import type { Compressor } from './compressor.ts'
import type { Documents } from './documents.ts'
import type { MaintenanceWatch } from './maintenance.ts'
import type { Observe, Timing } from './observe/observe.ts'
import type { RequestSpan } from './observe/request-span.ts'
import type { AnswerPage } from './pages/page-server.ts'
import type { RateDecision, RateLimiter } from './rates/rate-limiter.ts'
import type { EventStreams } from './streams/event-streams.ts'
import type { Lease } from './tenants/kept-open.ts'

/** The request was received. */
export interface Arrived {
  readonly app: AppServices
  readonly request: HttpRequest
  /** The caller of a call in process; `undefined`: the request has a credential. */
  readonly givenCaller: Caller | undefined
  readonly requestId: string
  /** By `performance.now()`. */
  readonly started: number
  /** The path as sent. */
  readonly path: string
  /** The query string as sent, without `?`. */
  readonly query: string
  /** The path as logs and problems show it: a caller may have sent a key in place of an id. */
  readonly instance: string
  /** Measures the request, if `Server-Timing` or a trace reports it. */
  readonly timing: Timing | undefined
  /** `undefined`: nothing traces requests. */
  readonly span: RequestSpan | undefined
}

/** The version and the address are found. Nothing is refused for them yet. */
export interface Located extends Arrived {
  /** The version that the request names. */
  readonly choice: Choice
  readonly found: Found
  readonly versionCatalog: Catalog
  /** The beginning of paths, before the collection: `/v1`. */
  readonly basePath: string
  /** The template that the path fits, such as `/v1/tasks/{id}`; `undefined`: there is no such address. */
  readonly route: string | undefined
  /** The version that the request counts for; `undefined` if it names none that exists, and for health checks. */
  readonly version: Version | undefined
  /** Revocations of API keys that were running when this request came. */
  readonly earlierRevocations: ReturnType<Revocations['running']>
  /** Ends the revocation that this request is; `undefined`: it is none. */
  readonly endRevocation: (() => void) | undefined
}

/** The caller is known. Only from here on, responses say something about the version and the address. */
export interface Authenticated extends Located {
  readonly caller: Caller
  /** The tenant that the caller names (TEN-1); `undefined`: none, `null`: by a claim that is no text. */
  readonly tenant: string | null | undefined
  /** For whom is counted what a caller uses: the caller's id, with tenants the tenant and the id. */
  readonly account: string
  /** The moment by which the version is judged, in milliseconds since 1970; 0 for a version without an end. */
  readonly versionMoment: number
  /** `undefined`: the request names no version that exists. */
  readonly versionNotice: VersionNotice | undefined
}

/** The request is counted against the quotas of its caller, which it may exceed. */
export interface Rated extends Authenticated {
  /** `undefined`: the request is not limited. */
  readonly rate: RateDecision | undefined
}

/** The request is in the database of its tenant, or in the only one. */
export interface Entered extends Rated {
  /** Ends the use of the tenant, after the response was made; left out: there are no tenants. */
  readonly leave?: () => void
}

/** The address exists in the version, and supports the method. */
export interface Addressed extends Entered {
  readonly target: AddressTarget
}

/**
 * The client accepts a form in which the address is represented. Then the function `authorize` of the declaration
 * decides (AUT-12), and access rules when the request is planned (CON-6).
 */
export interface Accepted extends Addressed {
  /** A stream of events, links to the states of a record, or the usual representation. */
  readonly form: 'stream' | 'links' | 'usual'
}

/** The last stage of a request that may have ended at any gate. */
export type Reached = Arrived & Partial<Accepted>

/** A request with its response: all that observers need. */
export interface Answered {
  readonly reached: Reached
  readonly response: HttpResponse
}

/** The tenants of an application. */
export interface Tenants {
  /** The tenant that a caller's key or claim names; `undefined`: none, `null`: a claim that is no text. */
  nameOf(caller: Caller): string | null | undefined
  /**
   * The application of a tenant, in use until the lease ends.
   *
   * @param changes whether the request changes something, which may create the tenant
   * @throws Fault UNKNOWN_TENANT, TENANT_MIGRATING, or MAINTENANCE for a change
   */
  enter(name: string, changes: boolean): Promise<Lease<AppServices>>
}

/** The tenant that an application serves. */
export interface OwnTenant {
  readonly id: string
  readonly name: string
  addKey(hash: string): Promise<void>
  dropKey(hash: string): Promise<void>
  /** Its maintenance (ERR-6); `undefined`: it is off. */
  maintenance(): Maintenance | undefined
}

/** What all requests of an application share; with tenants, all requests of one tenant. */
export interface AppServices {
  /** The tenants that it serves beside its own database, that of operators; `undefined`: none, or it is one. */
  readonly tenants: Tenants | undefined
  /** The tenant that it is; `undefined`: it is none. */
  readonly tenant: OwnTenant | undefined
  /** The catalog of the current version, in whose terms records are stored. */
  readonly catalog: Catalog
  readonly versions: Versions
  readonly storage: Storage
  /** Runs background jobs. */
  readonly runner: Pick<Runner, 'wake'>
  readonly files: Pick<ExportFiles, 'contentOf' | 'has' | 'drop'>
  readonly authenticate: Authenticate
  /** Authenticates by a function of the application, before keys and tokens; `undefined`: there is none. */
  readonly authenticateOwn: AuthenticateOwn | undefined
  /** `undefined`: requests are not limited. */
  readonly rates: RateLimiter | undefined
  readonly revocations: Revocations
  /** Called when a key was revoked, before that is answered; `undefined`: no other worker has cached it. */
  readonly onRevoked: (() => Promise<void>) | undefined
  readonly maintenance: Pick<MaintenanceWatch, 'current'>
  /** The streams of events; `undefined`: no resource is declared with events. */
  readonly streams: EventStreams | undefined
  readonly documents: Documents
  readonly compressor: Compressor
  readonly pages: AnswerPage
  /** Reads the metrics of the server as text; `undefined`: none are collected. */
  readonly readMetrics: (() => Promise<string>) | undefined
  readonly knownQueries: KnownQueries
  readonly observe: Observe
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The origins whose pages may read responses (OPT-3); `undefined`: none. */
  readonly cors: Cors | undefined
  /** Refuses requests that did not come over HTTPS (SEC-1). */
  readonly requireHttps: boolean
  /** Adds `Server-Timing` to responses (OPS-1). */
  readonly development: boolean
  readonly state: { stopping: boolean }
  /** The networks that webhooks may reach besides public addresses (EVT-10). */
  readonly webhookNetworks: readonly string[]
  /** Counts running requests. */
  readonly running: { began(): void; ended(): void }
}
