/**
 * SQLite connections: their settings, prepared statements and runner of transactions, the errors of SQLite as those of
 * the storage port, and the reader: one snapshot for all reads of one turn of the event loop, and a memory that is
 * valid as long as `data_version` stays the same.
 */
import { performance } from 'node:perf_hooks'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { BoundedMap } from '../sql/bounded-map.ts'
import { totalTooLarge } from '../sql/totals.ts'
import { StorageFault } from '../storage.ts'
import { messagesReceived } from '../threads/channel.ts'
import type { Row, Statement, Touched, Transaction } from '../transaction.ts'
import { Memory } from '../transactions/memory.ts'
import { addFunctions } from './dialect.ts'
import { forgetAttribution } from './event-triggers.ts'
import { withPath } from './file.ts'
import type { Excesses } from './total-triggers.ts'

/** How durable commits are: `full` survives a power cut; `off` is for files that nobody needs after a power cut. */
export type Synchronous = 'full' | 'off'

/** A connection that runs each transaction synchronously to its end, so that transactions never interleave. */
export class Connection {
  readonly database: DatabaseSync
  /** How many statements were run that may have changed something. */
  writes = 0
  /** The records that statements have touched, where their owner wants to know. */
  touched: Touched[] | undefined
  /** Whether somebody makes the changes of the running transaction (`attributing`). */
  #isAttributed = false
  readonly #excesses: Excesses
  // Their shapes come from queries.
  readonly #statements = new BoundedMap<StatementSync>(500)

  /**
   * @param options `log`: `none` for a file that no other connection uses and that is synced when it is complete: no
   * files stay beside it
   */
  constructor(
    path: string,
    options: { readonly readOnly?: boolean; readonly synchronous?: Synchronous; readonly log?: 'wal' | 'none' } = {},
  ) {
    const { readOnly = false, log = 'wal', synchronous = log === 'none' ? 'off' : 'full' } = options
    // The timeout until `stopWaiting`: other processes may be starting on the same file, or migrating it.
    this.database = withPath(path, () => new DatabaseSync(path, { readOnly, timeout: readOnly ? 0 : 60_000 }))
    this.#excesses = addFunctions(this.database)
    if (!readOnly) {
      // A checkpoint at 16 MB of log: a page that changes often is copied into the file once.
      // A backup lets the log grow. At 64 MB it is truncated afterwards.
      const wal = 'pragma journal_mode = wal; pragma wal_autocheckpoint = 4000; pragma journal_size_limit = 67108864'
      const none = 'pragma locking_mode = exclusive; pragma journal_mode = delete'
      withPath(path, () => this.database.exec(`${log === 'wal' ? wal : none}; pragma synchronous = ${synchronous}`))
    }
    // In KiB. Readers profit from a larger cache; a group of changes touches fewer pages.
    const cache = `pragma cache_size = ${readOnly ? -2_000 : -4_000}`
    this.database.exec(`${cache}; pragma temp_store = memory; pragma trusted_schema = on`)
  }

  /** Runs one statement. */
  all(statement: Statement): Row[] {
    const { sql, values, touches, attributes } = statement
    if (attributes) this.#isAttributed = true
    if (!sql.startsWith('select')) this.writes++
    // A statement that failed may have left some.
    this.#excesses.clear()
    const rows = this.#prepare(sql).all(...(values as never[])) as Row[]
    for (const amount of this.#excesses.values()) throw totalTooLarge(amount)
    if (touches !== undefined) this.touched?.push(touches)
    return rows
  }

  /**
   * Runs a transaction's statements; BEGIN and COMMIT are the caller's.
   *
   * @param first its first step, if it has begun
   */
  run<T>(transaction: Transaction<T>, first = transaction.next([])): T {
    if (this.#isAttributed) forgetAttribution(this.database)
    this.#isAttributed = false
    let step = first
    while (step.done !== true) {
      let rows: Row[]
      try {
        rows = this.all(step.value)
      } catch (error) {
        step = transaction.throw(error)
        continue
      }
      step = transaction.next(rows)
    }
    return step.value
  }

  /** The only row of a statement without parameters. */
  row(text: string): Row {
    return this.#prepare(text).get() as Row
  }

  /** The only value that a statement without parameters gives. */
  value(text: string): unknown {
    const row = this.#prepare(text).get()
    return row === undefined ? undefined : Object.values(row)[0]
  }

  /** Runs a statement without parameters, prepared once. */
  execute(text: string): void {
    // Not run(): it reads back the last rowid, which a deletion from a full-text index leaves beyond 2^53, and throws.
    this.#prepare(text).all()
  }

  /** Ends waiting for locks inside SQLite, which would block the event loop. The writer retries instead. */
  stopWaiting(): void {
    this.database.exec('pragma busy_timeout = 0')
  }

  close(): void {
    this.#statements.clear()
    this.database.close()
  }

  #prepare(text: string): StatementSync {
    const known = this.#statements.get(text)
    if (known !== undefined) return known
    const statement = this.database.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }
}

/** Runs work in a transaction, which is rolled back where the work throws. */
export function inTransaction<T>(database: DatabaseSync, begin: 'begin' | 'begin immediate', work: () => T): T {
  database.exec(begin)
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}

const busyCodes = new Set([5, 6])

/** Whether another process holds the lock, so that a retry may succeed. */
export function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' && busyCodes.has(code & 0xff)
}

