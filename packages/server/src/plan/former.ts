/** A request for the state of a record at a time (HIS-3). */
import type { Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'

export interface Former {
  readonly revisions: Resource
  /** The last millisecond, as timestamps have it. */
  readonly until: string
  /** The records whose history the caller may read. */
  readonly permitted: Predicate
  /** The deleted records that count too, those since a time; left out: none. */
  readonly deleted: { readonly permitted: Predicate; readonly since: string } | undefined
  /** The revisions that the caller may read. */
  readonly shown: Predicate
}
