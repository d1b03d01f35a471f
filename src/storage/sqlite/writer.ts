/**
 * The only writer of a file. Changes that arrive together commit together, with one fsync for the group. A change
 * resolves after its commit is on the disk.
 */

import { type OnCommit, StorageFault } from '../storage.ts'
import type { Runner, Transaction } from '../transaction.ts'
import type { WriteProbe } from '../write-probe.ts'
import { type Connection, isBusy, toStorageFault, withStorageFaults } from './connection.ts'

/** The most changes of one commit: reads wait while a group runs. */
const groupSize = 256

interface Waiting {
  readonly start: () => Transaction<unknown>
  readonly changed: (outcome: never) => boolean
  readonly resolve: (outcome: never) => void
  readonly reject: (error: unknown) => void
}

interface WriterOptions {
  /** Called before each group; nothing is read between the call and the commit. */
  readonly beforehand?: () => void
  /** How long a change waits for the lock of another process, in milliseconds. */
  readonly patience?: number
  readonly onCommit?: OnCommit | undefined
  /** Receives the results of changes. */
  readonly outcomes?: Pick<WriteProbe, 'succeeded' | 'failed'>
}

/** Queues changes and commits them in groups. */
export class Writer {
  readonly #connection: Connection
  readonly #beforehand: () => void
  readonly #patience: number
  readonly #onCommit: OnCommit | undefined
  readonly #outcomes: WriterOptions['outcomes']
  /** Whether the group changes anything. */
  #changes = false
  #queue: Waiting[] = []
  #scheduled = false
  #waitingSince: number | undefined

  constructor(
    connection: Connection,
    { beforehand = () => {}, patience = 5_000, onCommit, outcomes }: WriterOptions = {},
  ) {
    this.#connection = connection
    this.#beforehand = beforehand
    this.#patience = patience
    this.#onCommit = onCommit
    this.#outcomes = outcomes
  }

  /**
   * Runs a change; resolves once it is durable.
   *
   * @param start makes the transaction
   * @param changed whether a result is a change; otherwise the transaction is rolled back
   * @throws StorageFault where the database fails; the change is not made then
   */
  write<T>(start: () => Transaction<T>, changed: (outcome: T) => boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ start, changed, resolve, reject } as Waiting)
      this.#schedule()
    })
  }

  /** Commits everything that waits. */
  async drain(): Promise<void> {
    while (this.#queue.length > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#gather(0))
  }

  // Waits for further turns of the event loop as long as each brings more changes, and makes them one group: a turn
  // takes microseconds, a commit milliseconds.
  #gather(before: number): void {
    const { length } = this.#queue
    if (length > before && length < groupSize) setImmediate(() => this.#gather(length))
    else this.#flush()
  }

  #flush(): void {
    this.#scheduled = false
    if (this.#queue.length === 0) return
    try {
      this.#connection.execute('begin immediate')
    } catch (error) {
      this.#postpone(error)
      return
    }
    this.#waitingSince = undefined
    const began = this.#onCommit === undefined ? 0 : performance.now()
    this.#beforehand()
    const group = this.#queue.splice(0, groupSize)
    if (this.#queue.length > 0) this.#schedule()
    let answers: readonly (() => void)[]
    let duration: number
    this.#changes = false
    try {
      answers = this.#runTogether(group) ?? group.map((waiting) => this.#runOne(waiting))
      this.#connection.execute('commit')
      duration = this.#onCommit === undefined ? 0 : performance.now() - began
    } catch (error) {
      this.#rollback()
      const fault = toStorageFault(error)
      this.#outcomes?.failed(fault)
      for (const waiting of group) waiting.reject(fault)
      return
    }
    if (this.#changes) this.#outcomes?.succeeded()
    for (const answer of answers) answer()
    this.#onCommit?.({ changes: group.length, duration })
  }

  /**
   * Runs a group without savepoints between its changes, because full-text indexes flush at every savepoint.
   * `undefined` where one of the changes has to be rolled back: then none was made.
   */
  #runTogether(group: readonly Waiting[]): (() => void)[] | undefined {
    this.#connection.execute('savepoint changes')
    const answers: (() => void)[] = []
    const before = this.#connection.writes
    try {
      for (const { start, changed, resolve } of group) {
        const { writes } = this.#connection
        const outcome = this.#connection.run(start()) as never
        if (this.#connection.writes > writes && !changed(outcome)) return this.#undoChanges()
        answers.push(() => resolve(outcome))
      }
    } catch (error) {
      if (!this.#connection.database.isTransaction) throw error
      return this.#undoChanges()
    }
    this.#connection.execute('release changes')
    this.#changes = this.#connection.writes > before
    return answers
  }

  #undoChanges(): undefined {
    this.#connection.execute('rollback to changes')
    this.#connection.execute('release changes')
  }

  /** Runs a change with a savepoint of its own. */
  #runOne(waiting: Waiting): () => void {
    this.#connection.execute('savepoint change')
    try {
      const { writes } = this.#connection
      const outcome = this.#connection.run(waiting.start()) as never
      if (!waiting.changed(outcome)) this.#connection.execute('rollback to change')
      else if (this.#connection.writes > writes) this.#changes = true
      this.#connection.execute('release change')
      return () => waiting.resolve(outcome)
    } catch (error) {
      // A full disk or a failed read rolls the whole transaction back, so the whole group fails.
      if (!this.#connection.database.isTransaction) throw error
      this.#connection.execute('rollback to change')
      this.#connection.execute('release change')
      const fault = toStorageFault(error)
      this.#outcomes?.failed(fault)
      return () => waiting.reject(fault)
    }
  }

  #postpone(error: unknown): void {
    this.#waitingSince ??= Date.now()
    if (isBusy(error) && Date.now() - this.#waitingSince < this.#patience) {
      this.#scheduled = true
      setTimeout(() => this.#flush(), 1)
      return
    }
    this.#waitingSince = undefined
    const fault = isBusy(error) ? new StorageFault('busy', 'The database stayed locked.', error) : toStorageFault(error)
    this.#outcomes?.failed(fault)
    for (const waiting of this.#queue.splice(0)) waiting.reject(fault)
  }

  #rollback(): void {
    if (this.#connection.database.isTransaction) this.#connection.execute('rollback')
  }
}

/** A runner that reads on a connection and writes through a writer. */
export function runnerOf(reading: Pick<Connection, 'run'>, writer: Writer): Runner {
  return {
    read: (start) => withStorageFaults(() => reading.run(start())),
    write: (start, changed = () => true) => writer.write(start, changed),
  }
}
