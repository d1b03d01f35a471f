/** A PostgreSQL server of a test's own: on loopback, its data thrown away, gone when the test ends however it ends. */
import { randomBytes } from 'node:crypto'
import { chownSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localCertificate } from '../../packages/server/src/server/node/certificates.ts'
import { account, fastFolder, temporaryFolder } from './account.ts'
import { freePort } from './free-port.ts'
import { initialize, type Postmaster, postmasterOf, type Settings } from './postmaster.ts'
import { inReach, type Programs, programsOf, type Version } from './programs.ts'
import { query } from './query.ts'
import { type Guarded, guardedFolder } from './watchdog.ts'

/** How a cluster is started. */
export interface ClusterOptions {
  /** 18 unless said. */
  readonly version?: Version
  /** Over those that make tests fast. */
  readonly settings?: Settings
  /** Whether it writes as safely as a real one. It does not, unless said: its data is thrown away. */
  readonly fsync?: boolean
  /** Takes connections by TLS only; `caFile` says whom to trust. */
  readonly tls?: boolean
}

/** A running cluster. */
export interface Cluster {
  readonly version: Version
  readonly port: number
  /** The database `postgres` as an ordinary role, who owns it and may make tables there, and nothing else. */
  readonly url: string
  /** The same as the superuser. */
  readonly adminUrl: string
  /** The certificate to trust, where it speaks TLS. */
  readonly caFile: string | undefined
  /** Where its log and its data are. */
  readonly folder: string
  /** Makes an empty database that the ordinary role owns; gives its address. */
  createDatabase(): Promise<string>
  /**
   * Stops it after rolling back what runs (or starts it where it was killed), with other settings beside the present.
   */
  restart(settings?: Settings): Promise<void>
  /** Ends it as a crash does (SIGKILL). */
  kill(): Promise<void>
  /** Ends it for good. */
  stop(): Promise<void>
}

/** What a server is made of, for those that are made of another: a replica. */
export interface Parts {
  readonly version: Version
  readonly programs: Programs
  readonly guarded: Guarded
  readonly postmaster: Postmaster
  readonly password: string
  readonly tls: boolean
}

/** A cluster's parts, and how it was set when it was started. */
export interface RunningParts extends Parts {
  readonly settings: Settings
}

// Real databases sort by a language, keep local time and write dates in a way of their own: nothing may depend on it.
const usual: Settings = {
  timezone: 'Asia/Kathmandu',
  datestyle: 'SQL, DMY',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300,
  shared_buffers: '64MB',
  autovacuum: 'off',
  checkpoint_timeout: '1h',
  max_wal_size: '256MB',
  // Docker's /dev/shm is small.
  dynamic_shared_memory_type: 'mmap',
  log_line_prefix: '%m [%p] ',
}
const careless: Settings = { fsync: 'off', full_page_writes: 'off' }

/**
 * Starts a cluster.
 *
 * @throws Error where the version is missing or does not start: it says why, with the end of the server's log
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { version = '18', fsync = false, tls = false } = options
  // What is meant to be safe belongs on a disk, and programs may not be run from memory.
  const guarded = guardedFolder(fsync || !inReach(version) ? temporaryFolder() : fastFolder())
  try {
    const programs = programsOf(version, guarded.folder)
    const password = randomBytes(16).toString('hex')
    await makeData(programs, guarded.folder, password, tls)
    const postmaster = postmasterOf(programs, guarded.folder)
    const settings = { ...usual, ...(fsync ? {} : careless), ...tlsSettings(tls), ...options.settings }
    const cluster = await run({ version, programs, guarded, postmaster, password, tls }, settings)
    // Passwords are random, so they need no thousands of rounds of hashing in every connection. 15 has no setting.
    const rounds = version === '15' ? '' : 'set scram_iterations = 1; '
    await query(cluster.adminUrl, `${rounds}create role resourced login password '${password}'`)
    await query(cluster.adminUrl, 'alter database postgres owner to resourced')
    return cluster
  } catch (error) {
    await guarded.remove()
    throw error
  }
}

/** Starts what is ready in a folder. */
export async function run(parts: Parts, settings: Settings): Promise<Cluster> {
  const { version, guarded, postmaster, password, tls } = parts
  const caFile = tls ? join(guarded.folder, 'localhost.pem') : undefined
  const trust = caFile === undefined ? '' : `?sslmode=verify-full&sslrootcert=${encodeURIComponent(caFile)}`
  let present = settings
  const addressOf = (port: number, role: string, database = 'postgres') =>
    `postgres://${role}:${password}@127.0.0.1:${port}/${database}${trust}`
  const start = (port: number) => postmaster.start({ ...present, port }, addressOf(port, 'postgres'))
  const port = await onFreePort(start)
  const adminUrl = addressOf(port, 'postgres')
  const cluster: Cluster = {
    ...{ version, port, adminUrl, caFile, folder: guarded.folder, url: addressOf(port, 'resourced') },
    async createDatabase() {
      const name = `trial_${randomBytes(8).toString('hex')}`
      // Copying files is the faster strategy where nothing waits for the disk.
      await query(adminUrl, `create database ${name} owner resourced template template0 strategy file_copy`)
      return addressOf(port, 'resourced', name)
    },
    async restart(changed = {}) {
      present = { ...present, ...changed }
      await postmaster.end('SIGINT')
      await start(port)
    },
    kill: () => postmaster.end('SIGKILL'),
    async stop() {
      await postmaster.end('SIGQUIT')
      await guarded.remove()
    },
  }
  partsByCluster.set(cluster, { ...parts, settings })
  return cluster
}

const partsByCluster = new WeakMap<Cluster, RunningParts>()

/** What a cluster is made of. */
export function partsOf(cluster: Cluster): RunningParts {
  return partsByCluster.get(cluster) as RunningParts
}

async function makeData(programs: Programs, folder: string, password: string, tls: boolean): Promise<void> {
  const secret = join(folder, 'password')
  keep(secret, password)
  await initialize(programs, folder, [
    ...['--username=postgres', `--pwfile=${secret}`, '--auth=scram-sha-256', '--encoding=UTF8', '--no-sync'],
    ...['--no-instructions', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'],
  ])
  const kind = tls ? 'hostssl' : 'host'
  const lines = ['all', 'replication'].map((database) => `${kind} ${database} all 127.0.0.1/32 scram-sha-256\n`)
  keep(join(folder, 'data', 'pg_hba.conf'), lines.join(''))
  if (!tls) return
  const { cert, key, caFile } = await localCertificate(join(folder, 'tls'))
  copyFileSync(caFile, join(folder, 'localhost.pem'))
  keep(join(folder, 'server.crt'), cert)
  keep(join(folder, 'server.key'), key)
}

function tlsSettings(tls: boolean): Settings {
  return tls ? { ssl: 'on', ssl_cert_file: '../server.crt', ssl_key_file: '../server.key' } : {}
}

function keep(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
  if (account !== undefined) chownSync(file, account.uid, account.gid)
}

/** Between finding a port and taking it another may have taken it. */
async function onFreePort(start: (port: number) => Promise<void>): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      await start(port)
      return port
    } catch (error) {
      if (attempt === 5 || !/could not bind/.test(String(error))) throw error
    }
  }
}
