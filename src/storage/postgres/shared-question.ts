/** A question that many ask at once and that has one answer for all of them, not older than any of them. */
export class SharedQuestion<T> {
  readonly #put: () => Promise<T>
  #running: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(put: () => Promise<T>) {
    this.#put = put
  }

  /** Gives an answer to a question that is put after this is called: whoever comes while one is under way waits for the next. */
  ask(): Promise<T> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#begin()
    const begin = () => {
      this.#next = undefined
      return this.#begin()
    }
    this.#next = this.#running.then(begin, begin)
    return this.#next
  }

  #begin(): Promise<T> {
    const running = this.#put()
    const over = () => {
      if (this.#running === running) this.#running = undefined
    }
    this.#running = running
    running.then(over, over)
    return running
  }
}
