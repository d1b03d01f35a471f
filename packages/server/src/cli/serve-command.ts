/** `resourced serve [FILE]`: serves on threads; in a runtime that has none for it, on this thread alone. */
import { availableParallelism } from 'node:os'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { isElsewhere, isInMemory } from '../server/database-address.ts'
import type { DatabaseOptions } from '../server/open-database.ts'
import type { Settings } from '../server/settings.ts'
import type { ServeCommandOptions } from './serve.ts'

/** Serves until a signal stops it. */
export async function serveCommand(file: string | undefined, options: ServeCommandOptions): Promise<void> {
  const workers = workersOf(options.workers, options)
  restartWith(heapFlags(options.database))
  const given = { ...options, databasePool: poolOfWorker(options.databasePool, workers) }
  if (hasThreads())
    return (await import('./supervise.ts')).serveOnThreads(workers, file, { ...given, reusePort: sharesPorts() })
  return (await import('./serve.ts')).serveHere(file, given)
}

/** Whether threads can answer requests here. Other runtimes than Node.js have no port that threads share. */
function hasThreads(): boolean {
  return process.versions.bun === undefined && process.versions.deno === undefined
}

/** Whether several threads can listen on one port. */
function sharesPorts(): boolean {
  return hasThreads() && ['linux', 'freebsd', 'aix', 'sunos'].includes(process.platform)
}

/**
 * The number of workers.
 *
 * @param setting `undefined`: `auto` for a database in other processes, otherwise 1
 * @throws UsageError if there can be only one
 */
export function workersOf(
  setting: Settings['workers'],
  { database, databasePool = 10 }: Pick<DatabaseOptions, 'database' | 'databasePool'>,
): number {
  const number = setting ?? (isElsewhere(database) ? 'auto' : 1)
  if (number === 'auto') {
    if (isInMemory(database) || !sharesPorts()) return 1
    // Every worker has connections of its own, and PostgreSQL allows 100 by default.
    const most = isElsewhere(database) ? Math.max(1, Math.floor(databasePool / leastPool)) : Number.POSITIVE_INFINITY
    return Math.min(availableParallelism(), most)
  }
  if (number > 1 && isInMemory(database)) {
    throw new UsageError(
      'A database in memory belongs to one thread, so --workers must be 1. ' +
        'For several workers, use --database sqlite:FILE or postgres://….',
    )
  }
  if (number > 1 && !hasThreads()) {
    throw new UsageError('Several workers need Node.js. Use --workers 1 with this runtime.')
  }
  if (number > 1 && !sharesPorts()) {
    throw new UsageError(`Threads cannot share a port on ${process.platform}. Use --workers 1 on this system.`)
  }
  return number
}

/** The least connections of a worker. With a single one, every change of the worker would wait for a slow one. */
const leastPool = 2

/** The connections of one worker, of those of a server. */
export function poolOfWorker(pool: number | undefined, workers: number): number | undefined {
  if (pool === undefined || workers === 1) return pool
  return Math.max(Math.min(leastPool, pool), Math.floor(pool / workers))
}

// Set by `prepare-process.js`, unless the operator has chosen a size, or the process must not be started again. The
// variable distinguishes it from the same size chosen by the operator.
const usualHeap = ['--max-semi-space-size=8', '--heap-growing-percent=100']
const heapVariable = 'RESOURCED_HEAP'
// A server that waits for another machine's answers keeps requests alive for longer: a young generation that begins
// small would copy them again and again. V8 reads these flags only at its start.
const largerHeap = ['--max-semi-space-size=16', '--min-semi-space-size=8']

/** The options of Node.js, with a larger heap in place of the usual one for a database elsewhere. */
function heapFlags(database: string): readonly string[] {
  const { execArgv, env } = process
  const isUsual = env[heapVariable] !== undefined
  // Processes that this one starts get options of their own.
  delete env[heapVariable]
  if (!isUsual || !isElsewhere(database)) return execArgv
  return [...execArgv.filter((flag) => !usualHeap.includes(flag)), ...largerHeap]
}

/** Starts the program again in the same process with other options, unless it has them. */
function restartWith(flags: readonly string[]): void {
  const { execArgv, execPath, argv, env } = process
  if (flags !== execArgv) process.execve?.(execPath, [execPath, ...flags, ...argv.slice(1)], env)
}
