/** Programs of a test that run for a long time, each in a folder and perhaps a network of its own. */
import { spawn } from 'node:child_process'
import { chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { account } from '../postgres/account.ts'
import { processesIn } from '../postgres/watchdog.ts'
import type { Host } from './network.ts'

const as =
  account === undefined ? [] : ['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']

/** A program with the processes that it starts. */
export class Machine {
  readonly name: string
  readonly host: Host
  /** The port that others reach it at. */
  readonly port: number
  /** Its working folder. */
  readonly folder: string
  readonly #words: readonly string[]

  /** @param words the command and its arguments */
  constructor(place: { readonly folder: string; readonly name: string }, host: Host, port: number, words: string[]) {
    this.name = place.name
    this.folder = join(place.folder, place.name)
    this.host = host
    this.port = port
    this.#words = words
    mkdirSync(this.folder, { mode: 0o700 })
    own(this.folder)
  }

  /** `HOST:PORT` */
  get address(): string {
    return `${this.host.address}:${this.port}`
  }

  /** Writes a file into its folder. */
  keep(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text, { mode: 0o600 })
    own(join(this.folder, name))
  }

  start(): void {
    const log = openSync(join(this.folder, 'log'), 'a', 0o600)
    const [program, ...parameters] = [...this.host.inside, ...as, ...this.#words] as [string, ...string[]]
    const child = spawn(program, parameters, {
      cwd: this.folder,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC', HOME: this.folder },
      stdio: ['ignore', log, log],
      detached: true,
    })
    closeSync(log)
    // How it went is seen by its answers.
    child.on('error', () => {})
    child.unref()
  }

  /** Sends a signal to each of its processes whose command line matches. */
  signal(signal: NodeJS.Signals, command = /./): void {
    for (const id of processesIn(this.folder)) if (command.test(commandOf(id))) send(id, signal)
  }

  /** The end of what it has written. */
  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8').split('\n').slice(-20).join('\n')
  }
}

function own(path: string): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid)
}

function send(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal)
  } catch {
    // It has ended by itself.
  }
}

function commandOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}
