/** Records what a server does to its files while clients write. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Synchronous } from '../../packages/server/src/storage/sqlite/connection.ts'
import { clientOf } from '../durability/client.ts'
import { Ledger } from '../durability/ledger.ts'
import { randomFrom } from '../durability/random.ts'
import { write, writerOf } from '../durability/workload.ts'
import { readTrace, straceOptions, type TraceEvent } from './trace.ts'

/** What was done to the disk, and what the clients were told meanwhile. */
export interface Recording {
  readonly events: readonly TraceEvent[]
  readonly ledger: Ledger
  /** The folder that is there before anything happens. */
  readonly folder: string
  readonly databaseFile: string
}

const connections = 6

/** Why nothing can be recorded on this machine; `undefined` where it can. */
export function whyNotRecordable(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', [...straceOptions, '-o', '/dev/null', 'true'], {
    encoding: 'utf8',
  })
  if (error !== undefined) return 'strace is not installed'
  return status === 0 ? undefined : `strace does not work: ${stderr.trim().split('\n')[0]}`
}

/** What is recorded. */
export interface RecordOptions {
  readonly synchronous: Synchronous
  /** Lets every third sync fail, once the server runs. */
  readonly failing?: boolean
  /** How many changes are acknowledged in each run, at least. */
  readonly each: number
  readonly seed: number
}

// Only fsync and fdatasync fail, with what a broken disk gives.
const failures = ['-e', 'inject=fsync,fdatasync:error=EIO:when=30+3']

/**
 * Runs a server three times on one database: stopped, killed while it writes, stopped. It is not killed where syncs
 * fail: a commit that failed last would be taken for a good one by the next start, which cannot see that the disk lacks
 * it.
 *
 * @param parent a folder for all files
 */
export async function record(parent: string, options: RecordOptions): Promise<Recording> {
  const { synchronous, failing = false, each, seed } = options
  const folder = join(parent, 'disk')
  mkdirSync(folder)
  const databaseFile = join(folder, 'data', 'diary.db')
  const trace = join(parent, 'trace')
  const ledger = new Ledger()
  const signals = ['SIGTERM', failing ? 'SIGTERM' : 'SIGKILL', 'SIGTERM'] as const
  for (const [run, signal] of signals.entries()) {
    const script = [join(import.meta.dirname, 'server.fixture.ts'), databaseFile, synchronous]
    const parameters = [...straceOptions, ...(failing ? failures : []), '-A', '-o', trace, process.execPath, ...script]
    const env = { ...process.env, UV_USE_IO_URING: '0' }
    const child = spawn('strace', parameters, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended])
    assert.equal(typeof line, 'string', 'the server did not start')
    const { origin, key, pid } = JSON.parse(line)
    const target = ledger.acknowledged + each
    const isEnough = () => ledger.acknowledged >= target
    const clients = Array.from({ length: connections }, () => clientOf(origin, key))
    const writing = clients.map(({ send }, index) => {
      const number = run * connections + index
      return write(writerOf(ledger, number, randomFrom(seed + number)), send, () => signal === 'SIGTERM' && isEnough())
    })
    if (signal === 'SIGTERM') await Promise.all(writing)
    while (!isEnough()) await sleep(2)
    process.kill(pid, signal)
    await Promise.all(writing)
    for (const client of clients) client.close()
    await ended
  }
  return { events: readTrace(readFileSync(trace, 'latin1'), folder), ledger, folder, databaseFile }
}
