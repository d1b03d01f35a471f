/**
 * A thread with connections of its own: it reads for requests or for background jobs, one read after the other, from
 * all files of a catalog.
 */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { BoundedMap } from '../sql/bounded-map.ts'
import { readEpochs, sqlContext } from '../sql/context.ts'
import { StorageFault } from '../storage.ts'
import { openChannel, type Peer } from '../threads/channel.ts'
import { planOf } from '../threads/plain-plan.ts'
import type { Transaction } from '../transaction.ts'
import { previewDeletion } from '../transactions/delete/preview.ts'
import { longWork } from '../transactions/long-work.ts'
import { readerOf } from '../transactions/read-page.ts'
import { Connection, inTransaction, toStorageFault } from './connection.ts'
import { sqlite } from './dialect.ts'
import { makeStoppable, Stopped, stoppableSqlite } from './stoppable-reads.ts'
import type { ReadFile, ReadingCalls, Request, ThreadData } from './thread.ts'
import { WorkLimit } from './work-limit.ts'

const { catalog, reading } = workerData as ThreadData

/** How many files are open here at most. */
const mostFiles = 8

/** A file that is open here. */
interface OpenFile {
  readonly connection: Connection
  /** The transaction of a request; `undefined`: there is none of its name. */
  readonly transactionOf: (request: Request) => Transaction<unknown> | undefined
}

const openFiles = new BoundedMap<OpenFile>(mostFiles, (_, { connection }) => connection.close())
const open = reading === undefined ? openForJobs : openForReads(reading)

/** Opens a file for background jobs. */
function openForJobs({ path }: ReadFile): OpenFile {
  const connection = new Connection(path, { readOnly: true })
  const context = sqlContext({ catalog, dialect: sqlite, epochs: connection.run(readEpochs()) })
  const transactionOf = ({ name, asked }: Request) => longWork[name as keyof typeof longWork](context, asked as never)
  return { connection, transactionOf }
}

/** Opens files for reads, each of which runs until it is stopped. */
function openForReads({ stopped }: NonNullable<ThreadData['reading']>): (file: ReadFile) => OpenFile {
  const last = new Int32Array(stopped)
  const limit = new WorkLimit(catalog.limits.readTime)
  let current = 0
  giveWay()
  return ({ path, tagSecret }) => {
    const connection = new Connection(path, { readOnly: true })
    const epochs = connection.run(readEpochs())
    const context = sqlContext({ catalog, dialect: stoppableSqlite, epochs, tagSecret })
    makeStoppable(connection.database, catalog, () => {
      if (Atomics.load(last, 0) === current) throw new Stopped()
      limit.check()
    })
    const read = readerOf(context)
    const transactionOf = ({ name, number, asked }: Request) => {
      current = number
      limit.begin()
      if (name === 'read') return read(asked as never)
      return name === 'preview' ? previewDeletion(context, planOf(catalog, asked as never)) : undefined
    }
    return { connection, transactionOf }
  }
}

/** Copies the log into the file, and empties it. Only the second step excludes writers, and has little left to copy. */
function checkpoint(path: string): void {
  const database = new DatabaseSync(path, { timeout: 20 })
  database.exec('pragma synchronous = full; pragma wal_checkpoint(passive); pragma wal_checkpoint(truncate)')
  database.close()
}

/** Lowers the priority of this thread where the system can: the thread of requests goes first. */
function giveWay(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), 5)
  } catch {
    // Only Linux has priorities of threads.
  }
}

const calls: ReadingCalls = {
  run(request) {
    const { path } = request.file
    try {
      if (request.name === 'checkpoint') return checkpoint(path)
      const { connection, transactionOf } = openFiles.of(path, () => open(request.file))
      const work = transactionOf(request)
      return work && inTransaction(connection.database, 'begin', () => connection.run(work))
    } catch (error) {
      const known = toStorageFault(error)
      throw known instanceof StorageFault ? known : new StorageFault('failed', String(error), error)
    }
  },
  forget(path) {
    openFiles.get(path)?.connection.close()
    openFiles.delete(path)
  },
  close() {
    // Ends the thread, not the process. Modules that users preload run here too, and their timers would keep the
    // thread alive. Its connections, which only read, end with it.
    process.exit()
  },
}
openChannel(parentPort as Peer, calls)
