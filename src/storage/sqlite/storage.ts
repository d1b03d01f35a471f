/** A SQLite file as a storage: one connection that writes, and others that read. */
import type { Catalog } from '../../model/resource.ts'
import type { Outcome, Plan } from '../../plan/plan.ts'
import type { Apply } from '../migration/migration-step.ts'
import { identifier } from '../sql/columns.ts'
import { sqlContext } from '../sql/context.ts'
import { type OnCommit, type Requester, type Storage, StorageFault } from '../storage.ts'
import { createRecords } from '../transactions/create.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { keyStore } from '../transactions/keys.ts'
import { finishLarge } from '../transactions/large-changes.ts'
import { backgroundOf, jobStore } from '../transactions/long-work.ts'
import { maintenanceStore, readOpening } from '../transactions/meta.ts'
import { readRecord } from '../transactions/read-record.ts'
import { isChange, writeTransaction } from '../transactions/run.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { Checkpoints, threadedCopier } from './checkpoints.ts'
import { Connection, Reader, type Synchronous, withStorageFaults } from './connection.ts'
import { sqlite } from './engine.ts'
import { exportsFolderOf, fileWatch, makeFile } from './file.ts'
import { migrate } from './migrate.ts'
import { pagesInMemory, pagesOfFile } from './page-reads.ts'
import { threadedBackground } from './thread.ts'
import { runnerOf, Writer } from './writer.ts'

/** How a SQLite database is opened. */
export interface SqliteOptions {
  /** A file, which is created where there is none, or `:memory:`. */
  readonly path: string
  /** Which changes of the database a start may make. */
  readonly migrate?: Apply
  readonly synchronous?: Synchronous
  /**
   * For filling a new file with many records: unique indexes only, and commits do not wait for the disk. No other
   * process may use the file meanwhile. The next normal start creates the missing indexes, which takes less time than
   * updating them for each record.
   */
  readonly filling?: boolean
  readonly onCommit?: OnCommit | undefined
}

/**
 * Opens a SQLite database for a catalog and brings it up to date.
 *
 * @throws MigrationRefused where the catalog needs a change that start-up may not make
 */
export function openSqlite(catalog: Catalog, options: SqliteOptions): Storage {
  const inMemory = options.path === ':memory:'
  makeFile(options.path)
  const { filling = false, synchronous = filling ? 'off' : 'full' } = options
  const writing = new Connection(options.path, { synchronous })
  migrate(writing.database, catalog, { apply: options.migrate ?? 'additive', now: Date.now() })
  if (filling) dropIndexes(writing)
  const { cursorSecret, epochs, maintenanceFound } = writing.run(readOpening())
  writing.stopWaiting()
  // A database in memory belongs to a single connection.
  const reading = inMemory ? writing : new Connection(options.path, { readOnly: true })
  // In KiB: most requests read, and what they read is spread over the file. Connections of threads have half as much.
  if (!inMemory) reading.execute('pragma cache_size = -16000')
  const reader = new Reader(reading, inMemory)
  const opened = { catalog, engine: sqlite, epochs, tagSecret: cursorSecret }
  const context = sqlContext({ ...opened, offloadsLargeWork: !inMemory })
  const probe = new WriteProbe((bytes) =>
    writer.write(
      () => probeWrite(bytes),
      () => true,
    ),
  )
  const writer = new Writer(writing, {
    beforehand: () => reader.endTurn(),
    committed: (touches) => reader.memory.committed(touches),
    afterwards: () => checkpoints?.consider(),
    onCommit: options.onCommit,
    outcomes: probe,
  })
  const isInPlace = inMemory ? () => true : fileWatch(options.path)
  const runner = runnerOf(reader, writer)
  let closing = false
  const background = inMemory
    ? backgroundOf(context, runner)
    : threadedBackground(options.path, catalog, () => reader.endTurn())
  const checkpoints =
    inMemory || synchronous === 'off' ? undefined : new Checkpoints(writing, threadedCopier(options.path))
  const keys = keyStore(context, runner)
  const pages = inMemory
    ? pagesInMemory(context, reader)
    : pagesOfFile(opened, { path: options.path, connection: reading, reader })
  return {
    cursorSecret,
    exportsFolder: inMemory ? undefined : exportsFolderOf(options.path),
    pieces: undefined,
    // Not async: a promise around the promise of a read costs three more turns of the queue.
    run(plan: Plan, requester?: Requester): Promise<Outcome> {
      const { memory } = reader
      if (plan.kind === 'read-record') return withStorageFaults(() => reader.run(readRecord(context, memory, plan)))
      if (plan.kind === 'read-page') return pages.read(plan, requester)
      const written = writer.write(() => writeTransaction(context, plan), isChange)
      return written.then((outcome) => finishLarge({ context, runner, background }, plan, outcome))
    },
    load(plans, whenRefused, most = Number.POSITIVE_INFINITY) {
      // Many records change pages all over the indexes, again and again.
      writing.execute('pragma cache_size = -64000')
      return writer.write(
        () => {
          // Nobody waits for a file that is being filled.
          const until = filling ? Number.POSITIVE_INFINITY : performance.now() + most
          return createRecords(context, plans, whenRefused, () => performance.now() >= until)
        },
        (outcomes) => outcomes.includes(undefined),
      )
    },
    jobs: jobStore(context, runner, background, () => closing),
    keys,
    purgeClock: purgeClockStore(runner),
    maintenance: maintenanceStore(runner),
    maintenanceFound,
    async ping() {
      if (!isInPlace()) throw replacedFile()
      await keys.find('')
      await probe.check()
    },
    async close() {
      closing = true
      await pages.close()
      await background.close()
      await writer.drain()
      await checkpoints?.close()
      reader.close()
      if (!inMemory) writing.close()
    },
  }
}

function replacedFile(): StorageFault {
  const found = 'The file of the database was removed or replaced, so changes would be lost.'
  return new StorageFault('unwritable', `${found} Put the file back, or restart the server on the new one.`)
}

/** Drops all indexes that are not unique. The next start creates them. */
function dropIndexes({ database }: Connection): void {
  const indexes = database
    .prepare("select name from sqlite_schema where type = 'index' and sql like 'create index %'")
    .all()
  for (const { name } of indexes) database.exec(`drop index ${identifier(String(name))}`)
}
