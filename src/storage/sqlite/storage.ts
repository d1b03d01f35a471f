/** A SQLite file as a storage: one writer, readers apart. */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import type { Catalog } from '../../model/resource.ts'
import type { DeleteMatching, Outcome, Plan, Write } from '../../plan/plan.ts'
import type { Migrated } from '../migration/apply.ts'
import { MigrationRefused } from '../migration/describe.ts'
import type { Apply } from '../migration/step.ts'
import { sqlContext } from '../sql/context.ts'
import { readEpochs } from '../sql/epoch.ts'
import { type OnCommit, type Storage, StorageFault } from '../storage.ts'
import { createRecords } from '../transactions/create.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { findKey, keyStore } from '../transactions/keys.ts'
import { type Background, jobStore } from '../transactions/long-work.ts'
import { maintenanceStore, readMaintenance } from '../transactions/maintenance.ts'
import { readPage } from '../transactions/read-page.ts'
import { readRecord } from '../transactions/read-record.ts'
import { isChange, isWrite, writeTransaction } from '../transactions/run.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { localBackground, threadedBackground } from './background.ts'
import { Connection, type Synchronous } from './connection.ts'
import { sqlite } from './engine.ts'
import { exportsFolderOf, fileWatch, makeFile } from './file.ts'
import { migrate } from './migrate.ts'
import { answering, Reader, runnerOf } from './reader.ts'
import { Writer } from './writer.ts'

/** How a SQLite database is opened. */
export interface SqliteOptions {
  /** A file, made where there is none, or `:memory:`. */
  readonly path: string
  /** What start-up may change in the database. */
  readonly migrate?: Apply
  readonly synchronous?: Synchronous
  /**
   * For filling a new file with much: no index but the unique ones, and no waiting for the disk. Nobody else may use it
   * meanwhile; opened as usual afterwards, it gets its indexes, which takes less time than keeping them up to date.
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
  const secret = cursorSecret(writing)
  const epochs = writing.run(readEpochs())
  const maintenanceFound = writing.run(readMaintenance())
  writing.stopWaiting()
  // A database in memory belongs to one connection.
  const reader = new Reader(inMemory ? writing : new Connection(options.path, { readOnly: true }), inMemory)
  const context = sqlContext({ catalog, engine: sqlite, epochs, tagSecret: secret, offloadsLargeWork: !inMemory })
  const probe = new WriteProbe((bytes) =>
    writer.write(
      () => probeWrite(bytes),
      () => true,
    ),
  )
  const writer = new Writer(writing, () => reader.endTurn(), undefined, options.onCommit, probe)
  const isInPlace = inMemory ? () => true : fileWatch(options.path)
  const runner = runnerOf(reader, writer)
  let closing = false
  const background = inMemory
    ? localBackground(context, reader, writer)
    : threadedBackground(options.path, catalog, () => reader.endTurn())
  return {
    cursorSecret: secret,
    exportsFolder: inMemory ? undefined : exportsFolderOf(options.path),
    pieces: undefined,
    async run(plan: Plan): Promise<Outcome> {
      if (isWrite(plan)) {
        const written = await writer.write(() => writeTransaction(context, plan), isChange)
        const outcome = written.kind === 'too-large' ? await elsewhere(background, plan) : written
        if (outcome.kind === 'accepted' && plan.kind === 'delete-matching') await takeAll(background, plan)
        return outcome
      }
      const { memory } = reader
      return answering(() =>
        reader.run(plan.kind === 'read-record' ? readRecord(context, memory, plan) : readPage(context, memory, plan)),
      )
    },
    load(plans, whenRefused) {
      return writer.write(
        () => createRecords(context, plans, whenRefused),
        (outcomes) => outcomes.includes(undefined),
      )
    },
    jobs: jobStore(context, runner, background, () => closing),
    keys: keyStore(context, runner),
    purgeClock: purgeClockStore(runner),
    maintenance: maintenanceStore(runner),
    maintenanceFound,
    async ping() {
      if (!isInPlace()) throw replacedFile()
      await runner.read(() => findKey(''))
      await probe.check()
    },
    async close() {
      closing = true
      await background.close()
      await writer.drain()
      reader.close()
      if (!inMemory) writing.close()
    },
  }
}

function replacedFile(): StorageFault {
  const found = 'The file of the database was removed, or another one is in its place: what is written goes nowhere.'
  return new StorageFault('unwritable', `${found} Put the file back, or restart the server on the new one.`)
}

/** Decides a large change where nobody is kept waiting for it but who asked. */
function elsewhere(background: Background, { resource, versionResource, ...plan }: Write): Promise<Outcome> {
  return background.run('write', { plan, collection: resource.name, version: versionResource?.mapping.version })
}

/** Deletes the records of a filtered deletion: whoever asked for it hears of it when none is found any more. */
async function takeAll(background: Background, { deletion: job, now }: DeleteMatching): Promise<void> {
  for (let started = performance.now(); !(await background.run('take', { job, now })); started = performance.now()) {
    await sleep(performance.now() - started)
  }
}

/** Drops the indexes that only make things faster: the next start misses them, and makes them. */
function dropIndexes({ database }: Connection): void {
  const indexes = database
    .prepare("select name from sqlite_schema where type = 'index' and sql like 'create index %'")
    .all()
  for (const { name } of indexes) database.exec(`drop index ${sqlite.identifier(String(name))}`)
}

/**
 * Shows what a SQLite file lacks for a catalog, or, with `apply`, changes it.
 *
 * @throws MigrationRefused where `apply` meets something impossible
 */
export function migrateSqlite(path: string, catalog: Catalog, apply: boolean): Migrated {
  if (apply) makeFile(path)
  // What an absent file lacks is what an empty database lacks: to show that makes no file.
  const connection = new Connection(apply || existsSync(path) ? path : ':memory:')
  try {
    return migrate(connection.database, catalog, { apply: apply ? 'all' : 'never', now: Date.now(), isAsked: true })
  } catch (error) {
    if (apply || !(error instanceof MigrationRefused)) throw error
    return { steps: error.steps, applied: false }
  } finally {
    connection.close()
  }
}

/** The secret that signs cursors: made once, kept in the database. */
function cursorSecret(connection: Connection): Uint8Array {
  const fresh = randomBytes(32).toString('base64url')
  connection.all(sql`insert into resourced_meta (key, value) values ('cursor_secret', ${fresh}) on conflict do nothing`)
  const [row] = connection.all(sql`select value from resourced_meta where key = 'cursor_secret'`)
  return Buffer.from(String(row?.['value']), 'base64url')
}
