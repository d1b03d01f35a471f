/**
 * The only writer of a file. Changes that arrive together commit together, with one fsync for the group. A change
 * resolves after its commit is on the disk.
 */

import { type OnCommit, StorageFault } from '../storage.ts'
import type { Runner, Touched, Transaction } from '../transaction.ts'
import type { WriteProbe } from '../write-probe.ts'
import { type Connection, isBusy, type Reader, toStorageFault, withStorageFaults } from './connection.ts'
import { WriterTurns } from './writer-turns.ts'

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
  /** Called after each commit, before anything else is read, with the records that its changes touched. */
  readonly committed?: (touches: readonly Touched[]) => void
  /** Called between groups. */
  readonly afterwards?: () => void
  /** How long a change waits for the lock of another process, in milliseconds. */
  readonly patience?: number
  readonly onCommit?: OnCommit | undefined
  /** The turns of the writers of this thread; left out: this is the only one. */
  readonly turns?: WriterTurns | undefined
  /** Counts the commits that run or are not answered yet: one 32-bit integer. */
  readonly committing?: SharedArrayBuffer | undefined
  /** Receives the results of changes. */
  readonly outcomes?: Pick<WriteProbe, 'succeeded' | 'failed'>
}

/** Queues changes and commits them in groups. */
export class Writer {
  readonly #connection: Connection
  readonly #beforehand: () => void
  readonly #committed: (touches: readonly Touched[]) => void
  /** The records that the group has touched so far. */
  readonly #touched: Touched[] = []
  readonly #afterwards: () => void
  readonly #patience: number
  readonly #onCommit: OnCommit | undefined
  readonly #turns: WriterTurns
  readonly #committing: Int32Array
  readonly #outcomes: WriterOptions['outcomes']
  /** Whether the group changes anything. */
  #changes = false
  /** Whether the changes at the head of the queue run apart, because one of them has to be undone. */
  #apart = false
  #queue: Waiting[] = []
  /** How many changes the last group had. */
  #lastGroup = 1
  #scheduled = false
  #waitingSince: number | undefined

  constructor(
    connection: Connection,
    {
      beforehand = () => {},
      committed = () => {},
      afterwards = () => {},
      patience = 5_000,
      onCommit,
      turns = new WriterTurns(),
      committing = new SharedArrayBuffer(4),
      outcomes,
    }: WriterOptions = {},
  ) {
    this.#connection = connection
    this.#connection.touched = this.#touched
    this.#beforehand = beforehand
    this.#committed = committed
    this.#afterwards = afterwards
    this.#patience = patience
    this.#onCommit = onCommit
    this.#turns = turns
    this.#committing = new Int32Array(committing)
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

  /** Does work that makes several commits before its answer. If this thread ends meanwhile, nobody knows which. */
  async answer<T>(work: () => Promise<T>): Promise<T> {
    Atomics.add(this.#committing, 0, 1)
    try {
      return await work()
    } finally {
      this.#answered()
    }
  }

  /** The answers leave this thread in the next turn. */
  #answered(): void {
    setImmediate(() => setImmediate(() => Atomics.sub(this.#committing, 0, 1)))
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
  // takes microseconds, a commit milliseconds. A client that writes alone would only wait for itself.
  #gather(before: number): void {
    const { length } = this.#queue
    const mayGrow = length > before && length < groupSize
    if (mayGrow && Math.max(length, this.#lastGroup) > 1) setImmediate(() => this.#gather(length))
    else this.#take()
  }

  #take(): void {
    this.#turns.take(this, (time) => this.#flush(time))
  }

  /** @param time how long the statements may run, in milliseconds */
  #flush(time: number): void {
    this.#scheduled = false
    if (this.#queue.length === 0 || !this.#begin()) return
    const began = performance.now()
    this.#beforehand()
    const group = this.#queue.splice(0, groupSize)
    let answers: readonly (() => void)[] | undefined
    let duration: number
    this.#changes = false
    this.#touched.length = 0
    try {
      if (!this.#apart) answers = this.#runTogether(group, began + time)
      if (answers === undefined) {
        if (!this.#apart) {
          this.#apart = true
          this.#touched.length = 0
          this.#connection.execute('rollback')
          if (!this.#begin(group)) return
        }
        answers = this.#runApart(group, performance.now() + time)
        this.#apart = false
      }
      Atomics.add(this.#committing, 0, 1)
      try {
        this.#connection.execute('commit')
      } finally {
        this.#answered()
      }
      this.#committed(this.#touched)
      duration = performance.now() - began
    } catch (error) {
      this.#rollback()
      const fault = toStorageFault(error)
      this.#outcomes?.failed(fault)
      for (const waiting of group) waiting.reject(fault)
      return
    } finally {
      this.#lastGroup = group.length
      if (this.#queue.length > 0) this.#schedule()
    }
    if (this.#changes) this.#outcomes?.succeeded()
    for (const answer of answers) answer()
    this.#afterwards()
    this.#onCommit?.({ changes: group.length, duration })
  }

  /** Begins a transaction; `false`: the changes that wait, and `group` before them, are postponed or rejected. */
  #begin(group: readonly Waiting[] = []): boolean {
    try {
      this.#connection.execute('begin immediate')
      this.#waitingSince = undefined
      return true
    } catch (error) {
      this.#queue.unshift(...group)
      this.#postpone(error)
      return false
    }
  }

  /** Puts the changes of a group that begin too late back into the queue. */
  #cut(group: Waiting[], done: number, until: number): void {
    if (done < group.length && performance.now() >= until) this.#queue.unshift(...group.splice(done))
  }

  /**
   * Runs a group without savepoints between its changes, because full-text indexes flush at every savepoint.
   * `undefined` where one of the changes has to be undone: then the transaction has to be rolled back.
   */
  #runTogether(group: Waiting[], until: number): (() => void)[] | undefined {
    const answers: (() => void)[] = []
    const before = this.#connection.writes
    try {
      for (const { start, changed, resolve } of group) {
        const { writes } = this.#connection
        const outcome = this.#connection.run(start()) as never
        if (this.#connection.writes > writes && !changed(outcome)) return undefined
        answers.push(() => resolve(outcome))
        this.#cut(group, answers.length, until)
      }
    } catch (error) {
      if (!this.#connection.database.isTransaction) throw error
      return undefined
    }
    this.#changes = this.#connection.writes > before
    return answers
  }

  /** Runs a group with a savepoint for each change. */
  #runApart(group: Waiting[], until: number): (() => void)[] {
    const answers: (() => void)[] = []
    for (const waiting of group) {
      answers.push(this.#runOne(waiting))
      this.#cut(group, answers.length, until)
    }
    return answers
  }

  #runOne(waiting: Waiting): () => void {
    this.#connection.execute('savepoint change')
    const touched = this.#touched.length
    const undo = () => {
      this.#touched.length = touched
      this.#connection.execute('rollback to change')
    }
    try {
      const { writes } = this.#connection
      const outcome = this.#connection.run(waiting.start()) as never
      if (!waiting.changed(outcome)) undo()
      else if (this.#connection.writes > writes) this.#changes = true
      this.#connection.execute('release change')
      return () => waiting.resolve(outcome)
    } catch (error) {
      // A full disk or a failed read rolls the whole transaction back, so the whole group fails.
      if (!this.#connection.database.isTransaction) throw error
      undo()
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
      setTimeout(() => this.#take(), 1)
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
export function runnerOf(reading: Pick<Reader, 'run'>, writer: Writer): Runner {
  return {
    read: (start) => withStorageFaults(() => reading.run(start)),
    write: (start, changed = () => true) => writer.write(start, changed),
  }
}
