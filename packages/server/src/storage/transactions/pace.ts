/**
 * How many records one batch of a background job changes. Other writers wait for a batch, so its size follows from how
 * long the last batches of the same kind held the writer: as many fewer records as a batch took too long, and slowly
 * more after batches that took a short time.
 */

/** A batch that held the writer longer than this, in milliseconds, is followed by smaller ones. */
const long = 20

/** How long a batch then takes, if records cost as much as before. */
const aim = 12

/** A batch that held the writer for less than this, in milliseconds, is followed by larger ones. */
const short = 8

const smallest = 10
const largest = 1_000
const first = 50

/** The sizes of batches, by kind: a task, or a phase of one. */
export class Pace {
  readonly #sizes = new Map<string, number>()
  /** How long a commit takes on this disk, however little it writes. */
  #quickest = Number.POSITIVE_INFINITY

  /** How many records the next batch of a kind changes. */
  sizeFor(kind: string): number {
    return this.#sizes.get(kind) ?? first
  }

  /**
   * Notes a batch.
   *
   * @param worked how long its statements took, in milliseconds
   * @param committed how long its commit took: a slow disk is no reason for smaller batches, but much to write is
   */
  note(kind: string, worked: number, committed = 0): void {
    const size = this.sizeFor(kind)
    // The disk may become slower.
    this.#quickest = Math.min(committed, this.#quickest * 1.1 + 0.1)
    const own = worked + committed - this.#quickest
    if (own > long) this.#sizes.set(kind, Math.max(smallest, Math.floor(size * Math.max(aim / own, 1 / 8))))
    else if (worked + committed < short) this.#sizes.set(kind, Math.min(largest, Math.ceil(size * 1.25)))
  }

  /** Runs a batch whose kind is known once it runs, and notes it. */
  measure<T>(task: string, run: (sizeFor: (phase: string) => number) => T): { readonly ran: T; readonly note: Note } {
    let kind = task
    const ran = run((phase) => {
      kind = `${task} ${phase}`
      return this.sizeFor(kind)
    })
    return { ran, note: (worked, committed) => this.note(kind, worked, committed) }
  }
}

/** Notes how long a batch took: see `Pace.note`. */
type Note = (worked: number, committed?: number) => void
