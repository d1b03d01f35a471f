/** Tells people which records of an import were refused, and why. */

import { format, type Progress } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/credentials'
import type { Columns } from '../jobs/column-map.ts'
import type { ImportProblem } from '../jobs/import.ts'

// Control characters, line separators and invisible marks.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** How many refused records are listed. */
const mostListed = 1_000

export class ImportReport {
  readonly #progress: Progress
  readonly #columns: Columns | undefined
  #count = 0

  /** @param columns of the file, for the names that fields have in it */
  constructor(progress: Progress, columns?: Columns) {
    this.#progress = progress
    this.#columns = columns
  }

  /** Lists a refused record, with the line, the column and the reason of each mistake. */
  add({ line, place = `line ${line}`, issues }: Pick<ImportProblem, 'line' | 'place' | 'issues'>): void {
    if (++this.#count > mostListed) return
    for (const { code, message, pointer } of issues) {
      const field = pointer?.split('/')[1]
      const column = field === undefined ? undefined : this.#columns?.nameOf(field)
      const where = column === undefined ? place : `${place}, column ${JSON.stringify(column)}`
      const at = pointer === undefined || pointer === '' ? '' : ` ${pointer}`
      this.say(`${where}: ${code}${at}: ${message}`)
    }
  }

  /** Writes a line with names or values of the source, which must not control the terminal. */
  say(line: string): void {
    this.#progress.say(withoutCredentials(line).replaceAll(invisible, '\uFFFD'))
  }

  /** Says how many refused records are not listed. */
  end(): void {
    const more = this.#count - mostListed
    if (more > 0) this.#progress.say(`${format(more)} more refused records are not listed.`)
    this.#count = 0
  }
}
