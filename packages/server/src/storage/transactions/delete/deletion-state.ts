/** What a deletion or a restoration keeps between its batches, and what of it the caller sees (JOB-3). */
import type { CallerView } from 'resourced-contract/model/declared-functions'
import type { Resource } from 'resourced-contract/model/resource'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { type JobProgress, stateOf } from '../rows/job-rows.ts'
import { cascadeReach, type Selection } from '../rows/pending-deletions.ts'

/**
 * The phases of a deletion:
 *
 * check: nothing is deleted yet; what blocks the deletion of many records is searched for on a snapshot
 * take:  a job of an earlier version of this program: `match`, with its records in the queue
 * match: deletes the records of a deletion by filter; other deletions have done that when they began
 * mark:  deletes the children of what is deleted, downwards; until then everything can be undone
 * clear: sets references with `clear` to what is deleted to null
 * erase: removes the rows of resources that are not kept after deletion
 * tidy:  removes the job's queue
 *
 * The phases of a restoration, and of a deletion that is undone:
 *
 * check:   nothing is restored yet, as above
 * claim:   finds the records that are restored, and gives them the id of the restoration
 * revive:  makes records live again; until the end nobody can change them
 * last:    restores the record that was asked for
 * release: removes the mark of the restored records; from here on they can be changed
 * retract: deletes the records again, because something blocks the restoration of others
 */
export type Phase =
  | ('check' | 'take' | 'match' | 'mark' | 'clear' | 'erase' | 'tidy')
  | ('claim' | 'revive' | 'last' | 'release' | 'retract')

/** A restoration of many records (DEL-6). */
export interface Restoration {
  /** The deletion that it undoes. */
  readonly deletion: string
  /** The record that was asked for. */
  readonly root: string
  /** The mark of the records: that of the deletion if all of its records are restored, or the restoration's own. */
  readonly mark: string
  /** The time by which records are retained, in milliseconds since 1970. */
  readonly now: number
  readonly updatedAt: string
  /** For business rules. */
  readonly caller: CallerView
}

/** A deletion that is being undone. */
export interface Undoing {
  /** Where the deletion continues if it cannot be undone. */
  readonly phase: Phase
  readonly at: number
  /** Why it failed. */
  readonly error: Readonly<Record<string, unknown>>
}

/** The state that the job of a deletion keeps between its batches. */
export interface DeletionState {
  /** The collection of the records that were asked for. */
  readonly collection: string
  readonly deletedAt: string
  /** The record that was asked for, if it was one, and all of them while the deletion is checked; else none. */
  readonly ids: readonly string[]
  readonly phase: Phase
  /** The row after which the phase continues: of the queue, or of the table that the phase scans. */
  readonly at: number
  /** The index of the table that the phase scans. */
  readonly table?: number
  /** The records of a deletion by filter that are not deleted yet. */
  readonly selection?: Selection | undefined
  /** The most records of a deletion by filter that are deleted (`max-affected`). */
  readonly most?: number | undefined
  /** How many of the records that were asked for are deleted. */
  readonly taken: number
  /** How many of them were not deleted, because something blocked it by then. */
  readonly left?: number | undefined
  /** How many records are deleted, children included. */
  readonly done: number
  /** How many records will be deleted; `null`: not counted yet. */
  readonly total: number | null
  /**
   * How many records were asked for (`null`: `total` counts these), if the caller may not read everything that is
   * deleted with them: then the job shows these records only (AUT-9).
   */
  readonly asked?: number | null | undefined
  /** The idempotency key of the request, while the deletion is checked, and until its end where the request waits. */
  readonly scope?: string | undefined
  readonly restoration?: Restoration
  readonly undoing?: Undoing | undefined
  /** Whether the phase `claim` has found records since it began with the first table. */
  readonly hasClaimed?: boolean
  /** The caller, for the rules that each batch of a deletion by filter asks again. */
  readonly caller?: CallerView | undefined
}

/** The state of a deletion's job, locked; `undefined`: the job is finished. */
export function lockedState({ dialect }: SqlContext, job: string): Transaction<DeletionState | undefined> {
  return stateOf(job, dialect.lock.update)
}

/** Whether a deletion by filter is of few records, which are all listed and not deleted yet. */
export function isFew(state: DeletionState | undefined): boolean {
  return state?.phase === 'match' && state.selection?.last === 0
}

/** The progress of a deletion, as far as the caller who began it may see it. */
export function shownProgress({ done, total, taken, asked }: DeletionState): JobProgress {
  return asked === undefined ? { done, total } : { done: taken, total: asked ?? total }
}

/** The resources whose records a deletion can delete: none if the declaration no longer has its collection. */
export function reachedBy(
  { catalog }: Pick<SqlContext, 'catalog'>,
  { collection }: Pick<DeletionState, 'collection'>,
): readonly Resource[] {
  const resource = catalog.resources.get(collection)
  return resource === undefined ? [] : cascadeReach(catalog, resource)
}
