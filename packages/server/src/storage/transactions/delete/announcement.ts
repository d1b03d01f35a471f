/**
 * The announcement of a change of many records: a row of work, by which its records are pending deletion
 * (`pending-deletions.ts`) while the change is checked, without the write lock.
 */

import { allOf } from 'resourced-contract/model/predicate'
import { timestamp } from 'resourced-contract/model/time'
import type { Issue } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import type { BulkDelete, Delete, DeleteMatching } from '../../../plan/plan.ts'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { StorageFault } from '../../storage.ts'
import { firstRow, type Transaction } from '../../transaction.ts'
import { addWork } from '../rows/job-rows.ts'
import { listKey, type Selection } from '../rows/pending-deletions.ts'
import { enqueueSql } from './deletion-batches.ts'
import { hasDeletionRules } from './deletion-blockers.ts'
import { onlyListed } from './deletion-job.ts'
import type { DeletionState } from './deletion-state.ts'

/** The plan of a deletion. */
export type Removed = Delete | BulkDelete | DeleteMatching

/** A deletion that is announced. */
export interface Announced {
  readonly kind: 'announced'
  /** The records that were asked for by their ids and may be deleted. */
  readonly ids: readonly string[]
  /** Why other records that were asked for cannot be deleted. */
  readonly refused: readonly Issue[]
}

/** For how long nobody else ends an announced change, in milliseconds. */
export const announcedFor = 15_000

/** What an announcement is about: records by their ids, or by a filter. */
interface Asked {
  readonly ids?: readonly string[]
  readonly refused?: readonly Issue[]
  readonly selection?: Selection
}

/** Announces a deletion or a restoration by its state. */
export function addAnnouncement(id: string, state: DeletionState, now: number): Transaction<void> {
  return addWork({ id, task: 'deletion', state, until: now + announcedFor })
}

/** Announces a deletion of many records. */
export function* announce(plan: Removed, { ids = [], refused = [], selection }: Asked): Transaction<Announced> {
  const { deletion: id, now } = plan
  const scope = 'idempotency' in plan ? plan.idempotency?.scope : undefined
  const state = { ...newState(plan, selection), ids, phase: 'check', scope } as const
  yield* addAnnouncement(id, state, now)
  return { kind: 'announced', ids, refused }
}

/** Announces a deletion by filter of few records, with which many others go. They are settled now. */
export function* announceListed(
  context: SqlContext,
  plan: DeleteMatching,
  ids: readonly string[],
): Transaction<Announced> {
  yield enqueueSql(listKey(plan.deletion, 'selected'), plan.resource, context.dialect.isAnyOf(raw('id'), ids))
  return yield* announce(plan, { selection: onlyListed })
}

/** The state of the job of a deletion when it begins. */
export function newState(plan: Removed, selection: Selection | undefined): DeletionState {
  const { resource, now, caller } = plan
  const isFiltered = plan.kind === 'delete-matching'
  return {
    ...{ collection: resource.name, deletedAt: timestamp(now), ids: [], phase: isFiltered ? 'match' : 'mark', at: 0 },
    ...{ selection, taken: 0, done: 0, total: null },
    ...(isFiltered && { left: 0, most: plan.most, ...(hasDeletionRules(resource) && { caller }) }),
  }
}

/** The records that match now, as the job of a deletion finds them later. */
export function* selectMatching({ resource, filter, permitted, now }: DeleteMatching): Transaction<Selection> {
  const row = yield* firstRow(sql`select max(_row) as last from ${tableSql(resource.name)}`)
  const created = yield* firstRow(
    sql`select max(created_at) as newest from ${tableSql(resource.name)} where deleted_at is null`,
  )
  // A record may be newer than the clock, if the clock was set back.
  const newest = [String(created?.['newest'] ?? ''), timestamp(now)].sort().at(-1) as string
  return { filter: allOf([filter, permitted]), at: 0, last: Number(row?.['last'] ?? 0), newest }
}

/** Whether the request of a deletion with the same idempotency key still waits for it, or would if it were there. */
export function* isWaitedFor(scope: string): Transaction<boolean> {
  const rows = yield sql`select state from resourced_work where task = 'deletion'`
  return rows.some((row) => (JSON.parse(String(row['state'])) as DeletionState).scope === scope)
}

/** Extends the time for which nobody else ends an announced change. */
export function* renewAnnouncement(job: string, now: number): Transaction<void> {
  yield sql`update resourced_work set until = ${now + announcedFor} where job = ${job} and until is not null`
}

/** Leaves the rest of an announced change to any server: no request waits for it any more. */
export function* releaseAnnouncement(job: string): Transaction<void> {
  yield sql`update resourced_work set until = null where job = ${job}`
}

/** The fault of a change whose announcement is gone. */
export function lostAnnouncement(change: 'deletion' | 'restoration'): StorageFault {
  return new StorageFault('busy', `The check of a ${change} took so long that another server ended it.`)
}
