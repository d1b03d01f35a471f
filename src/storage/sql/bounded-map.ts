/**
 * A map that holds at most so many entries: the least recently used entry is dropped first. For entries whose number
 * callers control: queries, statements.
 */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #most: number
  readonly #dropped: (key: string, value: Value) => void

  /** @param dropped called for a dropped entry */
  constructor(most: number, dropped: (key: string, value: Value) => void = () => {}) {
    this.#most = most
    this.#dropped = dropped
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    // The order matters only when an entry may soon be dropped.
    if (value !== undefined && this.#entries.size * 2 > this.#most) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#most) return
    const [oldest, gone] = this.#entries.entries().next().value as [string, Value]
    this.#entries.delete(oldest)
    this.#dropped(oldest, gone)
  }

  /** The value of a key, created if it is missing. */
  of(key: string, make: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
