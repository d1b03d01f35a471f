/** A SQLite file as a storage: one connection that writes, and others that read. */
import { existsSync } from 'node:fs'
import { historyCollection } from 'resourced-contract/model/names'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import type { Outcome } from '../../plan/outcome.ts'
import type { Plan, PreviewDeletion, Read } from '../../plan/plan.ts'
import { eventsFromStored } from '../../plan/plan-events.ts'
import type { Apply } from '../migration/migration-step.ts'
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
import { fewRows } from '../transactions/access-path.ts'
import { decidersBelow } from '../transactions/delete/blockers.ts'
import { mostInspected } from '../transactions/delete/cascade.ts'
import { previewDeletion } from '../transactions/delete/preview.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { findEvent, readFloor, readHorizon, readMark } from '../transactions/kept-events.ts'
import { keyStore } from '../transactions/keys.ts'
import { finishLarge } from '../transactions/large-changes.ts'
import { loadAll, loadSome } from '../transactions/load.ts'
import { backgroundOf, jobStore } from '../transactions/long-work.ts'
import { isRemembered, Memory, mostRemembered, type RememberedRead } from '../transactions/memory.ts'
import { maintenanceStore, readOpening } from '../transactions/meta.ts'
import { readEvents } from '../transactions/read-events.ts'
import { answerRead, readElsewhere } from '../transactions/read-page.ts'
import { readRecord } from '../transactions/read-record.ts'
import { readClock } from '../transactions/rows/clock.ts'
import { cascadeReach } from '../transactions/rows/other-records.ts'
import { isChange, isFinal, writeTransaction } from '../transactions/run.ts'
import { tenantStore } from '../transactions/tenants.ts'
import { deliveryStore } from '../transactions/webhooks.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { Checkpoints } from './checkpoints.ts'
import { Connection, Reader, type Synchronous, withStorageFaults } from './connection.ts'
import { sqlite } from './dialect.ts'
import { exportsFolderOf, fileWatch, makeFile } from './file.ts'
import { migrate } from './migrate.ts'
import { type ReaderOptions, ReaderThreads, SharedThreads } from './reader-threads.ts'
import { Scrubber } from './scrubber.ts'
import { runnerOf, Writer } from './writer.ts'

/** How a SQLite database is opened. */
export interface SqliteOptions {
  /** A file, which is created where there is none, or `:memory:`. */
  readonly path: string
  /** What a database in memory contains at first: a serialized one. */
  readonly contents?: Uint8Array | undefined
  /** Which changes of the database a start may make. */
  readonly migrate?: Apply | undefined
  readonly synchronous?: Synchronous
  readonly onCommit?: OnCommit | undefined
  /** See `OpenOptions`. */
  readonly committing?: SharedArrayBuffer | undefined
  /** Threads that the file shares with others of the same catalog; left out: it has its own. */
  readonly threads?: SharedThreads | undefined
  /** See `OpenOptions`. */
  readonly isCurrent?: boolean | undefined
}

/**
 * Reads a file for requests. What they read is spread over it, so its connection has memory for pages. Each of many
 * files has little, also for answers.
 */
export function readerOfFile(path: string, isOneOfMany: boolean): Reader {
  const reading = new Connection(path, { readOnly: true })
  reading.execute(`pragma cache_size = -${isOneOfMany ? 1_000 : 32_000}`)
  return new Reader(reading, false, isOneOfMany ? new Memory(mostRemembered / 8) : undefined)
}

/**
 * Opens a SQLite database for a catalog and brings it up to date.
 *
 * @throws MigrationRefused where the catalog needs a change that start-up may not make
 */
