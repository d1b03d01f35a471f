/**
 * Pages on a SQLite file. A page that is expected to be quick is read where requests are answered. If it turns out not
 * to be, it is stopped, and read on a thread like those that are expected to take long. See
 * docs/decisions/047-reader-threads.md.
 */
import type { Outcome, ReadPage } from '../../plan/plan.ts'
import { type Opened, type SqlContext, sqlContext } from '../sql/context.ts'
import type { Requester } from '../storage.ts'
import type { List } from '../transactions/list.ts'
import { type KnownList, Paces, quick } from '../transactions/read-cost.ts'
import { type IsLong, isUnfiltered, pageKey, readPage } from '../transactions/read-page.ts'
import { plainPage, type ReadElsewhere } from '../transactions/slow-reads.ts'
import { type Connection, type Reader, toStorageFault, withStorageFaults } from './connection.ts'
import { ReaderThreads } from './reader-threads.ts'
import { makeStoppable, Stopped, stoppableSqlite } from './stoppable-reads.ts'

/** Reads pages. */
export interface PageReads {
  /** @throws StorageFault where the database fails, or the read is stopped or refused */
  read(plan: ReadPage, requester: Requester | undefined): Promise<Outcome>
  close(): Promise<void>
}

/** A database in memory has one connection, which also writes: all pages are read where requests are answered. */
export function pagesInMemory(context: SqlContext, reader: Reader): PageReads {
  return {
    read: (plan) => withStorageFaults(() => reader.run(readPage(context, reader.memory, plan))),
    async close() {},
  }
}

/** A file that is read: the connection for requests, which does not write, and its reader. */
interface ReadFile {
  readonly path: string
  readonly connection: Connection
  readonly reader: Reader
}

/** Reads pages of a file. */
export function pagesOfFile(
  opened: Omit<Opened, 'engine'> & { readonly tagSecret: Uint8Array },
  { path, connection, reader }: ReadFile,
): PageReads {
  const threads = new ReaderThreads({ path, catalog: opened.catalog, tagSecret: opened.tagSecret })
  const pages = new PagesOfFile(sqlContext({ ...opened, engine: stoppableSqlite }), reader, threads)
  makeStoppable(connection.database, opened.catalog, pages.check)
  return pages
}

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
    } finally {
      this.#deadline = Number.POSITIVE_INFINITY
    }
    const current = this.#current as CurrentList | undefined
    if (outcome === undefined) return this.#readElsewhere(plan, current, requester)
    if (current !== undefined) this.#paces.learn(current.list, current.known, performance.now() - started)
    return outcome
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  readonly #isLong: IsLong = (list, { revision, live }) => {
    const hasTotal = isUnfiltered(list.plan) || this.#reader.memory.totals.get(list.totalKey, revision) !== undefined
    const known = { live, hasTotal }
    this.#current = { list, known }
    return this.#paces.isLong(list, known)
  }

  async #readElsewhere(
    plan: ReadPage,
    current: CurrentList | undefined,
    requester: Requester | undefined,
  ): Promise<Outcome> {
    const { memory } = this.#reader
    const { totals } = memory
    const asked = plainPage(plan, current && totals.last(current.list.totalKey))
    const { outcome, took, total, tagged, state } = (await this.#threads.run('page', asked, requester)) as ReadElsewhere
    if (current !== undefined) {
      const { list, known } = current
      this.#paces.learn(list, known, took)
      if (total !== undefined) totals.set(list.totalKey, total.revision, total.total)
      list.tagged = tagged
    }
    const key = pageKey(plan)
    if (key !== undefined && outcome.kind === 'page') memory.keepPage(key, state, outcome)
    return outcome
  }
}
