/** The limit of the processor time of a read (LIM-7), which the thread that reads checks while its statement runs. */
import { StorageFault } from '../storage.ts'

/** What a read that reaches its limit is refused with. */
export function readTooLong(): StorageFault {
  return new StorageFault('too-long', 'The read took longer than limits.readTime.')
}

/** The clocks of a thread, in milliseconds. */
export interface ThreadClocks {
  /** The time that has passed. */
  passed(): number
  /** The processor time that the thread has used. */
  worked(): number
}

/** Waiting for a processor does not count, except in runtimes that do not measure the processor time of a thread. */
export const threadClocks: ThreadClocks = {
  passed: () => performance.now(),
  worked() {
    if (process.threadCpuUsage === undefined) return performance.now()
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  },
}

/** Ends reads that have worked for too long. */
export class WorkLimit {
  readonly #most: number
  readonly #clocks: ThreadClocks
  #began = 0
  /** When the processor time is looked at next: to look takes far longer than to ask for the time that has passed. */
  #next = 0

  /** @param most milliseconds of processor time */
  constructor(most: number, clocks = threadClocks) {
    this.#most = most
    this.#clocks = clocks
  }

  /** Begins a read. */
  begin(): void {
    this.#began = this.#clocks.worked()
    this.#next = this.#clocks.passed() + this.#most
  }

  /** @throws StorageFault `too-long` */
  check(): void {
    const now = this.#clocks.passed()
    if (now < this.#next) return
    const left = this.#began + this.#most - this.#clocks.worked()
    if (left <= 0) throw readTooLong()
    // In so much time a thread works for so much time at most.
    this.#next = now + left
  }
}
