/** What all requests of an application share. */
import type { AddressPolicy } from 'resourced-contract/model/address-policy'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Cors } from '../http/cors.ts'
import type { ExportFiles } from '../jobs/export-files.ts'
import type { Runner } from '../jobs/runner.ts'
import type { Authenticate, Revocations } from '../policy/authenticate.ts'
import type { AuthenticateOwn } from '../policy/own-credentials.ts'
import type { KnownQueries } from '../request/list-query.ts'
import type { Storage } from '../storage/storage.ts'
import type { Versions } from '../versions/versions.ts'
import type { Compressor } from './compressor.ts'
import type { Documents } from './documents.ts'
import type { MaintenanceWatch } from './maintenance.ts'
import type { Observe } from './observe/observe.ts'
import type { AnswerPage } from './pages/page-server.ts'
import type { RateLimiter } from './rates/rate-limiter.ts'
import type { EventStreams } from './streams/event-streams.ts'

/** What all requests of an application share. */
export interface AppServices {
  /** The catalog of the current version, in whose terms records are stored. */
  readonly catalog: Catalog
  readonly versions: Versions
  readonly storage: Storage
  /** Runs background jobs. */
  readonly runner: Pick<Runner, 'wake'>
  readonly files: Pick<ExportFiles, 'pathOf' | 'has' | 'drop'>
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
  /** Which URLs webhooks may have (EVT-10). */
  readonly webhookAddresses: AddressPolicy
  /** Counts running requests. */
  readonly running: { began(): void; ended(): void }
}
