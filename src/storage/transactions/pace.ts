/**
 * How many records one batch of a background job changes. Other writers wait for a batch, so its size follows from how
 * long the last batches held the writer: half as many records after a batch that took long, and slowly more after
 * batches that took a short time.
 */

/** A batch that held the writer longer than this, in milliseconds, is followed by smaller ones. */
const long = 20

/** A batch that held the writer for less than this, in milliseconds, is followed by larger ones. */
const short = 8

const smallest = 10
const largest = 1_000
const first = 100

/** The sizes of batches, by task. */
export class Pace {
  readonly #sizes = new Map<string, number>()

  /** How many records the next batch of a task changes. */
  sizeFor(task: string): number {
    return this.#sizes.get(task) ?? first
  }

  /**
   * Notes a batch.
   *
   * @param worked how long its statements took, in milliseconds
   * @param committed how long its commit took: a slow disk is no reason for smaller batches
   */
  note(task: string, worked: number, committed = 0): void {
    const size = this.sizeFor(task)
    const held = worked + committed
    if (worked > long || (held > 40 && worked > committed))
      this.#sizes.set(task, Math.max(smallest, Math.floor(size / 2)))
    else if (held < short) this.#sizes.set(task, Math.min(largest, Math.ceil(size * 1.25)))
  }
}
