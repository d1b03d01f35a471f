/** The time that the database has for a read (LIM-7). */
import { StorageFault } from '../storage.ts'
import type { Statement } from '../transaction.ts'

/** PostgreSQL is told the rest of the time again after so large a part of the limit was used. */
const step = 0.02

/** The rest of a read's time: the statements of the read use it up, waiting for a connection does not. */
export class ReadTime {
  readonly #limit: number
  #left: number
  /** What PostgreSQL enforces for the next statement. */
  #enforced: number

  /** @param limit in milliseconds; the connection enforces it for each single statement */
  constructor(limit: number) {
    this.#limit = limit
    this.#left = limit
    this.#enforced = limit
  }

  /** The rest in whole milliseconds, at least one: zero would be no limit. */
  get left(): number {
    return Math.max(1, Math.ceil(this.#left))
  }

  /** A transaction begins: statements have the limit of the connection. */
  begin(): void {
    this.#enforced = this.#limit
  }

  /** The statements to send before the next one, so that it ends in time. */
  statements(limiting: (milliseconds: number) => Statement): readonly Statement[] {
    if (this.#enforced - this.#left <= this.#limit * step) return []
    this.#enforced = this.left
    return [limiting(this.left)]
  }

  /**
   * Runs statements in the rest of the time.
   *
   * @throws StorageFault `too-long` if there is none
   */
  async spend<T>(statements: () => Promise<T>): Promise<T> {
    if (this.#left <= 0) throw new StorageFault('too-long', 'The time of the read is over.')
    const began = performance.now()
    try {
      return await statements()
    } finally {
      this.#left -= performance.now() - began
    }
  }
}
