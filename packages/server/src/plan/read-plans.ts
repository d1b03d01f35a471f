/** Plans of reads of records, as plain data. */

import type { FieldGrants } from 'resourced-contract/model/field-grants'
import type { Position, Predicate, SortTerm } from 'resourced-contract/model/predicate'
import type { MappedResource, Resource } from 'resourced-contract/model/resource'
import type { Figure, Group, SummaryOrder } from 'resourced-contract/model/summary'
import type { Conditions } from '../http/preconditions.ts'

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

/** The soft-deleted records still in their grace period that a read shows too; with `only`, live ones are left out. */
export interface DeletedRecords {
  readonly permitted: Predicate
  readonly since: string
  readonly only?: boolean
}

/** The related records that a read includes. */
export interface Include {
  /** Each after the path that it goes on from. */
  readonly paths: readonly RelatedPath[]
  /** The conditions of the request: they apply to the response with its related records (REL-6). */
  readonly conditions: Conditions
}

/** A path to related records. Collections and fields have their stored names. */
export interface RelatedPath {
  /** As the client names it. */
  readonly path: string
  /** The path of its first step; `undefined`: it begins at the records that were asked for. */
  readonly above: string | undefined
  readonly to: 'one' | 'many'
  /** The collection that the path comes from. */
  readonly source: string
  /** The collection that it leads to. */
  readonly collection: string
  /** The reference: a field of `source` (`one`), or of `collection` (`many`). */
  readonly field: string
  /** Of a relation to one: the records of `source` in which the caller may read the reference. */
  readonly referring: Predicate
  /** The records that the caller may read. */
  readonly permitted: Predicate
  readonly deleted: DeletedRecords | undefined
  readonly readableFields: FieldGrants | undefined
  /** The version that represents the records; `undefined`: as they are stored. */
  readonly version: string | undefined
  readonly fields: readonly string[] | undefined
  /** Of a relation to many: how many ids each record has. */
  readonly limit: number
  readonly sort: readonly SortTerm[]
  /** Of a relation to many: the list that goes on with its records; `undefined`: no list has them. */
  readonly list: RelatedList | undefined
}

/** A list of the records that refer to a record. Names are those of the client's version. */
interface RelatedList {
  /** The collection of the record, in a nested address; `undefined`: the list is filtered by the id of the record. */
  readonly parent: string | undefined
  readonly collection: string
  /** The name of that filter. */
  readonly filter: string
  readonly parameters: readonly string[]
}

/** The record in a nested address, `/projects/{id}/tasks`. */
export interface Parent {
  readonly resource: Resource
  readonly id: string
  /** The child's field that refers to it. */
  readonly field: string
  readonly permitted: Predicate
  /** The deleted records that count too, those since a time; left out: none. */
  readonly deleted?: DeletedRecords | undefined
}

/** A request for the state of a record at a time (HIS-3). Its permissions are those to read the history. */
export interface Former extends Pick<Parent, 'permitted' | 'deleted'> {
  readonly revisions: Resource
  /** The last millisecond, as timestamps have it. */
  readonly until: string
  /** The revisions that the caller may read. */
  readonly shown: Predicate
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
