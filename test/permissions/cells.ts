/** What was expected of each cell of a matrix, and what came. */

/** More lines than anyone reads. */
const mostShown = 100

/** Counts cells, and keeps a line on each that fails. */
export class Cells {
  count = 0
  readonly #failures: string[] = []

  /** A cell: its name, and both answers as short texts. */
  check(name: string, expected: string, came: string): void {
    this.count++
    if (expected !== came) this.#failures.push(`${name}: expected ${expected}, came ${came}`)
  }

  /** @throws Error that names the cells that fail, a line each */
  conclude(): void {
    const failures = this.#failures
    if (failures.length === 0) return
    const lines = failures.slice(0, mostShown).join('\n')
    throw new Error(`${failures.length} of ${this.count} cells fail.\n${lines}`)
  }
}
