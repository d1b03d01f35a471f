/**
 * The reading side: one snapshot for everything that one turn of the event loop reads, and a memory that is true for as
 * long as `data_version` stays. See docs/decisions/010-one-snapshot-a-turn.md.
 */

import type { Runner, Transaction } from '../transaction.ts'
import { Memory } from '../transactions/memory.ts'
import { type Connection, toStorageFault } from './connection.ts'
import type { Writer } from './writer.ts'

/** Reads on a connection that nobody writes on, or, for a database in memory, on the only one there is. */
export class Reader {
  readonly memory = new Memory()
  readonly #connection: Connection
  readonly #alone: boolean
  #version: unknown
  #open = false

  /**
   * @param alone whether this is the database's only connection: then its own changes are the only ones, and `endTurn`
   * tells of them
   */
  constructor(connection: Connection, alone: boolean) {
    this.#connection = connection
    this.#alone = alone
  }

  /** Runs a reading transaction on the snapshot of this turn. */
  run<T>(transaction: Transaction<T>): T {
    this.begin()
    return this.#connection.run(transaction)
  }

  /** Sees that the memory is true: what it knows may be told until the turn ends. */
  begin(): void {
    if (this.#open || this.#alone) return
    this.#connection.execute('begin')
    this.#open = true
    setImmediate(() => this.#end())
    try {
      const version = this.#connection.value('pragma data_version')
      if (version !== this.#version) this.memory.forget()
      this.#version = version
    } catch (error) {
      this.endTurn()
      throw error
    }
  }

  /**
   * Ends the snapshot, and forgets: before a change by this process, so that whoever hears of the change also sees it.
   */
  endTurn(): void {
    this.#end()
    this.memory.forget()
  }

  close(): void {
    this.#end()
    this.#connection.close()
  }

  #end(): void {
    if (!this.#open) return
    this.#open = false
    // A failed read may have ended it already.
    if (this.#connection.database.isTransaction) this.#connection.execute('commit')
  }
}

/** Runs transactions on a connection that reads, and by a writer. */
export function runnerOf(reading: Pick<Connection, 'run'>, writer: Writer): Runner {
  return {
    read: (start) => withStorageFaults(() => reading.run(start())),
    write: (start, changed = () => true) => writer.write(start, changed),
  }
}

/** Answers with what is read at once; an error of the engine becomes the port's. */
export async function withStorageFaults<T>(work: () => T): Promise<T> {
  try {
    return work()
  } catch (error) {
    throw toStorageFault(error)
  }
}
