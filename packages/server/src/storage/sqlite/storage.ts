/** A SQLite file as a storage: one connection that writes, and others that read. */
import type { Catalog } from 'resourced-contract/model/resource'
import type { Outcome } from '../../plan/outcome.ts'
import type { Plan, PreviewDeletion, ReadPage } from '../../plan/plan.ts'
import { eventsFromStored } from '../../plan/plan-events.ts'
import type { Apply } from '../migration/migration-step.ts'
import { identifier } from '../sql/columns.ts'
import { type Opened, type SqlContext, sqlContext } from '../sql/context.ts'
import { type EventStore, type OnCommit, type Requester, type Storage, StorageFault } from '../storage.ts'
import type { Transaction } from '../transaction.ts'
import { createAll, createRecords } from '../transactions/create.ts'
import { mostInspected } from '../transactions/delete/cascade.ts'
import { decidersBelow } from '../transactions/delete/deletion-blockers.ts'
import { previewDeletion } from '../transactions/delete/preview.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { deliveryStore } from '../transactions/delivery-store.ts'
import { findEvent, readFloor, readHorizon, readMark } from '../transactions/kept-events.ts'
import { keyStore } from '../transactions/keys.ts'
import { finishLarge } from '../transactions/large-changes.ts'
import type { List } from '../transactions/list.ts'
import { backgroundOf, jobStore } from '../transactions/long-work.ts'
import { maintenanceStore, readOpening } from '../transactions/meta.ts'
import { type KnownList, Paces, quick } from '../transactions/read-cost.ts'
import { readEvents } from '../transactions/read-events.ts'
import { type IsLong, isUnfiltered, pageKey, readPage } from '../transactions/read-page.ts'
import { readRecord } from '../transactions/read-record.ts'
import { isChange, isFinal, writeTransaction } from '../transactions/run.ts'
import { plainPage, plainPreview, type ReadElsewhere } from '../transactions/slow-reads.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { Checkpoints, threadedCopier } from './checkpoints.ts'
import { Connection, Reader, type Synchronous, toStorageFault, withStorageFaults } from './connection.ts'
import { sqlite } from './dialect.ts'
import { exportsFolderOf, fileWatch, makeFile } from './file.ts'
import { migrate } from './migrate.ts'
import { ReaderThreads } from './reader-threads.ts'
import { makeStoppable, Stopped, stoppableSqlite } from './stoppable-reads.ts'
import { longReads } from './thread.ts'
import { runnerOf, Writer } from './writer.ts'

