/** Empty databases for tests, on a cluster that all files of a run share. */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { startCluster } from './cluster.ts'
import { type Version, whyNoPostgres } from './programs.ts'

/** The version that a run asks for (TEST_POSTGRES_VERSION): 18 unless said. */
export function versionAsked(): Version {
  const asked = process.env.TEST_POSTGRES_VERSION ?? '18'
  if (asked === '18' || asked === '15') return asked
  throw new Error(`TEST_POSTGRES_VERSION is ${asked}: 18 and 15 are known.`)
}

/** Why no database can be had; `undefined`: one can. */
export const whyNoDatabase = process.env.TEST_POSTGRES === undefined ? whyNoPostgres(versionAsked()) : undefined

/** A database that has just been made. */
export interface EmptyDatabase {
  /** Its address, as its owner, an ordinary role. */
  readonly url: string
  /** Removes it, whoever is connected. */
  remove(): Promise<void>
}

/** Makes an empty database, of a name that nobody else takes. */
export const emptyDatabase = (): Promise<EmptyDatabase> => copyOf('template0')

/** Makes a copy of a database, by its name; nobody may be connected to that. */
export async function copyOf(template: string): Promise<EmptyDatabase> {
  const admin = await administrator()
  const name = `trial_${randomBytes(8).toString('hex')}`
  // Copying files is the faster strategy where nothing waits for the disk.
  await admin.run(`create database ${name} owner resourced template ${template} strategy file_copy`)
  const url = new URL(admin.url)
  url.username = 'resourced'
  url.pathname = `/${name}`
  return { url: url.href, remove: () => admin.run(`drop database ${name} with (force)`) }
}

/** The same, removed when the test ends. */
export async function databaseFor(context: TestContext): Promise<string> {
  const { url, remove } = await emptyDatabase()
  context.after(remove)
  return url
}

interface Administrator {
  readonly url: string
  run(text: string): Promise<void>
}

let connected: Promise<Administrator> | undefined

/** Few connections for a test file, which do not keep it from ending. */
function administrator(): Promise<Administrator> {
  connected ??= (async () => {
    // A file that is run by itself has a cluster of its own, which ends with it.
    const url = process.env.TEST_POSTGRES ?? (await startCluster({ version: versionAsked() })).adminUrl
    const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 30_000, max: 2, allowExitOnIdle: true })
    pool.on('error', () => {})
    return {
      url,
      async run(text) {
        await pool.query(text)
      },
    }
  })()
  return connected
}
