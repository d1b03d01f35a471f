/** What was expected of each cell of a matrix, and what came. */
import { hash } from 'node:crypto'

/** More lines than anyone reads. */
const mostShown = 100

/** Counts cells, and keeps a line on each that fails. */
export class Cells {
  count = 0
  readonly #part: number
  readonly #failures: string[] = []

  /** @param part how many cells one is checked of: 1 for all */
  constructor(part: number) {
    this.#part = part
  }

  /** Whether a cell is checked. Its name decides, so that every run of a part checks the same cells. */
  includes(name: string): boolean {
    return this.#part === 1 || Number.parseInt(hash('sha1', name).slice(0, 8), 16) % this.#part === 0
  }

  /** A cell: its name, and both answers as texts: a status, or identifiers. */
  check(name: string, expected: string, came: string): void {
    this.count++
    if (expected !== came) this.#failures.push(`${name}: ${differenceBetween(expected, came)}`)
  }

  /** @throws Error that names the cells that fail, a line each */
  conclude(): void {
    const failures = this.#failures
    if (failures.length === 0) return
    const lines = failures.slice(0, mostShown).join('\n')
    throw new Error(`${failures.length} of ${this.count} cells fail.\n${lines}`)
  }
}

/** Both answers, or what only one of them contains if they are long. */
function differenceBetween(expected: string, came: string): string {
  if (Math.max(expected.length, came.length) < 200) return `expected ${expected}, came ${came}`
  const [wanted, found] = [new Set(expected.split(/[,: ]+/)), new Set(came.split(/[,: ]+/))]
  const [missing, more] = [wanted.difference(found), found.difference(wanted)]
  if (missing.size + more.size === 0) return `another order than ${expected}`
  return `missing: ${[...missing].join()}; not expected: ${[...more].join()}`
}
