/** The turns of writers that share a thread (TEN-4), such as those of the files of tenants. */

/**
 * How long the statements of a group may run, in milliseconds; the commit takes about as long again. Changes that have
 * not begun by then go into the next group.
 */
const groupTime = { alone: 20, shared: 5 } as const

/** For so long after the turn of another writer groups are short, in milliseconds. */
const sharedFor = 1_000

/** A writer with changes that wait. */
interface WaitingWriter {
  readonly writer: object
  /** @param time how long its statements may run */
  readonly run: (time: number) => void
}

/**
 * A turn is one group of changes, and its answers leave the thread before the next turn begins. A writer has a further
 * turn after those that wait, also if their changes have arrived during its turn. So each waits for one group of each
 * of the others, however many changes they have.
 */
export class WriterTurns {
  readonly #line: WaitingWriter[] = []
  #isTaken = false
  #last: object | undefined
  #sharedAt = Number.NEGATIVE_INFINITY

  /** Runs a group of a writer when it is its turn: at once, unless another turn goes on. */
  take(writer: object, run: WaitingWriter['run']): void {
    this.#line.push({ writer, run })
    if (!this.#isTaken) this.#begin()
  }

  #begin(): void {
    const other = this.#line.findIndex(({ writer }) => writer !== this.#last)
    const [next] = this.#line.splice(Math.max(0, other), 1)
    if (next === undefined) return
    this.#isTaken = true
    const end = () => {
      this.#isTaken = false
      this.#begin()
    }
    // In the first of these turns of the event loop, answers are sent, and changes arrive.
    setImmediate(() => setImmediate(end))
    const now = performance.now()
    if (this.#last !== undefined && this.#last !== next.writer) this.#sharedAt = now
    this.#last = next.writer
    next.run(now - this.#sharedAt < sharedFor ? groupTime.shared : groupTime.alone)
  }
}
