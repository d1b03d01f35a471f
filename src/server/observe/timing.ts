/** Where the time of one request went: for `Server-Timing` (W3C), and for traces. */

/** A part of answering: from when to when, in milliseconds by `performance.now()`. */
export interface Stage {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** Notes how long each stage took. */
export class Timing {
  readonly stages: Stage[] = []
  #last: number

  constructor(started: number) {
    this.#last = started
  }

  /** The stage that ends now. */
  mark(name: string): void {
    const now = performance.now()
    this.stages.push({ name, from: this.#last, to: now })
    this.#last = now
  }

  /** The value of `Server-Timing`. */
  format(): string {
    const marks = this.stages.map(({ name, from, to }) => `${name};dur=${(to - from).toFixed(3)}`)
    return [...marks, `rest;dur=${(performance.now() - this.#last).toFixed(3)}`].join(', ')
  }
}