export function openSqlite(catalog: Catalog, options: SqliteOptions): Storage {
  const inMemory = options.path === ':memory:'
  if (options.isCurrent === true && !inMemory && !existsSync(options.path)) throw missingFile(options.path)
  makeFile(options.path)
  const { synchronous = 'full', migrate: apply = 'additive' } = options
  const writing = new Connection(options.path, { synchronous })
  if (options.contents !== undefined) writing.database.deserialize(options.contents)
  if (options.isCurrent !== true) migrate(writing.database, catalog, { apply, now: Date.now() })
  const { cursorSecret, epochs, maintenanceFound } = writing.run(readOpening())
  // What is deleted is overwritten, so that an erased state leaves nothing.
  if (hasHistory(catalog)) writing.execute('pragma secure_delete = on')
  writing.stopWaiting()
  // A database in memory belongs to a single connection.
  const reader = inMemory ? new Reader(writing, true) : readerOfFile(options.path, options.threads !== undefined)
  const context = sqlContext({ catalog, dialect: sqlite, epochs, tagSecret: cursorSecret })
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
    turns: options.threads?.turns,
    committing: options.committing,
    outcomes: probe,
  })
  const requireFile = inMemory ? () => {} : fileWatch(options.path)
  const runner = runnerOf(reader, writer)
  const threads = options.threads ?? new SharedThreads(catalog)
  const background = inMemory
    ? backgroundOf(context, runner)
    : backgroundOf(context, runner, threads.jobs.reads({ path: options.path }, requireFile))
  // Many records change pages all over the indexes, again and again.
  const holdMorePages = () => writing.execute('pragma cache_size = -64000')
  let closing = false
  const copyLog = async () => {
    requireFile()
    await threads.copies.copy(options.path)
  }
  const checkpoints = inMemory || synchronous === 'off' ? undefined : new Checkpoints(writing, copyLog)
  const scrubber =
    checkpoints && hasHistory(catalog)
      ? new Scrubber({ writer, connection: writing, copyLog: () => checkpoints.copy(), resources: keptOf(catalog) })
      : undefined
  const erases = keptOf(catalog).some(({ deletion }) => deletion.variant === 'hard')
  const keys = keyStore(context, runner)
  const file = { path: options.path, requireFile, pool: threads.readers }
  const reads = readsOf(context, reader, inMemory ? undefined : file)
  return {
    cursorSecret,
    exportsFolder: inMemory ? undefined : exportsFolderOf(options.path),
    pieces: undefined,
    // Not async: a promise around the promise of a read costs three more turns of the queue.
    run(plan: Plan, requester?: Requester): Promise<Outcome> {
      if (isRead(plan)) return reads.run(plan, requester)
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
          const until = performance.now() + most
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
    tenants: tenantStore(context, runner, { state: () => reader.state() }),
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
      await reads.close()
      await background.close()
      await scrubber?.close()
      await writer.drain()
      await checkpoints?.close()
      if (options.threads === undefined) await threads.close()
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
  const run = <T>(start: () => Transaction<T>) => withStorageFaults(() => reader.run(start))
  return {
    read: (plan) => run(() => readEvents(context, plan)).then((outcome) => eventsFromStored(plan, outcome)),
    horizon: () => run(() => readHorizon(context)),
    mark: (position) => run(() => readMark(position)),
    floor: () => run(() => readFloor()),
    find: (id) => run(() => findEvent(id)),
  }
}

function missingFile(path: string): StorageFault {
  return new StorageFault('failed', `The file ${path} is missing. Put it back, or restore a backup of it.`)
}

/** Runs reads for requests. */
interface Reads {
  /** @throws StorageFault where the database fails, or the read is stopped or refused */
  run(plan: Read, requester: Requester | undefined): Promise<Outcome>
  close(): Promise<void>
}

const readKinds: ReadonlySet<string> = new Set<Read['kind']>([
  'read-record', 'read-page', 'read-summary', 'preview-deletion',
]) // biome-ignore format: one row reads best

/** Whether a plan only reads. */
export function isRead(plan: Plan): plan is Read {
  return readKinds.has(plan.kind)
}

/**
 * Of a file, what visits few rows is read where requests are answered, and everything else on threads. A database in
 * memory has one connection, which also writes: everything is read there.
 *
 * @param file left out: a database in memory
 */
export function readsOf(
  context: SqlContext,
  reader: Reader,
  file?: Pick<ReaderOptions, 'path' | 'requireFile' | 'pool'>,
): Reads {
  const { memory } = reader
  const { catalog, tagSecret } = context
  const threads = file && new ReaderThreads({ ...file, catalog, tagSecret: tagSecret as Uint8Array })
  const run = <T>(start: () => Transaction<T>) => withStorageFaults(() => reader.run(start))
  const readRemembered = async (plan: RememberedRead, requester: Requester | undefined) => {
    const answered = await run(() => answerRead(context, memory, plan, threads === undefined ? 'all' : 'few'))
    if (answered !== undefined || threads === undefined) return answered as Outcome
    return readElsewhere(context, memory, plan, (asked) => threads.run('read', asked, requester))
  }
  const preview = async (plan: PreviewDeletion, requester: Requester | undefined) => {
    if (threads === undefined) return run(() => previewDeletion(context, plan))
    // Threads do not have the functions of rules: a preview of many records leaves out what functions decide.
    const asksFunctions = decidersBelow(context.catalog, plan.resource, 'delete').length > 0
    if (asksFunctions || (await run(() => reachesFew(context, memory, plan)))) {
      const outcome = await run(() => previewDeletion(context, plan, asksFunctions ? mostInspected : undefined))
      if (!asksFunctions || outcome.kind !== 'deletion-preview' || outcome.isComplete) return outcome
    }
    const outcome = (await threads.run('preview', plainPlan(plan), requester)) as Outcome
    return asksFunctions && outcome.kind === 'deletion-preview' ? { ...outcome, isComplete: false } : outcome
  }
  return {
    run(plan, requester) {
      if (isRemembered(plan)) return readRemembered(plan, requester)
      return plan.kind === 'read-record' ? run(() => readRecord(context, memory, plan)) : preview(plan, requester)
    },
    close: async () => threads?.close(),
  }
}

/** Whether the deletion of a preview can reach few records only. */
function* reachesFew(
  context: SqlContext,
  memory: Pick<Memory, 'clocks'>,
  { resource }: PreviewDeletion,
): Transaction<boolean> {
  let live = 0
  for (const { name } of cascadeReach(context.catalog, resource)) {
    live += (yield* readClock(context, memory, name, new Set())).live
  }
  return live <= fewRows
}
