/**
 * `resourced serve [FILE]`: serves in this process, or starts workers that do. What only one of the two needs is loaded
 * when it is needed, so that a supervisor stays small.
 */
import { availableParallelism } from 'node:os'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { isElsewhere, isInMemory } from '../server/database-address.ts'
import type { DatabaseOptions } from '../server/open-database.ts'
import type { Settings } from '../server/settings.ts'
import { linkToSupervisor } from '../server/workers/worker-link.ts'
import type { ServeCommandOptions } from './serve.ts'

/** Serves until a signal stops it. */
export async function serveCommand(file: string | undefined, options: ServeCommandOptions): Promise<void> {
  const worker = linkToSupervisor()
  const workers = worker?.count ?? workersOf(options.workers, options)
  const flags = heapFlags(options.database)
  if (worker === undefined && workers > 1) {
    const { serveWithWorkers } = await import('./supervise.ts')
    return serveWithWorkers(workers, options, flags)
  }
  if (worker === undefined) restartWith(flags)
  const { serveHere } = await import('./serve.ts')
  const databasePool = poolOfWorker(options.databasePool, workers)
  await serveHere(file, { ...options, databasePool, worker })
}

/**
 * The number of workers.
 *
 * @param setting `undefined`: `auto` for a database in other processes, otherwise 1
 * @throws UsageError if the database cannot be used by several processes
 */
export function workersOf(
  setting: Settings['workers'],
  { database, databasePool = 10 }: Pick<DatabaseOptions, 'database' | 'databasePool'>,
): number {
  const number = setting ?? (isElsewhere(database) ? 'auto' : 1)
  const canFork = process.versions.bun === undefined && process.versions.deno === undefined
  if (number === 'auto') {
    if (isInMemory(database) || !canFork) return 1
    // Every worker has connections of its own, and PostgreSQL allows 100 by default.
    const most = isElsewhere(database) ? Math.max(1, Math.floor(databasePool / leastPool)) : Number.POSITIVE_INFINITY
    return Math.min(availableParallelism(), most)
  }
  if (number > 1 && isInMemory(database)) {
    throw new UsageError(
      'A database in memory belongs to one process, so --workers must be 1. ' +
        'For several workers, use --database sqlite:FILE or postgres://….',
    )
  }
  if (number > 1 && !canFork) throw new UsageError('Several workers need Node.js. Use --workers 1 with this runtime.')
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
