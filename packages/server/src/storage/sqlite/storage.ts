/** A SQLite file as a storage: one connection that writes, and others that read. */
import { historyCollection } from 'resourced-contract/model/names'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import type { Outcome } from '../../plan/outcome.ts'
import type { Plan, PreviewDeletion, ReadPage, ReadRecord, ReadSummary } from '../../plan/plan.ts'
import { eventsFromStored } from '../../plan/plan-events.ts'
import type { Apply } from '../migration/migration-step.ts'
import { identifier } from '../sql/columns.ts'
import { type SqlContext, sqlContext } from '../sql/context.ts'
import {
  type EventStore,
  type JobStore,
  type OnCommit,
  type Requester,
  type Storage,
  StorageFault,
} from '../storage.ts'
import { plainPlan } from '../threads/plain-plan.ts'
import type { Transaction } from '../transaction.ts'
import { mostInspected } from '../transactions/delete/cascade.ts'
import { decidersBelow } from '../transactions/delete/deletion-blockers.ts'
import { previewDeletion } from '../transactions/delete/preview.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { deliveryStore } from '../transactions/delivery-store.ts'
import { findEvent, readFloor, readHorizon, readMark } from '../transactions/kept-events.ts'
import { keyStore } from '../transactions/keys.ts'
import { finishLarge } from '../transactions/large-changes.ts'
import { listOf } from '../transactions/list.ts'
import { loadAll, loadSome } from '../transactions/load.ts'
import { backgroundOf, jobStore } from '../transactions/long-work.ts'
import { maintenanceStore, readOpening } from '../transactions/meta.ts'
import { readEvents } from '../transactions/read-events.ts'
import {
  answerIncluding,
  type IncludingRead,
  isIncluding,
  keepIncluding,
  pageOrIncluding,
} from '../transactions/read-including.ts'
import { keepPage } from '../transactions/read-page.ts'
import { readRecord } from '../transactions/read-record.ts'
import { answerSummary, keepSummary } from '../transactions/read-summary.ts'
import { isChange, isFinal, writeTransaction } from '../transactions/run.ts'
import { plainPage, type ReadElsewhere, reachesFew, remember, rememberedOf } from '../transactions/slow-reads.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { Checkpoints, threadedCopier } from './checkpoints.ts'
import { Connection, Reader, type Synchronous, withStorageFaults } from './connection.ts'
import { sqlite } from './dialect.ts'
import { exportsFolderOf, fileWatch, makeFile } from './file.ts'
import { migrate } from './migrate.ts'
import { type ReaderOptions, ReaderThreads } from './reader-threads.ts'
import { Scrubber } from './scrubber.ts'
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
  // What is deleted is overwritten, so that an erased state leaves nothing.
  if (hasHistory(catalog)) writing.execute('pragma secure_delete = on')
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
  // Many records change pages all over the indexes, again and again.
  const holdMorePages = () => writing.execute('pragma cache_size = -64000')
  let closing = false
  const copier = inMemory || synchronous === 'off' ? undefined : threadedCopier(options.path, requireFile)
  const checkpoints = copier && new Checkpoints(writing, copier)
  const scrubber =
    checkpoints && hasHistory(catalog)
      ? new Scrubber({ writer, connection: writing, copyLog: () => checkpoints.copy(), resources: keptOf(catalog) })
      : undefined
  const erases = keptOf(catalog).some(({ deletion }) => deletion.variant === 'hard')
  const keys = keyStore(context, runner)
  const pages = inMemory
    ? pagesInMemory(context, reader)
    : pagesOfFile(context, reader, { path: options.path, requireFile })
  return {
    cursorSecret,
    exportsFolder: inMemory ? undefined : exportsFolderOf(options.path),
    pieces: undefined,
    // Not async: a promise around the promise of a read costs three more turns of the queue.
    run(plan: Plan, requester?: Requester): Promise<Outcome> {
      const { memory } = reader
      if (plan.kind === 'read-record' && isIncluding(plan)) return pages.record(plan, requester)
      if (plan.kind === 'read-record') return withStorageFaults(() => reader.run(readRecord(context, memory, plan)))
      if (plan.kind === 'read-page') return pages.read(plan, requester)
      if (plan.kind === 'read-summary') return pages.summary(plan, requester)
      if (plan.kind === 'preview-deletion') return pages.preview(plan, requester)
      if (plan.kind === 'write-many') holdMorePages()
      const written = writer.write(() => writeTransaction(context, plan), isChange)
      const ended = written.then((outcome) =>
        isFinal(outcome) ? outcome : writer.answer(() => finishLarge({ context, runner, background }, plan, outcome)),
      )
      return scrubber === undefined || !mayErase(plan, erases) ? ended : ended.finally(() => scrubber.note())
    },
    load(plans, whenRefused, most = Number.POSITIVE_INFINITY) {
      holdMorePages()
      return writer.write(
        () => {
          // Nobody waits for a file that is being filled.
          const until = filling ? Number.POSITIVE_INFINITY : performance.now() + most
          return loadSome(context, plans, whenRefused, () => performance.now() >= until)
        },
        (outcomes) => outcomes.includes(undefined),
      )
    },
    loadAll(whole) {
      holdMorePages()
      return writer.write(
        () => loadAll(context, whole),
        (refusals) => refusals.length === 0,
      )
    },
    events: eventsOf(context, reader),
    deliveries: deliveryStore(context, runner),
    jobs: noting(
      jobStore(context, runner, background, () => closing),
      scrubber,
    ),
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
      await scrubber?.close()
      await writer.drain()
      await checkpoints?.close()
      reader.close()
      if (!inMemory) writing.close()
    },
  }
}

