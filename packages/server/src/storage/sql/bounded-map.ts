interface Entry<Value> {
  readonly value: Value
  readonly weight: number
  /** Whether the entry was used since the hand passed it. */
  used: boolean
}

/**
 * A map whose entries together have at most so much weight: an entry that was not used for long is dropped first. For
 * entries whose number callers control: queries, statements, answers.
 *
 * Entries to drop are found by a hand that goes round (the CLOCK algorithm), so a look-up only marks its entry.
 */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #most: number
  readonly #dropped: (key: string, value: Value) => void
  #weight = 0
  #hand: Iterator<[string, Entry<Value>]> = this.#entries.entries()

  /** @param dropped called for a dropped entry */
  constructor(most: number, dropped: (key: string, value: Value) => void = () => {}) {
    this.#most = most
    this.#dropped = dropped
  }

  get size(): number {
    return this.#entries.size
  }

  /** The weight of all entries. */
  get weight(): number {
    return this.#weight
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  set(key: string, value: Value, weight = 1): void {
    this.delete(key)
    this.#entries.set(key, { value, weight, used: true })
    this.#weight += weight
    while (this.#weight > this.#most) this.#pass()
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
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  /** Passes one entry: drops it, unless it was used since the hand passed it before. */
  #pass(): void {
    const { value: passed, done } = this.#hand.next()
    if (done) {
      this.#hand = this.#entries.entries()
      return
    }
    const [key, entry] = passed
    if (entry.used) entry.used = false
    else {
      this.delete(key)
      this.#dropped(key, entry.value)
    }
  }
}
