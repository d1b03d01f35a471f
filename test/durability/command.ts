/** The real command in processes of its own. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { commandFile } from '../command-file.ts'

/** A server in a process of its own. */
export interface ServerProcess {
  readonly child: ChildProcess
  /** Without the version: `http://127.0.0.1:4711`. */
  readonly origin: string
  /** The names by which its threads claim jobs. */
  readonly names: ReadonlySet<string>
  /** Where its metrics are, if it was told to keep any. */
  readonly metrics: string | undefined
  /** The messages of its log so far, requests left out. */
  readonly log: string[]
  /** The threads that answer requests, by number, without those of the start. */
  readonly workerIds: ReadonlyMap<number, number>
  /** The numbers of threads that have ended by themselves; 0 is the thread that writes. */
  readonly lost: readonly number[]
  /** What it has written on standard error so far. */
  readonly errors: string[]
  /** Resolves once it has ended, with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/**
 * Starts `resourced serve` and waits until it listens; on the file of the folder, unless told otherwise. It has as many
 * workers as TEST_WORKERS says, by default one, unless the options say how many.
 */
export async function startServer(
  folder: string,
  options: readonly string[] = ['--http'],
  variables: Readonly<Record<string, string>> = {},
  database = `sqlite:${databaseFile(folder)}`,
  declaration = join(folder, 'diary.json'),
): Promise<ServerProcess> {
  const workers = process.env.TEST_WORKERS ?? '1'
  const parameters = [
    'serve',
    ...(database.includes(':memory:') ? [] : ['--workers', workers]),
    declaration,
    '--database',
    database,
    '--port',
    '0',
    '--rate-limit',
    'off',
    ...options,
  ]
  const child = spawn(process.execPath, [commandFile, ...parameters], {
    cwd: folder,
    env: { ...environment, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors: string[] = []
  child.stderr.on('data', (piece) => errors.push(String(piece)))
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  const log: string[] = []
  const lost: number[] = []
  const workerIds = new Map<number, number>()
  let metrics: string | undefined
  const names = new Set<string>()
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text)
      if (line.msg !== 'request' && !line.msg.startsWith('worker ')) log.push(line.msg)
      if (/^worker (?:ended|killed)$/.test(line.msg)) lost.push(line.worker)
      if (line.msg === 'worker started') workerIds.set(line.worker, line.thread)
      if (line.server !== undefined) names.add(line.server)
      if (line.msg === 'metrics') metrics = line.url
      if (line.msg === 'listening') resolve(new URL(line.url).origin)
    })
    ended.then((how) => reject(new Error(`The server ended with ${how}: ${errors.join('')}`)))
  })
  return { child, origin, names, metrics, log, errors, ended, workerIds, lost }
}

/** Makes an administrator's key with `resourced keys create`. */
export function createKey(folder: string, database = `sqlite:${databaseFile(folder)}`): string {
  const parameters = [commandFile, 'keys', 'create', '--subject', 'root', '--roles', 'admin', '--database', database]
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, {
    encoding: 'utf8',
    env: environment,
  })
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

// What was compiled once starts faster. Servers that are killed soon keep nothing of it: a later run finds it.
const environment = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../.resourced/compiled'), ...process.env }

/** The file of a folder's database. */
export function databaseFile(folder: string): string {
  return join(folder, 'data', 'diary.db')
}
