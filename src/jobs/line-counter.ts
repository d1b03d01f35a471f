/** Which line a byte of a stream stands in, for parsers that tell bytes. */

const newline = 0x0a

/** Counts lines while bytes pass; it keeps the places of those breaks only that nobody has asked beyond yet. */
export class LineCounter {
  #bytes = 0
  #breaks: number[] = []
  #next = 0
  #line = 1

  /** Notes the breaks of the next chunk. */
  pass(chunk: Uint8Array): void {
    if (this.#next > 0) this.#breaks = this.#breaks.slice(this.#next)
    this.#next = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) {
      this.#breaks.push(this.#bytes + at)
    }
    this.#bytes += chunk.length
  }

  /**
   * The line, from 1, that the byte at this offset stands in; a line's break is its last byte.
   *
   * @param offset never before one that was asked for already
   */
  lineAt(offset: number): number {
    while (this.#next < this.#breaks.length && (this.#breaks[this.#next] as number) < offset) {
      this.#next++
      this.#line++
    }
    return this.#line
  }
}