/** How a SQLite database is opened. */
export interface SqliteOptions {
  /** A file, which is created where there is none, or `:memory:`. */
  readonly path: string
  /** Which changes of the database a start may make. */
  readonly migrate?: Apply | undefined
  readonly synchronous?: Synchronous
  /**
   * For filling a new file with many records: unique indexes only, and commits do not wait for the disk. No other
   * process may use the file meanwhile. The next normal start creates the missing indexes, which takes less time than
   * updating them for each record.
   */
  readonly filling?: boolean
  readonly onCommit?: OnCommit | undefined
  /** See `OpenOptions`. */
  readonly committing?: SharedArrayBuffer | undefined
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
  // In KiB: most requests read, and what they read is spread over the file. Connections of threads have 2,000.
  if (!inMemory) reading.execute('pragma cache_size = -32000')
  const reader = new Reader(reading, inMemory)
  const opened = { catalog, dialect: sqlite, epochs, tagSecret: cursorSecret }
  const context = sqlContext(opened)
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
    committing: options.committing,
    outcomes: probe,
  })
  const isInPlace = inMemory ? () => true : fileWatch(options.path)
  const requireFile = () => {
    if (!isInPlace()) throw replacedFile()
  }
  const runner = runnerOf(reader, writer)
  const background = inMemory
    ? backgroundOf(context, runner)
    : backgroundOf(context, runner, longReads({ path: options.path, catalog }, requireFile))
  let closing = false
  const checkpoints =
    inMemory || synchronous === 'off' ? undefined : new Checkpoints(writing, threadedCopier(options.path, requireFile))
  const keys = keyStore(context, runner)
  const pages = inMemory
    ? pagesInMemory(context, reader)
    : pagesOfFile(opened, { path: options.path, connection: reading, reader, requireFile })
  return {
    cursorSecret,
    exportsFolder: inMemory ? undefined : exportsFolderOf(options.path),
    pieces: undefined,
    // Not async: a promise around the promise of a read costs three more turns of the queue.
    run(plan: Plan, requester?: Requester): Promise<Outcome> {
      const { memory } = reader
      if (plan.kind === 'read-record') return withStorageFaults(() => reader.run(readRecord(context, memory, plan)))
      if (plan.kind === 'read-page') return pages.read(plan, requester)
      if (plan.kind === 'preview-deletion') return pages.preview(plan, requester)
      const written = writer.write(() => writeTransaction(context, plan), isChange)
      return written.then((outcome) =>
        isFinal(outcome) ? outcome : finishLarge({ context, runner, background }, plan, outcome),
      )
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
    loadAll(whole) {
      writing.execute('pragma cache_size = -64000')
      return writer.write(
        () => createAll(context, whole),
        (refusals) => refusals.length === 0,
      )
    },
    events: eventsOf(context, reader),
    deliveries: deliveryStore(context, runner),
    jobs: jobStore(context, runner, background, () => closing),
    keys,
    purgeClock: purgeClockStore(runner),
    maintenance: maintenanceStore(runner),
    maintenanceFound,
    async ping() {
      requireFile()
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

/** The events of a database. Each read examines few rows, so it needs no thread. */
export function eventsOf(context: SqlContext, reader: Reader): EventStore | undefined {
  const resource = context.catalog.system.get('events')
  if (resource === undefined) return undefined
  const run = <T>(start: () => Transaction<T>) => withStorageFaults(() => reader.run(start()))
  return {
    read: (plan) => run(() => readEvents(context, plan)).then((outcome) => eventsFromStored(plan, outcome)),
    horizon: () => run(() => readHorizon(context)),
    mark: (position) => run(() => readMark(position)),
    floor: () => run(() => readFloor()),
    find: (id) => run(() => findEvent(id)),
  }
}

export function replacedFile(): StorageFault {
  const found = 'The file of the database was removed or replaced, so changes would be lost.'
  const remedy =
    'Put the file back. Or stop the server, remove or move the files beside it that end in -wal and -shm, which ' +
    'belong to the former file, and start the server on the new one.'
  return new StorageFault('unwritable', `${found} ${remedy}`)
}

/** Drops all indexes that are not unique. The next start creates them. */
function dropIndexes({ database }: Connection): void {
  const indexes = database
    .prepare("select name from sqlite_schema where type = 'index' and sql like 'create index %'")
    .all()
  for (const { name } of indexes) database.exec(`drop index ${identifier(String(name))}`)
}

// Pages, and previews of deletions. One that is expected to be quick is read where requests are answered. If it turns
// out not to be quick, it is stopped, and read on a thread like those that are expected to take long.

/** Reads pages, and previews of deletions. */
interface PageReads {
  /** @throws StorageFault where the database fails, or the read is stopped or refused */
  read(plan: ReadPage, requester: Requester | undefined): Promise<Outcome>
  /** @throws StorageFault likewise */
  preview(plan: PreviewDeletion, requester: Requester | undefined): Promise<Outcome>
  close(): Promise<void>
}

/** A database in memory has one connection, which also writes: all pages are read where requests are answered. */
function pagesInMemory(context: SqlContext, reader: Reader): PageReads {
  return {
    read: (plan) => withStorageFaults(() => reader.run(readPage(context, reader.memory, plan))),
    preview: (plan) => withStorageFaults(() => reader.run(previewDeletion(context, plan))),
    async close() {},
  }
}

/** A file that is read: the connection for requests, which does not write, and its reader. */
interface ReadFile {
  readonly path: string
  readonly connection: Connection
  readonly reader: Reader
  /** See `ReaderOptions`. */
  readonly requireFile: () => void
}

/** Reads pages of a file. */
export function pagesOfFile(
  opened: Omit<Opened, 'dialect'> & { readonly tagSecret: Uint8Array },
  { path, connection, reader, requireFile }: ReadFile,
): PageReads {
  const threads = new ReaderThreads({ path, catalog: opened.catalog, tagSecret: opened.tagSecret, requireFile })
  const pages = new PagesOfFile(sqlContext({ ...opened, dialect: stoppableSqlite }), reader, threads)
  makeStoppable(connection.database, opened.catalog, pages.check)
  return pages
}

/** How many milliseconds a preview may take that asks rules which are functions. */
const mostForFunctions = 500

interface CurrentList {
  readonly list: List
  readonly known: KnownList
}

class PagesOfFile implements PageReads {
  readonly #context: SqlContext
  readonly #reader: Reader
  readonly #threads: ReaderThreads
  readonly #paces = new Paces()
  /** When the running read has to end, by `performance.now()`. */
  #deadline = Number.POSITIVE_INFINITY
  /** The list of the running read, once it is known. */
  #current: CurrentList | undefined

  constructor(context: SqlContext, reader: Reader, threads: ReaderThreads) {
    this.#context = context
    this.#reader = reader
    this.#threads = threads
  }

  /** Stops the running read if it takes too long. Statements call it while they run. */
  readonly check = (): void => {
    if (performance.now() > this.#deadline) throw new Stopped()
  }

  async read(plan: ReadPage, requester: Requester | undefined): Promise<Outcome> {
    const started = performance.now()
    this.#current = undefined
    this.#deadline = started + quick
    let outcome: Outcome | undefined
    try {
      outcome = this.#reader.run(readPage(this.#context, this.#reader.memory, plan, this.#isLong))
    } catch (error) {
      if (!(error instanceof Stopped)) throw toStorageFault(error)
      // Nobody else learns it where the thread is stopped too.
      this.#learn(started)
    } finally {
      this.#deadline = Number.POSITIVE_INFINITY
    }
    if (outcome === undefined) return this.#readElsewhere(plan, this.#current, requester)
    this.#learn(started)
    return outcome
  }

  async preview(plan: PreviewDeletion, requester: Requester | undefined): Promise<Outcome> {
    // Threads do not have the functions of rules. A preview of so many records that it is read there leaves them out.
    const asksFunctions = decidersBelow(this.#context.catalog, plan.resource, 'delete').length > 0
    this.#deadline = performance.now() + (asksFunctions ? mostForFunctions : quick)
    try {
      const most = asksFunctions ? mostInspected : undefined
      const outcome = this.#reader.run(previewDeletion(this.#context, plan, most))
      if (!asksFunctions || outcome.kind !== 'deletion-preview' || outcome.isComplete) return outcome
    } catch (error) {
      if (!(error instanceof Stopped)) throw toStorageFault(error)
    } finally {
      this.#deadline = Number.POSITIVE_INFINITY
    }
    const outcome = (await this.#threads.run('preview', plainPreview(plan), requester)) as Outcome
    return asksFunctions && outcome.kind === 'deletion-preview' ? { ...outcome, isComplete: false } : outcome
  }

  /** Learns how long the running read took. */
  #learn(started: number): void {
    if (this.#current !== undefined)
      this.#paces.learn(this.#current.list, this.#current.known, performance.now() - started)
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  readonly #isLong: IsLong = (list, { revision, live }) => {
    const { totals, places } = this.#reader.memory
    const { plan, totalKey } = list
    // A total of events that is counted onward takes no longer than a known one.
    const counted = totals.events.get(totalKey)?.total
    const total = isUnfiltered(plan) ? live : (totals.get(totalKey, revision) ?? counted)
    const known = { live, total, place: places.before(totalKey, plan, revision) }
    this.#current = { list, known }
    return this.#paces.isLong(list, known)
  }

  async #readElsewhere(
    plan: ReadPage,
    current: CurrentList | undefined,
    requester: Requester | undefined,
  ): Promise<Outcome> {
    const { memory } = this.#reader
    const { totals, places } = memory
    const totalKey = current?.list.totalKey ?? ''
    const asked = plainPage(plan, totals.last(totalKey), totals.events.get(totalKey))
    const { outcome, took, total, events, tagged, state } = (await this.#threads.run(
      'page',
      asked,
      requester,
    )) as ReadElsewhere
    if (current !== undefined) {
      const { list, known } = current
      this.#paces.learn(list, known, took)
      if (total !== undefined) totals.set(list.totalKey, total.revision, total.total)
      if (events !== undefined) totals.events.set(list.totalKey, events)
      list.tagged = tagged
      if (outcome.kind === 'page') places.learn(list.totalKey, plan, total?.revision ?? state, outcome)
    }
    const key = pageKey(plan)
    if (key !== undefined && outcome.kind === 'page') memory.keepPage(key, state, outcome)
    return outcome
  }
}
