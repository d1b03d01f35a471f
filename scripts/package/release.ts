/**
 * Makes the packages that are published: from a fresh clone of one commit, after all of its tests have passed there. What
 * is only in the working tree, such as changed or ignored files and other versions of packages, cannot get into it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blockers, manifestBlockers } from './release-blockers.ts'

/** Packages that passed their tests. */
export interface Release {
  readonly commit: string
  readonly version: string
  readonly packages: readonly PackedPackage[]
}

/** A packed package. */
export interface PackedPackage {
  /** The file that npm publishes. */
  readonly tarball: string
  /** Of the tarball, as in lock files: `sha512-…`. */
  readonly integrity: string
}

/** Where the release is made. */
export interface ReleaseOptions {
  /** The root of the repository. */
  readonly folder: string
  /** Whether the registry has a version already. */
  readonly isPublished: (version: string) => boolean
  readonly print: (line: string) => void
}

/** The release cannot be made. The message says why, and what to do. */
export class ReleaseRefused extends Error {}

/**
 * Tests the commit in a fresh clone, and packs it.
 *
 * @throws ReleaseRefused
 */
export function prepareRelease(options: ReleaseOptions): Release {
  const { folder, print } = options
  const { commit, version } = checked(options)
  const clone = mkdtempSync(join(tmpdir(), 'resourced-release-'))
  try {
    git(tmpdir(), 'clone', '--quiet', '--no-hardlinks', folder, clone)
    git(clone, 'checkout', '--quiet', '--detach', commit)
    print(`Testing ${commit} in ${clone}.`)
    const failed = 'The tests failed: correct what they found, and commit it.'
    run(clone, join('.ci', 'run'), [], failed)
    run(clone, 'npm', ['run', 'test:release'], failed)
    if (git(clone, 'status', '--porcelain') !== '') {
      throw new ReleaseRefused('The tests changed files of the commit: a test must leave nothing behind.')
    }
    run(clone, 'npm', ['run', 'build'], 'The packages could not be built.')
    const releases = releaseFolder(folder)
    mkdirSync(releases, { recursive: true })
    const built = readdirSync(join(clone, 'dist')).map((name) => join(clone, 'dist', name))
    const release = { commit, version, packages: built.map((each) => packed(each, version, releases)) }
    writeFileSync(join(releases, 'release.json'), `${JSON.stringify(release, undefined, 2)}\n`)
    return release
  } finally {
    rmSync(clone, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Packs a built package. */
function packed(built: string, version: string, releases: string): PackedPackage {
  const manifest = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  const obstacles = manifestBlockers(manifest, version)
  if (obstacles.length > 0)
    throw new ReleaseRefused(['The built package cannot be published:', ...obstacles].join('\n- '))
  run(built, 'npm', ['pack', '--pack-destination', releases], 'The package could not be packed.')
  const tarball = join(releases, `${manifest.name}-${version}.tgz`)
  return { tarball, integrity: integrityOf(tarball) }
}

/**
 * The release that was prepared for the current commit.
 *
 * @throws ReleaseRefused if there is none, or anything has changed since
 */
export function preparedRelease(options: ReleaseOptions): Release {
  const { commit, version } = checked(options)
  const again = 'Run npm run release, which tests and packs this commit.'
  let release: Release
  try {
    release = JSON.parse(readFileSync(join(releaseFolder(options.folder), 'release.json'), 'utf8')) as Release
  } catch {
    throw new ReleaseRefused(`No release has been prepared. ${again}`)
  }
  if (release.commit !== commit || release.version !== version) {
    throw new ReleaseRefused(`The prepared release is ${release.version} of ${release.commit}. ${again}`)
  }
  const changed = release.packages.find(({ tarball, integrity }) => integrityOf(tarball) !== integrity)
  if (changed !== undefined) throw new ReleaseRefused(`${changed.tarball} is not the file that was tested. ${again}`)
  return release
}

/** The commit and the version to release, if nothing is in the way. */
function checked({ folder, isPublished }: ReleaseOptions): { readonly commit: string; readonly version: string } {
  git(folder, 'fetch', '--quiet', '--tags', 'origin', 'main')
  const commit = git(folder, 'rev-parse', 'HEAD')
  const { version, private: isPrivate } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const found = blockers({
    changedFiles: git(folder, 'status', '--porcelain').split('\n').filter(Boolean),
    isPushed: git(folder, 'merge-base', commit, 'origin/main') === commit,
    isRootPrivate: isPrivate === true,
    version,
    changelog: readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'),
    isTagged: git(folder, 'tag', '--list', `v${version}`) !== '',
    isPublished: isPublished(version),
  })
  if (found.length > 0) throw new ReleaseRefused(['This cannot be released:', ...found].join('\n- '))
  return { commit, version }
}

function releaseFolder(folder: string): string {
  return join(folder, '.resourced', 'release')
}

function integrityOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
}

function git(folder: string, ...given: readonly string[]): string {
  return execFileSync('git', given, { cwd: folder, encoding: 'utf8' }).trimEnd()
}

function run(folder: string, command: string, given: readonly string[], refusal: string): void {
  // A release waits for all tests, however long they take.
  const env = { ...process.env, TEST_UNTIL: 'Infinity' }
  const { status } = spawnSync(command, given, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new ReleaseRefused(refusal)
}
