/** The options of `resourced import`, and what they say about every import. */

import { deepFreeze } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Format } from '../jobs/read-records.ts'
import type { DatabaseOptions } from '../server/open-database.ts'
import type { MapOptions } from './load-map.ts'

/** The options as commander gives them. */
export interface ImportOptions extends DatabaseOptions, MapOptions {
  readonly format?: Format
  readonly skipInvalid?: boolean
  readonly allOrNothing?: boolean
  readonly subject: string
  readonly declaration?: string
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
