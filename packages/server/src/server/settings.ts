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

export const settings = {
  database: {
    flags: '--database <address>',
    help: 'Database: sqlite:FILE, sqlite::memory: or postgres://USER@HOST:5432/NAME',
    env: 'DATABASE_URL',
    default: defaultDatabase,
  },
  databasePooler: {
    flags: '--database-pooler <mode>',
    help: 'Pooler in front of PostgreSQL: transaction for PgBouncer in transaction mode',
    env: 'DATABASE_POOLER',
    default: 'none',
    choices: ['none', 'transaction'],
  },
  databaseReplica: {
    flags: '--database-replica <address>',
    help: 'PostgreSQL replica for reads, used while it is up to date',
    env: 'DATABASE_REPLICA_URL',
  },
  databasePool: {
    flags: '--database-pool <number>',
    help: 'Maximum number of PostgreSQL connections for transactions, of all workers',
    env: 'DATABASE_POOL',
    default: '10',
    read: wholeNumber(1, 9_999),
  },
  databaseUnsafe: {
    flags: '--database-unsafe',
    help: 'Accept a PostgreSQL that may lose acknowledged changes in a power cut (env: DATABASE_UNSAFE=true)',
    // As a variable of a flag, DATABASE_UNSAFE=false would mean true.
    otherwise: () => process.env['DATABASE_UNSAFE'] === 'true',
  },
  workers: {
    flags: '--workers <number>',
    help: 'Processes that serve, or auto: one for each core (default: auto with PostgreSQL, 1 with SQLite)',
    env: 'WORKERS',
    read: readWorkers,
  },
  host: { flags: '--host <address>', help: 'Address to listen on', env: 'HOST', default: '127.0.0.1' },
  port: {
    flags: '--port <number>',
    help: 'Port to listen on; 0 selects a free port',
    env: 'PORT',
    default: '8443',
    read: readPort,
  },
  // Files that are replaced are taken into use within ten seconds.
  tlsCert: {
    flags: '--tls-cert <file>',
    help: 'TLS certificate, PEM (default: a certificate for localhost is created)',
  },
  tlsKey: { flags: '--tls-key <file>', help: 'Private key of the TLS certificate, PEM' },
  http: { flags: '--http', help: 'Serve plain HTTP; only on the loopback interface' },
  // OPT-3
  corsOrigin: {
    flags: '--cors-origin <origin>',
    help: 'Origin whose web pages may read responses, or * for every origin',
    env: 'CORS_ORIGIN',
    isRepeatable: true,
  },
  // EVT-10
  webhookNetwork: {
    flags: '--webhook-network <network>',
    help: 'Network that webhooks may reach besides public addresses, such as 10.1.0.0/16',
    env: 'WEBHOOK_NETWORK',
    isRepeatable: true,
  },
  // OPT-5
  corsCredentials: {
    flags: '--cors-credentials',
    help: 'Allow web pages of these origins to send credentials; not together with *',
  },
  // AUT-2: all of the first three, or none.
  jwtIssuer: { flags: '--jwt-issuer <issuer>', help: 'Accept JWTs from this issuer', env: 'JWT_ISSUER' },
  jwtAudience: { flags: '--jwt-audience <audience>', help: 'Accept only JWTs for this audience', env: 'JWT_AUDIENCE' },
  jwtJwks: {
    flags: '--jwt-jwks <address>',
    help: "JWKS URL (https://…) or file with the issuer's public keys",
    env: 'JWT_JWKS',
  },
  jwtAlgorithms: {
    flags: '--jwt-algorithms <names>',
    help: 'Accepted JWT algorithms, comma-separated (default: all asymmetric ones)',
    env: 'JWT_ALGORITHMS',
    read: (names: string): readonly string[] => names.split(','),
  },
  jwtRolesClaim: {
    flags: '--jwt-roles-claim <claim>',
    help: 'JWT claim with the roles of the caller, such as realm_access.roles (default: roles)',
    env: 'JWT_ROLES_CLAIM',
  },
  console: {
    flags: '--console <state>',
    help: 'Serve the console, the web page at /console',
    env: 'CONSOLE',
    default: 'on',
    choices: ['on', 'off'],
  },
  consoleOpenidClient: {
    flags: '--console-openid-client <id>',
    help: 'Client id with which people sign in to the console at the issuer of --jwt-issuer',
    env: 'CONSOLE_OPENID_CLIENT',
  },
  consoleOpenidScope: {
    flags: '--console-openid-scope <scopes>',
    help: 'Scopes that the console asks for, separated by spaces (default: openid)',
    env: 'CONSOLE_OPENID_SCOPE',
  },
  basePath: {
    flags: '--base-path <path>',
    help: 'Path that all addresses begin with, such as /api',
    env: 'BASE_PATH',
  },
  // Plain HTTP unless a certificate is given; what did not come by HTTPS gets 403.
  trustProxy: {
    flags: '--trust-proxy',
    help: 'Use the Forwarded or X-Forwarded-* headers of the proxy in front of the server',
  },
  rateLimit: {
    flags: '--rate-limit <rates>',
    help: 'Enforce the declared rate limits, or no rate limits',
    default: 'declared',
    choices: ['declared', 'off'],
  },
  redis: {
    flags: '--redis <address>',
    help: 'Redis that shares rate limit counters between servers: redis:// or rediss://',
    env: 'REDIS_URL',
  },
  rateLimitOnFailure: {
    flags: '--rate-limit-on-failure <state>',
    help: 'While Redis fails: count on each server (open), or refuse (closed)',
    default: 'open',
    choices: ['open', 'closed'],
  },
  metricsPort: {
    flags: '--metrics-port <number>',
    help: 'Port of /metrics for Prometheus; 0 selects a free port (default: no port)',
    env: 'METRICS_PORT',
    read: readPort,
  },
  metricsHost: {
    flags: '--metrics-host <address>',
    help: 'Address of the metrics port, which is plain HTTP without authentication',
    env: 'METRICS_HOST',
    default: '127.0.0.1',
  },
  migrate: {
    flags: '--migrate <changes>',
    help: 'Schema changes that the server may make at start',
    default: 'additive',
    choices: ['additive', 'never'],
  },
  logLevel: {
    flags: '--log-level <level>',
    help: 'Least severe log level to write',
    env: 'LOG_LEVEL',
    default: 'info',
    choices: logLevels,
  },
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
