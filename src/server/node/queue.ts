/** First in, first out, each in constant time: an array moves all that it holds for each one taken. */
export class Queue<T> {
  #incoming: T[] = []
  #outgoing: T[] = []

  get length(): number {
    return this.#incoming.length + this.#outgoing.length
  }

  /** The one that has waited longest. */
  get first(): T | undefined {
    return this.#outgoing.at(-1) ?? this.#incoming[0]
  }

  push(item: T): void {
    this.#incoming.push(item)
  }

  /** Takes the one that has waited longest. */
  shift(): T | undefined {
    if (this.#outgoing.length === 0) {
      if (this.#incoming.length === 0) return undefined
      this.#outgoing = this.#incoming.reverse()
      this.#incoming = []
    }
    return this.#outgoing.pop()
  }
}
