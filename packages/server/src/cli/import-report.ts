/** Tells people which records of an import were refused, and why. */

import { format, type Progress } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/credentials'
import { sentenceOf } from 'resourced-contract/spec/faults'
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
    for (const each of issues) {
      const { code, pointer = '' } = each
      const column = this.#columns?.nameOf(pointer.split('/')[1] ?? '')
      const where = column === undefined ? place : `${place}, column ${JSON.stringify(column)}`
      this.say(`${where}: ${code}${pointer && ` ${pointer}`}: ${sentenceOf(each)}`)
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
