/** Applications that have installed the package: built, packed and installed once, for all tests of it. */
import assert from 'node:assert/strict'
import { execFile, type SpawnSyncReturns, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { buildPackage } from '../../scripts/package/build-package.ts'
import { type Contents, resourced } from '../../scripts/package/contents.ts'

const run = promisify(execFile)
const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']

/** Why the tests cannot run here; `false`: they can. */
export const cannotRun =
  process.platform === 'linux' && process.arch === 'x64'
    ? false
    : 'the runtimes that tools/package-lock.json names are those of Linux on x64'

/** The package, and a folder that has installed nothing else. */
export interface Consumer {
  /** The built package, as `npm run build` writes it. */
  readonly built: string
  readonly tarball: string
  /** The folder of an application, with the package in its `node_modules`. */
  readonly folder: string
  /** The folder with the runtimes and checks of `tools/package.json` in its `node_modules`. */
  readonly tools: string
  remove(): Promise<void>
}

/**
 * Builds and packs a package, and installs it into an empty folder.
 *
 * @param contents default: those of `resourced`
 * @param needsTools whether the runtimes and checks are installed too, which takes far longer; else `tools` is empty
 */
export async function installPackage({ contents = resourced as Contents, needsTools = true } = {}): Promise<Consumer> {
  const base = await mkdtemp(join(tmpdir(), 'resourced-package-'))
  const [built, folder, tools] = ['dist', 'application', 'tools'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ]
  const remove = () => rm(base, { recursive: true, force: true, maxRetries: 5 })
  try {
    await Promise.all([mkdir(folder), mkdir(tools)])
    await buildPackage(contents, built)
    const packed = await run('npm', ['pack', '--json', '--pack-destination', base], { cwd: built })
    const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }]
    const tarball = join(base, filename)
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    await run('npm', ['install', ...quiet, tarball], { cwd: folder })
    if (needsTools) {
      for (const name of ['package.json', 'package-lock.json']) {
        await cp(join(import.meta.dirname, 'tools', name), join(tools, name))
      }
      await run('npm', ['ci', ...quiet], { cwd: tools })
    }
    return { built, tarball, folder, tools, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** A program that runs JavaScript: the words before the file. */
export interface Runtime {
  readonly name: string
  readonly command: readonly [string, ...string[]]
}

/** Every runtime that works, by the packages of `tools/package.json`. The newest Node.js is the one of the tests. */
export function runtimes({ tools }: Consumer): readonly Runtime[] {
  const bin = (path: string) => join(tools, 'node_modules', path)
  return [
    { name: 'Node.js 24.15', command: [bin('node-24/bin/node')] },
    { name: `Node.js ${process.versions.node}`, command: [process.execPath] },
    { name: 'Bun', command: [bin('@oven/bun-linux-x64/bin/bun')] },
    { name: 'Deno', command: [bin('@deno/linux-x64-glibc/deno'), 'run', '--allow-all', '--no-lock'] },
  ]
}

/** Runs a program to its end, whatever its exit code. */
export async function runToEnd(
  command: readonly string[],
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Pick<SpawnSyncReturns<string>, 'status' | 'stdout' | 'stderr'>> {
  const [program = '', ...given] = command
  const child = spawn(program, given, { cwd: folder, env: { ...plainEnvironment(), ...variables } })
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject)),
  ])
  return { status, stdout, stderr }
}

/** The environment without what npm and the test runner put there, which an application has not. */
export function plainEnvironment(): Record<string, string> {
  const { HOME = tmpdir(), PATH = '' } = process.env
  const path = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return { HOME, PATH: path.join(delimiter), NO_COLOR: '1' }
}

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  let whole = ''
  for await (const chunk of stream) whole += chunk.toString()
  return whole
}

/** The bytes that a folder takes on a disk with blocks of 4 KiB. */
export async function sizeOnDisk(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', folder])
  return Number.parseInt(stdout, 10) * 1024
}

/** The files of a folder, with `/`, without what stands below the named ones. */
export async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
}

/** A server that an application has started. */
export interface Served {
  readonly url: string
  /** Sends SIGTERM to the process and its children, as a terminal or a service manager does, and waits for their end. */
  stop(): Promise<string>
}

/**
 * Starts a command that serves, and waits until it listens.
 *
 * @returns what it printed, if it ends before
 */
export async function startServing(
  command: readonly string[],
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const [program = '', ...given] = command
  const env = { ...plainEnvironment(), ...variables }
  const child = spawn(program, given, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  const ended = new Promise<void>((resolve, reject) => child.on('close', () => resolve()).on('error', reject))
  const listening = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
        const url = /is served at (\S+)/.exec(printed)?.[1]
        if (url !== undefined) resolve(url)
      })
    }
  })
  const url = await Promise.race([listening, ended.then(() => undefined)])
  assert.ok(url, `It ended before it listened:\n${printed}`)
  return {
    url,
    async stop() {
      if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGTERM')
      await ended
      return printed
    },
  }
}
