/** Serves an interface: connects a catalog, a database and a socket. */
import { join } from 'node:path'
import { addressPolicy } from 'resourced-contract/model/address-policy'
import type { Catalog } from 'resourced-contract/model/resource'
import { readCors } from '../http/cors.ts'
import { MigrationRefused, type MigrationStep } from '../storage/migration/migration-step.ts'
import { onlyVersion, type Versions } from '../versions/versions.ts'
import { type Application, assemble } from './app.ts'
import { loadVerification, readJwt } from './jwt.ts'
import { liveApp } from './live-app.ts'
import {
  type CertificateFiles,
  type CertificatePair,
  certificateFor,
  localCertificate,
  readCertificate,
  watchCertificate,
} from './node/certificates.ts'
import { createNodeServer } from './node/listener.ts'
import { createMetricsServer } from './node/metrics-server.ts'
import { collectMetrics } from './observe/metrics.ts'
import type { Observe } from './observe/observe.ts'
import { loadTracing } from './observe/tracing.ts'
import { administer, catalogAt, type DatabaseOptions } from './open-database.ts'
import { openServed, refusalOfTenants } from './open-served-database.ts'
import { readConsole } from './pages/console-settings.ts'
import { loadRedis } from './rates/redis-counter.ts'
import type { Settings } from './settings.ts'
import type { ThreadLink } from './threads/thread-link.ts'

/** How an interface is served. */
export interface ServeOptions extends Settings {
  readonly database: string
  readonly host: string
  readonly port: number
  /** The catalog of the current version. */
  readonly catalog: Catalog
  /** By default, the catalog is the only version. */
  readonly versions?: Versions
  readonly observe?: Observe
  /** The folder of the local certificate. */
  readonly folder?: string
  readonly development?: boolean
  /** Set in a thread of several: the main thread has the port and the metrics. */
  readonly thread?: ThreadLink | undefined
}

/** An interface being served. */
export interface Serving {
  /** The address of the interface, with the version if paths have it: `https://127.0.0.1:8443/v1`. */
  readonly url: string
  /** The address without the version: `https://127.0.0.1:8443`. */
  readonly origin: string
  /** The certificate to trust, if a local one is used. */
  readonly caFile: string | undefined
  /** The address of the metrics, such as `http://127.0.0.1:9464/metrics`. */
  readonly metricsUrl: string | undefined
  /** The application that answers requests now. */
  readonly app: Application
  /**
   * Serves another declaration from the same database, from one request to the next. Makes the migration that it needs
   * if the migration loses nothing, or `mayLose` accepts its steps.
   *
   * @throws MigrationRefused where the migration is not accepted, or impossible; the former declaration stays
   */
  replace(next: Versions, mayLose: MayLose): Promise<Replaced>
  /** Stops accepting requests, finishes the running ones, and closes the database (OPS-2). */
  close(): Promise<void>
}

/** Decides whether steps that lose data may be taken. */
export type MayLose = (steps: readonly MigrationStep[]) => boolean

/** A declaration that is served now. */
export interface Replaced extends Pick<Serving, 'url'> {
  /** What was changed in the database. */
  readonly steps: readonly MigrationStep[]
}

