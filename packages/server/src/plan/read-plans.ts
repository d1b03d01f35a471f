/** Plans of reads of records, as plain data. */

import type { FieldGrants } from 'resourced-contract/model/field-grants'
import type { Position, Predicate, SortTerm } from 'resourced-contract/model/predicate'
import type { MappedResource, Resource } from 'resourced-contract/model/resource'
import type { Figure, Group, SummaryOrder } from 'resourced-contract/model/summary'
import type { Conditions } from '../http/preconditions.ts'
import type { Former } from './former.ts'
import type { DeletedRecords, Include } from './include.ts'

/** Which part of a list to read (PAG-2). */
export type Page =
  | { readonly style: 'page'; readonly page: number; readonly perPage: number }
  | { readonly style: 'offset'; readonly offset: number; readonly limit: number }
  | { readonly style: 'cursor'; readonly limit: number; readonly position: Position | undefined }

/** How a client sees the records of a resource. */
export interface Presentation {
  /** The resource as an older version has it; `undefined`: as it is stored. */
  readonly versionResource?: MappedResource
  /** The fields that the caller may not read in every record (AUT-13); left out: there are none. */
  readonly readableFields?: FieldGrants
}

/** The record in a nested address, `/projects/{id}/tasks`. */
export interface Parent {
  readonly resource: Resource
  readonly id: string
  /** The child's field that refers to it. */
  readonly field: string
  readonly permitted: Predicate
  /** The deleted records that count too, those since a time; left out: none. */
  readonly deleted?: { readonly permitted: Predicate; readonly since: string } | undefined
}

export interface ReadRecord extends Presentation {
  readonly kind: 'read-record'
  readonly resource: Resource
  readonly id: string
  /** The records that the caller may read. */
  readonly permitted: Predicate
  /** The requested fields; `undefined`: all. */
  readonly fields: readonly string[] | undefined
  readonly conditions: Conditions
  readonly include?: Include
  /** A former state of the record is asked for. */
  readonly former?: Former
  /** The record is the job of an export, and the reply is its file. */
  readonly file?: ExportFileAccess
}

/** The request for the file of an export (JOB-6). */
export interface ExportFileAccess {
  /** The conditions of the request: they apply to the file, and not to its job. */
  readonly conditions: Conditions
  /** The caller's id. */
  readonly caller: string
  /** Whether the caller may read all or some records of a collection, by each name that a version has for it. */
  readonly readable: ReadonlyMap<string, 'all' | 'some'>
}

export interface ReadPage extends Presentation {
  readonly kind: 'read-page'
  readonly resource: Resource
  readonly parent: Parent | undefined
  /** The filter of the query. */
  readonly filter: Predicate
  /** The same in terms of the older version that the request used. */
  readonly versionFilter?: Predicate
  /** The records that the caller may read. */
  readonly permitted: Predicate
  /** The words of `q`, the last one a prefix; `undefined`: no search; an empty list matches nothing. */
  readonly search: readonly string[] | undefined
  /**
   * Adds soft-deleted records still in their grace period that match, and with `only` leaves out live ones;
   * `undefined`: live records only.
   */
  readonly deleted: DeletedRecords | undefined
  readonly sort: readonly SortTerm[]
  readonly page: Page
  readonly fields: readonly string[] | undefined
  readonly conditions: Conditions
  readonly include?: Include
  /** Identifies the query, with its collection and version, in caches; `undefined`: the query is not worth keeping. */
  readonly key?: string | undefined
  /** What cursors are bound to (`cursor.ts`), where the list has any. */
  readonly cursorBinding?: string
  /** The page is shown as links to the states of a record (HIS-3). */
  readonly isTimeMap?: boolean
}

/** A summary of the records of a list: groups of them, and the figures of each group (SUM-1). */
export interface ReadSummary {
  readonly kind: 'read-summary'
  readonly resource: Resource
  readonly versionResource?: undefined
  /** The records. Its page and order have no meaning. */
  readonly list: ReadPage
  readonly groups: readonly Group[]
  readonly figures: readonly Figure[]
  /** The terms of the request. Groups that it does not name follow them. */
  readonly order: readonly SummaryOrder[]
  /** The zone of the groups of date-times, by its name. */
  readonly zone: string
  readonly page: Page
  readonly conditions: Conditions
  /** Identifies the groups, their figures and the page in caches. */
  readonly key: string
  /** See `ReadPage`. */
  readonly cursorBinding: string
}
