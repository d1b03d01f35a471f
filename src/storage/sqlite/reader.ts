/**
 * The reading connection: one snapshot for all reads of one turn of the event loop, and a memory that is valid as long
 * as `data_version` stays the same. See docs/decisions/010-one-snapshot-a-turn.md.
 */

import type { Runner, Transaction } from '../transaction.ts'
import { Memory } from '../transactions/memory.ts'
import { type Connection, toStorageFault } from './connection.ts'
import type { Writer } from './writer.ts'

/** Reads on a connection that only reads, or, for a database in memory, on its only connection. */
export class Reader {
  readonly memory = new Memory()
  readonly #connection: Connection
  readonly #isOnly: boolean
  #version: unknown
  #open = false

  /**
   * @param isOnly whether this is the database's only connection: then all changes are its own, and each is announced
   * by `endTurn`
   */
  constructor(connection: Connection, isOnly: boolean) {
    this.#connection = connection
    this.#isOnly = isOnly
  }

  /** Runs a reading transaction on the snapshot of this turn. */
  run<T>(transaction: Transaction<T>): T {
    this.begin()
    return this.#connection.run(transaction)
  }

  /** Opens the snapshot of this turn, and clears the memory if the database has changed. */
  begin(): void {
    if (this.#open || this.#isOnly) return
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
   * Ends the snapshot and clears the memory, before a change by this process: a client that gets the response of the
   * change then also sees the change.
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

/** A runner that reads on a connection and writes through a writer. */
export function runnerOf(reading: Pick<Connection, 'run'>, writer: Writer): Runner {
  return {
    read: (start) => withStorageFaults(() => reading.run(start())),
    write: (start, changed = () => true) => writer.write(start, changed),
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
