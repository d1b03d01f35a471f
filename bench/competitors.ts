/** Servers that others made, and the packages of the one made by hand: installed outside of this repository. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** Another server. */
export interface Competitor {
  readonly name: string
  readonly package: string
}

export const jsonServer: Competitor = { name: 'json-server', package: 'json-server@0.17.4' }
export const platformatic: Competitor = { name: 'Platformatic DB', package: '@platformatic/db@3.67.0' }

/** The records that all servers are given: as our own server shows them. */
export type Records = Readonly<Record<'countries' | 'cities', readonly Readonly<Record<string, unknown>>[]>>

const packages = join(tmpdir(), 'resourced-bench/packages')

/** Where a server is installed. */
export function folderOf(competitor: Competitor): string {
  return join(packages, competitor.package.replaceAll(/[^a-z0-9.]+/g, '-').replace(/^-/, ''))
}

/**
 * Installs a server outside of this repository, unless it is there already.
 *
 * @throws Error with npm's own words
 */
export function install(competitor: Competitor): void {
  npm(folderOf(competitor), ['install', '--save-exact', competitor.package], (draft) =>
    writeFileSync(join(draft, 'package.json'), '{ "private": true }\n'),
  )
}

/**
 * Installs the packages of a folder that has a lock file, outside of this repository, unless they are there already.
 *
 * @returns the folder that has them
 * @throws Error with npm's own words
 */
export function installLocked(source: string): string {
  const lock = readFileSync(join(source, 'package-lock.json'))
  const folder = join(packages, `${basename(source)}-${hashOf(lock)}`)
  npm(folder, ['ci'], (draft) => {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(source, name), join(draft, name))
  })
  return join(folder, 'node_modules')
}

function npm(folder: string, args: readonly string[], prepare: (draft: string) => void): void {
  // What is compiled must be compiled for the Node that runs it, not for the one that is installed here.
  const env = { ...process.env, npm_config_nodedir: dirname(dirname(process.execPath)) }
  once(folder, (draft) => {
    prepare(draft)
    run('npm', [...args, '--no-audit', '--no-fund'], draft, env)
  })
}

/**
 * Builds a Go program outside of this repository, unless it is there already.
 *
 * @param source a folder with `go.mod` and `main.go`
 * @returns the program
 * @throws Error with the words of `go`, or if there is no Go
 */
export function buildGo(source: string): string {
  const lock = readFileSync(join(source, 'go.mod'))
  const folder = join(packages, `${basename(source)}-${hashOf(lock)}`)
  once(folder, (draft) => {
    for (const name of ['go.mod', 'main.go']) copyFileSync(join(source, name), join(draft, name))
    const path = `${process.env['PATH']}:/usr/local/go/bin`
    const env = { ...process.env, PATH: path, GOTOOLCHAIN: 'local' }
    run('go', ['build', '-mod=mod', '-o', 'program', '.'], draft, env)
  })
  return join(folder, 'program')
}

/** Fills a folder that takes its name once everything is there: several runs may need it at the same time. */
function once(folder: string, fill: (draft: string) => void): void {
  if (existsSync(folder)) return
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  try {
    fill(draft)
    if (!existsSync(folder)) renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): void {
  const { error, status, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (error !== undefined) throw new Error(`${command} is not installed: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr?.slice(-500)}`)
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12)
}
