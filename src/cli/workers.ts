/** How many workers `resourced serve` has, and what each of them gets of the connections. */
import { availableParallelism } from 'node:os'
import { type DatabaseOptions, isElsewhere, isInMemory } from '../server/open-database.ts'
import { UsageError } from '../spec/configuration-error.ts'

/**
 * The number of workers.
 *
 * @param text as given; `undefined`: `auto` for a database in other processes, otherwise 1
 * @throws UsageError if it is no number, or the database cannot be used by several processes
 */
export function workersOf(text: string | undefined, database: DatabaseOptions): number {
  const given = text ?? (isElsewhere(database) ? 'auto' : '1')
  const canFork = process.versions.bun === undefined && process.versions.deno === undefined
  if (given === 'auto') return isInMemory(database) || !canFork ? 1 : availableParallelism()
  const number = /^\d{1,4}$/.test(given) ? Number(given) : 0
  if (!(number >= 1 && number <= 1_024)) {
    throw new UsageError(`--workers takes a number from 1 to 1024, or auto, not ${JSON.stringify(text)}.`)
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

/** The connections of one worker, of those of a server. */
export function poolOfWorker(pool: number | undefined, workers: number): number | undefined {
  if (pool === undefined || workers === 1) return pool
  // With a single one, every change of a worker would wait for a slow one.
  return Math.max(Math.min(2, pool), Math.floor(pool / workers))
}