function hasHistory({ system }: Catalog): boolean {
  return system.has(historyCollection)
}

/** The resources with a history. */
function keptOf({ resources }: Catalog): Resource[] {
  return [...resources.values()].filter(({ history }) => history !== undefined)
}

/** Whether a plan may erase states. */
function mayErase({ kind }: Plan, erasesByDeletion: boolean): boolean {
  return kind === 'erase-history' || (erasesByDeletion && kind.includes('delete'))
}

/** The jobs of a file, which is cleaned after those that erase. */
function noting(jobs: JobStore, scrubber: Scrubber | undefined): JobStore {
  if (scrubber === undefined) return jobs
  return {
    ...jobs,
    step: (job, now) => jobs.step(job, now).finally(() => scrubber.note()),
    deleteExpired: (...given) => jobs.deleteExpired(...given).finally(() => scrubber.note()),
    deleteSomeExpired: (now) => jobs.deleteSomeExpired(now).finally(() => scrubber.note()),
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

/** Reads pages, and previews of deletions. */
interface PageReads {
  /** @throws StorageFault where the database fails, or the read is stopped or refused */
  read(plan: ReadPage, requester: Requester | undefined): Promise<Outcome>
  /** @throws StorageFault likewise */
  summary(plan: ReadSummary, requester: Requester | undefined): Promise<Outcome>
  /** @throws StorageFault likewise */
  record(plan: ReadRecord & IncludingRead, requester: Requester | undefined): Promise<Outcome>
  /** @throws StorageFault likewise */
  preview(plan: PreviewDeletion, requester: Requester | undefined): Promise<Outcome>
  close(): Promise<void>
}

/** A database in memory has one connection, which also writes: all pages are read where requests are answered. */
function pagesInMemory(context: SqlContext, reader: Reader): PageReads {
  return {
    read: (plan) =>
      withStorageFaults(() => reader.run(pageOrIncluding(context, reader.memory, plan, 'all')) as Outcome),
    record: (plan) =>
      withStorageFaults(() => reader.run(answerIncluding(context, reader.memory, plan, 'all')) as Outcome),
    summary: (plan) =>
      withStorageFaults(() => reader.run(answerSummary(context, reader.memory, plan, 'all')) as Outcome),
    preview: (plan) => withStorageFaults(() => reader.run(previewDeletion(context, plan))),
    async close() {},
  }
}

/** Of a file, what visits few rows is read where requests are answered, and everything else on threads. */
export function pagesOfFile(
  context: SqlContext,
  reader: Reader,
  file: Pick<ReaderOptions, 'path' | 'requireFile'>,
): PageReads {
  const { memory } = reader
  const threads = new ReaderThreads({ ...file, catalog: context.catalog, tagSecret: context.tagSecret as Uint8Array })
  const run = <T>(transaction: Transaction<T>) => withStorageFaults(() => reader.run(transaction))
  return {
    async read(plan, requester) {
      const answered = await run(pageOrIncluding(context, memory, plan, 'few'))
      if (answered !== undefined) return answered
      const list = listOf(context, memory, plan)
      const asked = plainPage(plan, rememberedOf(memory, list))
      const { outcome, state, remembered } = (await threads.run('page', asked, requester)) as ReadElsewhere
      remember(memory, list, remembered)
      if (isIncluding(plan)) keepIncluding(memory, plan, state, outcome)
      else keepPage(memory, plan, state, outcome)
      return outcome
    },
    async summary(plan, requester) {
      const answered = await run(answerSummary(context, memory, plan, 'few'))
      if (answered !== undefined) return answered
      const { outcome, state } = (await threads.run('summary', plainPlan(plan), requester)) as ReadElsewhere
      keepSummary(memory, plan, state, outcome)
      return outcome
    },
    async record(plan, requester) {
      const answered = await run(answerIncluding(context, memory, plan, 'few'))
      if (answered !== undefined) return answered
      const { outcome, state } = (await threads.run('record', plainPlan(plan), requester)) as ReadElsewhere
      keepIncluding(memory, plan, state, outcome)
      return outcome
    },
    async preview(plan, requester) {
      // Threads do not have the functions of rules: a preview of many records leaves out what functions decide.
      const asksFunctions = decidersBelow(context.catalog, plan.resource, 'delete').length > 0
      if (asksFunctions || (await run(reachesFew(context, memory, plan)))) {
        const outcome = await run(previewDeletion(context, plan, asksFunctions ? mostInspected : undefined))
        if (!asksFunctions || outcome.kind !== 'deletion-preview' || outcome.isComplete) return outcome
      }
      const outcome = (await threads.run('preview', plainPlan(plan), requester)) as Outcome
      return asksFunctions && outcome.kind === 'deletion-preview' ? { ...outcome, isComplete: false } : outcome
    },
    close: () => threads.close(),
  }
}
