/** A running `postgres`: started, waited for, ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { account } from './account.ts'
import type { Programs } from './programs.ts'
import { processesIn } from './watchdog.ts'

/** What is set in a server: names and values as in `postgresql.conf`. */
export type Settings = Readonly<Record<string, string | number>>

/** A server and its folder, which holds `data` and `log`. */
export interface Postmaster {
  /** @param url by which it must be reached to count as started */
  start(settings: Settings, url: string): Promise<void>
  /** Ends it: SIGINT after rolling back, SIGQUIT at once, SIGKILL as a crash does. Waits until all of it is gone. */
  end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>
}

/** The server of a folder, not started yet. */
export function postmasterOf(programs: Programs, folder: string): Postmaster {
  const data = join(folder, 'data')
  let running: ChildProcess | undefined
  return {
    async start(settings, url) {
      const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      running = run(programs, folder, 'postgres', ['-D', data, ...given])
      await answering(running, folder, url)
    },
    async end(signal) {
      if (running !== undefined) await ended(running, signal, folder)
      running = undefined
      // Those that worked for it notice that it is gone.
      for (let attempt = 0; processesIn(data).length > 0; attempt++) {
        if (attempt === 500)
          throw new Error(`These processes of PostgreSQL do not end: ${processesIn(data).join(', ')}.`)
        await sleep(20)
      }
    },
  }
}

const who = account === undefined ? 'this user' : `user ${account.uid}`

/** Makes the data folder of a new cluster. Takes one or two seconds. */
export async function initialize(programs: Programs, folder: string, words: readonly string[]): Promise<void> {
  const child = run(programs, folder, 'initdb', ['-D', join(folder, 'data'), ...words])
  child.ref()
  const ending = once(child, 'exit', { signal: AbortSignal.timeout(120_000) })
  const [code] = await ending.catch((error: Error) => {
    throw new Error(`${child.spawnfile} cannot be run as ${who}: ${error.message}\n${logOf(folder)}`)
  })
  if (code !== 0) throw new Error(`initdb failed (${code}):\n${logOf(folder)}`)
}

function run(programs: Programs, folder: string, name: string, words: readonly string[]): ChildProcess {
  const log = openSync(join(folder, 'log'), 'a', 0o600)
  // What the user set for psql must not reach it. A signal from the keyboard is for the tests.
  const environment = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C', ...programs.environment }
  const child = spawn(join(programs.folder, name), words, {
    ...{ cwd: folder, env: environment, stdio: ['ignore', log, log], detached: true },
    ...account,
  })
  closeSync(log)
  // How it went is seen by its end; without a listener this would end the tests.
  child.on('error', () => {})
  child.unref()
  return child
}

/** The last lines that it wrote. */
function logOf(folder: string): string {
  const file = join(folder, 'log')
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-20).join('\n') : ''
}

async function answering(running: ChildProcess, folder: string, url: string): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    if (running.pid === undefined) throw new Error(`${running.spawnfile} cannot be run as ${who}.`)
    if (running.exitCode !== null || running.signalCode !== null)
      throw new Error(`PostgreSQL did not start:\n${logOf(folder)}`)
    const problem = await reach(url)
    if (problem === undefined) return
    if (Date.now() > deadline) throw new Error(`PostgreSQL does not answer (${problem}):\n${logOf(folder)}`)
    await sleep(20)
  }
}

/** Why it cannot be reached; `undefined`: it can. */
async function reach(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function ended(running: ChildProcess, signal: NodeJS.Signals, folder: string): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null || running.pid === undefined) return
  running.ref()
  const gone = once(running, 'exit', { signal: AbortSignal.timeout(30_000) })
  running.kill(signal)
  await gone.catch(() => {
    throw new Error(`PostgreSQL did not end by ${signal} within 30 s:\n${logOf(folder)}`)
  })
}
