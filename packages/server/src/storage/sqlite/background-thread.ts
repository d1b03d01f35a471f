/** A thread with a connection of its own: it reads for requests or for background jobs, one read after the other. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { readEpochs, sqlContext } from '../sql/context.ts'
import { StorageFault } from '../storage.ts'
import { openChannel, type Peer } from '../threads/channel.ts'
import type { Transaction } from '../transaction.ts'
import { longWork } from '../transactions/long-work.ts'
import { pageReader, readIncludingRecord, readPreview, summaryReader } from '../transactions/slow-reads.ts'
import { Connection, toStorageFault } from './connection.ts'
import { sqlite } from './dialect.ts'
import { makeStoppable, Stopped, stoppableSqlite } from './stoppable-reads.ts'
import type { ReadingCalls, Request, ThreadData } from './thread.ts'
import { WorkLimit } from './work-limit.ts'

const { path, catalog, reading } = workerData as ThreadData
const connection = new Connection(path, { readOnly: true })
const epochs = connection.run(readEpochs())
const run = reading === undefined ? jobs() : reads(reading)

/** Reads for background jobs. */
function jobs(): (request: Request) => unknown {
  const context = sqlContext({ catalog, dialect: sqlite, epochs })
  return ({ name, asked }) => snapshot(longWork[name as keyof typeof longWork](context, asked as never))
}

/** Runs reads, each until it is stopped. */
function reads({ tagSecret, stopped }: NonNullable<ThreadData['reading']>): (request: Request) => unknown {
  const context = sqlContext({ catalog, dialect: stoppableSqlite, epochs, tagSecret })
  const last = new Int32Array(stopped)
  const limit = new WorkLimit(catalog.limits.readTime)
  let current = 0
  makeStoppable(connection.database, catalog, () => {
    if (Atomics.load(last, 0) === current) throw new Stopped()
    limit.check()
  })
  const page = pageReader(context)
  const summary = summaryReader(context)
  giveWay()
  return ({ name, number, asked }) => {
    current = number
    limit.begin()
    if (name === 'page') return snapshot(page(asked as never))
    if (name === 'summary') return snapshot(summary(asked as never))
    if (name === 'record') return snapshot(readIncludingRecord(context, asked as never))
    if (name === 'preview') return snapshot(readPreview(context, asked as never))
    return name === 'checkpoint' ? checkpoint() : undefined
  }
}

/** Copies the log into the file, and empties it. Only the second step excludes writers, and has little left to copy. */
function checkpoint(): void {
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

function snapshot(work: Transaction<unknown>): unknown {
  connection.execute('begin')
  const given = connection.run(work)
  connection.execute('commit')
  return given
}

const calls: ReadingCalls = {
  run(request) {
    try {
      return run(request)
    } catch (error) {
      if (connection.database.isTransaction) connection.execute('rollback')
      const known = toStorageFault(error)
      throw known instanceof StorageFault ? known : new StorageFault('failed', String(error), error)
    }
  },
  close() {
    connection.close()
    // Ends the thread, not the process. Modules that users preload run here too, and their timers would keep the
    // thread alive.
    process.exit()
  },
}
openChannel(parentPort as Peer, calls)
