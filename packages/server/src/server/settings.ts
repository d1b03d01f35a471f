/**
 * The settings of a server: a table from which the command line, the types of the settings, their checks and the
 * reference page of the configuration come.
 */
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { defaultDatabase } from './database-address.ts'
import { logLevels } from './observe/log.ts'

/** A row of the table. The name of a setting is that of its flag: `--base-path` is `basePath`. */
export interface Setting {
  /** The flag, with the name of its value where it takes one. */
  readonly flags: string
  readonly help: string
  /** The environment variable. */
  readonly env?: string
  /** As on the command line. A default that depends on something is said by the help. */
  readonly default?: string
  /** The only values. */
  readonly choices?: readonly string[]
  /** Whether several values can be given; `none` describes the default. */
  readonly isRepeatable?: boolean
  /**
   * Reads the text.
   *
   * @throws UsageError with the flag, where it is no value
   */
  readonly read?: (text: string, flag: string) => unknown
  /** The value where none is given. */
  readonly otherwise?: () => unknown
}

/** A reader of whole numbers in a range. */
function wholeNumber(least: number, most: number) {
  return (text: string, flag: string): number => {
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new UsageError(`${flag} takes a number from ${least} to ${most}, not ${JSON.stringify(text)}.`)
  }
}

/** Reads a port; 0 is a free one. */
export const readPort = wholeNumber(0, 65_535)

function readWorkers(text: string, flag: string): 'auto' | number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (text === 'auto') return text
  if (number >= 1 && number <= 1_024) return number
  throw new UsageError(`${flag} takes a number from 1 to 1024, or auto, not ${JSON.stringify(text)}.`)
}

const readList = (text: string): readonly string[] => text.split(',')

