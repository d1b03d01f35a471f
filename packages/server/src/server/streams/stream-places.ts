/** Counts the open streams of each caller, for one process or for several (EVT-7). */

/** Counts the streams of callers. */
export interface StreamPlaces {
  /** Counts a stream. Returns whether the caller may have one more; otherwise nothing is counted. */
  take(caller: string, most: number): Promise<boolean>
  release(caller: string): void
}

/** The streams of one process, as a part of those of all processes. */
export class OwnPlaces implements StreamPlaces {
  readonly #all: Map<string, number>
  readonly #own = new Map<string, number>()

  /**
   * @param all the streams of all processes by caller, which are counted together
   */
  constructor(all = new Map<string, number>()) {
    this.#all = all
  }

  async take(caller: string, most: number): Promise<boolean> {
    if ((this.#all.get(caller) ?? 0) >= most) return false
    add(this.#all, caller, 1)
    add(this.#own, caller, 1)
    return true
  }

  release(caller: string): void {
    add(this.#all, caller, -1)
    add(this.#own, caller, -1)
  }

  /** Releases everything: the process has ended. */
  releaseAll(): void {
    for (const [caller, count] of this.#own) add(this.#all, caller, -count)
    this.#own.clear()
  }
}

function add(counts: Map<string, number>, caller: string, change: number): void {
  const count = (counts.get(caller) ?? 0) + change
  if (count > 0) counts.set(caller, count)
  else counts.delete(caller)
}