/**
 * Serves a catalog.
 *
 * @throws ConfigurationError if the options contradict each other
 * @throws MigrationRefused if the database does not fit the catalog
 * @throws Error of the system, such as `EADDRINUSE`
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { catalog, versions = onlyVersion(options.catalog), host, port, trustProxy = false, thread } = options
  const cors = readCors(options.corsOrigin, options.corsCredentials)
  addressPolicy(options.webhookNetwork)
  const jwt = readJwt({
    issuer: options.jwtIssuer,
    audience: options.jwtAudience,
    jwks: options.jwtJwks,
    algorithms: options.jwtAlgorithms,
    rolesClaim: options.jwtRolesClaim,
  })
  const { consoleOpenidClient: client = '', consoleOpenidScope: scope } = options
  const console = readConsole(options.console === 'off' ? false : { openid: { client, scope } }, jwt)
  const { tls, files, caFile } = await certificate(options)
  const metrics = await collectMetrics()
  await loadAhead(options)
  const observe: Observe = (observation) => {
    options.observe?.(observation)
    metrics.observe(observation)
  }
  const open = async (catalog: Catalog, versions: Versions) => {
    await thread?.writer?.opened()
    const opened = await openServed(options, catalog, {
      migrate: options.migrate,
      failed: (error) => observe({ kind: 'failure', requestId: 'tenants', error, task: 'other' }),
      wakes: thread?.isFirst,
      onCommit: (commit) => metrics.observe({ kind: 'commit', ...commit }),
      onReplica: (news) => observe({ kind: 'replica', ...news }),
      writer: thread?.writer,
    })
    return assemble(catalog, opened, {
      versions,
      observe,
      cors,
      jwt,
      console,
      rateLimit: options.rateLimit,
      redis: options.redis,
      counter: thread?.counter,
      streamPlaces: thread?.streamPlaces,
      onRevoked: thread && (() => thread.main.call('revoked')),
      rateLimitOnFailure: options.rateLimitOnFailure,
      requireHttps: options.http !== true || trustProxy,
      development: options.development,
      webhookNetworks: options.webhookNetwork,
      readMetrics: thread === undefined ? metrics.read : () => thread.main.call('metrics'),
    })
  }
  const app = liveApp(await open(catalog, versions))
  const server = createNodeServer({
    respond: app.respond,
    problem: app.refuse,
    tls,
    trustProxy,
    basePath: versions.basePath,
    onClientError: ({ code }) => observe({ kind: 'unreadable', code }),
    onRejected: () => observe({ kind: 'turned-away' }),
  })
  const hasPort = options.metricsPort !== undefined && thread === undefined
  const metricsServer = hasPort ? createMetricsServer(metrics) : undefined
  let origin: string
  let metricsUrl: string | undefined
  try {
    metricsUrl = await metricsServer?.listen(options.metricsHost ?? '127.0.0.1', options.metricsPort ?? 0)
    const place = await thread?.join({ metrics: metrics.report, forgetKeys: () => app.current.forgetKeys() })
    metricsUrl ??= place?.metricsUrl
    origin = await server.listen(host, place?.port ?? port, place)
    await thread?.main.call('listens', app.current.server)
  } catch (error) {
    await metricsServer?.close()
    await app.close()
    throw error
  }
  const unwatch =
    files === undefined || tls === undefined
      ? undefined
      : watchCertificate(files, tls, server.renewCertificate, { observe })
  void app.current.runner.maintain()
  const url = `${origin}${versions.current.basePath}`
  if (metricsUrl !== undefined) observe({ kind: 'metrics', url: metricsUrl })
  observe({ kind: 'listening', url, server: app.current.server })
  return {
    url,
    origin,
    caFile,
    metricsUrl,
    get app() {
      return app.current
    },
    async replace(next, mayLose) {
      let steps: readonly MigrationStep[] = []
      await app.replace(async () => {
        steps = await migrateTo(options, next.stored, mayLose)
        return open(next.stored, next)
      })
      void app.current.runner.maintain()
      return { url: `${origin}${next.current.basePath}`, steps }
    },
    async close() {
      unwatch?.()
      await server.close()
      await app.close()
      // Metrics show what is still running until the end.
      await metricsServer?.close()
      observe({ kind: 'stopped' })
    },
  }
}

/**
 * Loads modules that requests would load later: a process that has no file descriptor left could not. Those that no
 * request will need stay out of memory.
 */
async function loadAhead({ jwtIssuer, redis }: Pick<ServeOptions, 'jwtIssuer' | 'redis'>): Promise<void> {
  await Promise.all([
    jwtIssuer === undefined ? undefined : loadVerification(),
    redis === undefined ? undefined : loadRedis(),
    loadTracing(),
  ])
}

/**
 * Makes the migration that a database needs for a catalog, even if it undoes one to a newer declaration.
 *
 * @returns the steps taken
 * @throws MigrationRefused where the migration loses data and `mayLose` does not accept it, or is impossible
 */
export async function migrateTo(
  database: DatabaseOptions,
  catalog: Catalog,
  mayLose: MayLose,
): Promise<readonly MigrationStep[]> {
  const { migrate } = await administer(database)
  const own = catalogAt(database, catalog)
  const planned = await migrate(own, 'additive')
  if (planned.applied || planned.steps.length === 0) return planned.steps
  // What tenants would replace is not asked about.
  const refused = new MigrationRefused(planned.steps)
  if (own !== catalog) throw refusalOfTenants(refused)
  if (!mayLose(planned.steps)) throw refused
  return (await migrate(own, 'all')).steps
}

interface Certificate {
  readonly tls?: CertificatePair
  /** The files that an operator provides. */
  readonly files?: CertificateFiles
  readonly caFile?: string
}

async function certificate(options: ServeOptions): Promise<Certificate> {
  const files = certificateFor(options)
  if (files === 'none') return {}
  if (files !== 'local') return { tls: readCertificate(files), files }
  const { cert, key, caFile } = await localCertificate(join(options.folder ?? '.resourced', 'tls'))
  return { tls: { cert, key }, caFile }
}