/** In the order in which the help lists them. */
// biome-ignore format: a table
export const settings = {
  database: { flags: '--database <address>', env: 'DATABASE_URL', default: defaultDatabase,
    help: 'Database: sqlite:FILE, sqlite::memory: or postgres://USER@HOST:5432/NAME' },
  databasePooler: { flags: '--database-pooler <mode>', env: 'DATABASE_POOLER', default: 'none',
    choices: ['none', 'transaction'],
    help: 'Pooler in front of PostgreSQL: transaction for PgBouncer in transaction mode' },
  databaseReplica: { flags: '--database-replica <address>', env: 'DATABASE_REPLICA_URL',
    help: 'PostgreSQL replica for reads, used while it is up to date' },
  databasePool: { flags: '--database-pool <number>', env: 'DATABASE_POOL', default: '10', read: wholeNumber(1, 9_999),
    help: 'Maximum number of PostgreSQL connections for transactions, of all workers' },
  // As a variable of a flag, DATABASE_UNSAFE=false would mean true.
  databaseUnsafe: { flags: '--database-unsafe', otherwise: () => process.env['DATABASE_UNSAFE'] === 'true',
    help: 'Accept a PostgreSQL that may lose acknowledged changes in a power cut (env: DATABASE_UNSAFE=true)' },
  workers: { flags: '--workers <number>', env: 'WORKERS', read: readWorkers,
    help: 'Threads that answer requests, or auto: one for each core (default: auto with PostgreSQL, 1 with SQLite)' },
  host: { flags: '--host <address>', env: 'HOST', default: '127.0.0.1', help: 'Address to listen on' },
  port: { flags: '--port <number>', env: 'PORT', default: '8443', read: readPort,
    help: 'Port to listen on; 0 selects a free port' },
  // Files that are replaced are taken into use within ten seconds.
  tlsCert: { flags: '--tls-cert <file>',
    help: 'TLS certificate, PEM (default: a certificate for localhost is created)' },
  tlsKey: { flags: '--tls-key <file>', help: 'Private key of the TLS certificate, PEM' },
  http: { flags: '--http', help: 'Serve plain HTTP; only on the loopback interface' },
  // OPT-3
  corsOrigin: { flags: '--cors-origin <origin>', env: 'CORS_ORIGIN', isRepeatable: true,
    help: 'Origin whose web pages may read responses, or * for every origin' },
  // EVT-10
  webhookNetwork: { flags: '--webhook-network <network>', env: 'WEBHOOK_NETWORK', isRepeatable: true,
    help: 'Network that webhooks may reach besides public addresses, such as 10.1.0.0/16' },
  // OPT-5
  corsCredentials: { flags: '--cors-credentials',
    help: 'Allow web pages of these origins to send credentials; not together with *' },
  // AUT-2: all of the first three, or none.
  jwtIssuer: { flags: '--jwt-issuer <issuer>', env: 'JWT_ISSUER', help: 'Accept JWTs from this issuer' },
  jwtAudience: { flags: '--jwt-audience <audience>', env: 'JWT_AUDIENCE', help: 'Accept only JWTs for this audience' },
  jwtJwks: { flags: '--jwt-jwks <address>', env: 'JWT_JWKS',
    help: "JWKS URL (https://…) or file with the issuer's public keys" },
  jwtAlgorithms: { flags: '--jwt-algorithms <names>', env: 'JWT_ALGORITHMS', read: readList,
    help: 'Accepted JWT algorithms, comma-separated (default: all asymmetric ones)' },
  jwtRolesClaim: { flags: '--jwt-roles-claim <claim>', env: 'JWT_ROLES_CLAIM',
    help: 'JWT claim with the roles of the caller, such as realm_access.roles (default: roles)' },
  console: { flags: '--console <state>', env: 'CONSOLE', default: 'on', choices: ['on', 'off'],
    help: 'Serve the console, the web page at /console' },
  consoleOpenidClient: { flags: '--console-openid-client <id>', env: 'CONSOLE_OPENID_CLIENT',
    help: 'Client id with which people sign in to the console at the issuer of --jwt-issuer' },
  consoleOpenidScope: { flags: '--console-openid-scope <scopes>', env: 'CONSOLE_OPENID_SCOPE',
    help: 'Scopes that the console asks for, separated by spaces (default: openid)' },
  basePath: { flags: '--base-path <path>', env: 'BASE_PATH', help: 'Path that all addresses begin with, such as /api' },
  // Plain HTTP unless a certificate is given; what did not come by HTTPS gets 403.
  trustProxy: { flags: '--trust-proxy',
    help: 'Use the Forwarded or X-Forwarded-* headers of the proxy in front of the server' },
  rateLimit: { flags: '--rate-limit <rates>', default: 'declared', choices: ['declared', 'off'],
    help: 'Enforce the declared rate limits, or no rate limits' },
  redis: { flags: '--redis <address>', env: 'REDIS_URL',
    help: 'Redis that shares rate limit counters between servers: redis:// or rediss://' },
  rateLimitOnFailure: { flags: '--rate-limit-on-failure <state>', default: 'open', choices: ['open', 'closed'],
    help: 'While Redis fails: count on each server (open), or refuse (closed)' },
  metricsPort: { flags: '--metrics-port <number>', env: 'METRICS_PORT', read: readPort,
    help: 'Port of /metrics for Prometheus; 0 selects a free port (default: no port)' },
  metricsHost: { flags: '--metrics-host <address>', env: 'METRICS_HOST', default: '127.0.0.1',
    help: 'Address of the metrics port, which is plain HTTP without authentication' },
  migrate: { flags: '--migrate <changes>', default: 'additive', choices: ['additive', 'never'],
    help: 'Schema changes that the server may make at start' },
  logLevel: { flags: '--log-level <level>', env: 'LOG_LEVEL', default: 'info', choices: logLevels,
    help: 'Least severe log level to write' },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings

type ValueOf<Row extends Setting> = Row extends { readonly read: (...given: never[]) => infer Value }
  ? Value
  : Row extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : Row extends { readonly isRepeatable: true }
      ? readonly string[]
      : Row extends { readonly flags: `${string}<${string}` }
        ? string
        : boolean

/** The settings as they were read. */
export type Settings = { readonly [Name in SettingName]?: ValueOf<(typeof settings)[Name]> | undefined }

/**
 * Reads the settings among the options of a command.
 *
 * @param names of all options that the command has
 * @throws UsageError if a value cannot be read
 */
export function readSettings(options: Readonly<Record<string, unknown>>, names: readonly string[]) {
  const read: Record<string, unknown> = { ...options }
  for (const [name, row] of Object.entries<Setting>(settings)) {
    if (!names.includes(name)) continue
    const given = options[name]
    if (given === undefined) read[name] = row.otherwise?.()
    else if (row.read !== undefined) read[name] = row.read(String(given), row.flags.split(' ')[0] as string)
  }
  return read
}
