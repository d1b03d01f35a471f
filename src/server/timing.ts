/** `Server-Timing` (W3C): where the time of one request went. */

/** Notes how long each stage took, in milliseconds. */
export class Timing {
  readonly #marks: [name: string, duration: number][] = []
  #last: number

  constructor(started: number) {
    this.#last = started
  }

  /** The stage that ends now. */
  mark(name: string): void {
    const now = performance.now()
    this.#marks.push([name, now - this.#last])
    this.#last = now
  }

  /** The header's value. */
  format(): string {
    const marks = this.#marks.map(([name, duration]) => `${name};dur=${duration.toFixed(3)}`)
    return [...marks, `rest;dur=${(performance.now() - this.#last).toFixed(3)}`].join(', ')
  }
}