// Primary result codes of SQLite for files that cannot be written.
const unwritable: ReadonlyMap<number, string> = new Map([
  [13, 'The disk of the database is full. Free space on it, or make it larger; writes then succeed without a restart.'],
  [8, 'The database is read-only. Look at the rights of its file and folder, and at how its disk is mounted.'],
  [10, 'The disk of the database fails. Look at the disk and at its quotas; writes succeed once the disk works.'],
  [14, 'The database cannot be opened. Check that its file and its folder exist, and their permissions.'],
])

/** An error as the port throws it. Faults of the request, and of the program, pass unchanged. */
export function toStorageFault(error: unknown): unknown {
  if ((error as { code?: unknown } | null)?.code !== 'ERR_SQLITE_ERROR') return error
  if (isBusy(error)) return new StorageFault('busy', 'The database is locked by another process.', error)
  const code = (error as { errcode?: unknown }).errcode
  const message = typeof code === 'number' ? unwritable.get(code & 0xff) : undefined
  if (message !== undefined) return new StorageFault('unwritable', message, error)
  return new StorageFault('failed', 'SQLite failed.', error)
}

/**
 * A number that grows each time something may have arrived: when the event loop has polled, and with each message of
 * another thread. `NaN` in runtimes that do not count polls: then every read has a snapshot of its own.
 */
function arrivals(): number {
  const { loopCount = Number.NaN, events = Number.NaN } = performance.nodeTiming?.uvMetricsInfo ?? {}
  return loopCount + events + messagesReceived()
}

/** Reads on a connection that only reads, or, for a database in memory, on its only connection. */
export class Reader {
  readonly memory: Memory
  readonly #connection: Connection
  readonly #isOnly: boolean
  #version: unknown
  /** When it was read, as `arrivals` counts. */
  #versionRead = Number.NaN
  #schema: unknown
  /** How many changes of this process were announced. */
  #changes = 0
  #open = false
  /** When the snapshot was opened, as `arrivals` counts. */
  #opened = Number.NaN

  /**
   * @param isOnly whether this is the database's only connection: then all changes are its own, and each is announced
   * by `endTurn`
   */
  constructor(connection: Connection, isOnly: boolean, memory = new Memory()) {
    this.memory = memory
    this.#connection = connection
    this.#isOnly = isOnly
  }

  /** Runs a reading transaction on the snapshot of this turn, which one that is answered from memory does not need. */
  run<T>(start: () => Transaction<T>): T {
    const state = this.state()
    const transaction = start()
    const first = transaction.next([])
    if (first.done === true) return first.value
    this.begin()
    // What was found in memory may be older than the snapshot.
    return this.state() === state ? this.#connection.run(transaction, first) : this.#connection.run(start())
  }

  /** What the reads of this turn see: another value after each change of the database. */
  state(): unknown {
    if (this.#isOnly) return this.#changes
    const now = arrivals()
    if (this.#versionRead !== now) {
      this.#end()
      this.#readVersion(now)
    }
    return this.#version
  }

  /** Opens the snapshot of this turn. If the database has changed, so that its clocks must be read again, says so. */
  begin(): void {
    if (this.#isOnly) return
    const now = arrivals()
    if (this.#open && this.#opened === now) return
    // A timer or an immediate opened it. The request that is answered now may have arrived afterwards.
    this.#end()
    this.#connection.execute('begin')
    this.#open = true
    this.#opened = now
    setImmediate(() => this.#end())
    try {
      this.#readVersion(now)
    } catch (error) {
      this.endTurn()
      throw error
    }
  }

  /**
   * Ends the snapshot, before a change by this process: a client that gets the response of the change then also sees
   * the change.
   */
  endTurn(): void {
    this.#changes++
    this.#versionRead = Number.NaN
    this.#end()
    this.memory.changed()
  }

  close(): void {
    this.#end()
    this.#connection.close()
  }

  #readVersion(now: number): void {
    const version = this.#connection.value('pragma data_version')
    if (version !== this.#version) this.#notice()
    this.#version = version
    this.#versionRead = now
  }

  #notice(): void {
    this.memory.changed()
    // Another process may migrate the database. The clocks do not show every change of a table.
    const schema = this.#connection.value('pragma schema_version')
    if (schema !== this.#schema) this.memory.forget()
    this.#schema = schema
  }

  #end(): void {
    if (!this.#open) return
    this.#open = false
    // A failed read may have ended it already.
    if (this.#connection.database.isTransaction) this.#connection.execute('commit')
  }
}

/** Runs work synchronously, and turns errors of the engine into those of the port. */
export async function withStorageFaults<T>(work: () => T): Promise<T> {
  try {
    return work()
  } catch (error) {
    throw toStorageFault(error)
  }
}
