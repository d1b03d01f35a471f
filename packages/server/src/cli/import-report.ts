/** The options of `resourced import`, and the report: which records were refused, and why. */

import { format, type Progress } from 'resourced-check/terminal'
import { deepFreeze } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import { withoutCredentials } from 'resourced-contract/model/text'
import { sentenceOf } from 'resourced-contract/spec/faults'
import type { Columns } from '../jobs/column-map.ts'
import type { ImportProblem } from '../jobs/import.ts'
import type { Format } from '../jobs/read-records.ts'
import type { DatabaseOptions } from '../server/open-database.ts'
import type { MapOptions } from './load-map.ts'

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

/** The options as commander gives them. */
export interface ImportOptions extends Omit<DatabaseOptions, 'tenant'>, MapOptions {
  readonly format?: Format
  readonly skipInvalid?: boolean
  readonly allOrNothing?: boolean
  readonly subject: string
  readonly declaration?: string
  /** The name of the tenant that the records belong to. */
  readonly tenant?: string
  /** The tables of another database, instead of a file. */
  readonly from?: string
  readonly schema: readonly string[]
}

/** The command, with what it needs to import. */
export interface ImportCommand {
  readonly catalog: Catalog
  readonly database: DatabaseOptions
  readonly options: ImportOptions
}

/** The owner of records without an owner field. */
export function callerOf({ subject }: Pick<ImportOptions, 'subject'>) {
  return deepFreeze({ id: subject, roles: [], claims: {} })
}
