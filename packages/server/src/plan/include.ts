/** Included records as a part of plans. Collections are names, so that another thread can read them. */
import type { FieldGrants } from 'resourced-contract/model/field-grants'
import type { Predicate, SortTerm } from 'resourced-contract/model/predicate'
import type { Conditions } from '../http/preconditions.ts'

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
