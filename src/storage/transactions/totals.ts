/** Exact totals of filtered lists, kept for as long as no collection that they depend on has changed. */

/** A bounded cache: the least recently used total goes first. */
export class Totals {
  readonly #known = new Map<string, { revision: number; total: number }>()
  readonly #most: number

  constructor(most = 10_000) {
    this.#most = most
  }

  /** The total of a list, if it was counted at this revision. */
  get(key: string, revision: number): number | undefined {
    const entry = this.#known.get(key)
    if (entry?.revision !== revision) return undefined
    this.#known.delete(key)
    this.#known.set(key, entry)
    return entry.total
  }

  /** The total that a list had when it was counted last, and the revision at which that was. */
  last(key: string): { readonly revision: number; readonly total: number } | undefined {
    return this.#known.get(key)
  }

  set(key: string, revision: number, total: number): void {
    this.#known.delete(key)
    this.#known.set(key, { revision, total })
    if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value as string)
  }
}
