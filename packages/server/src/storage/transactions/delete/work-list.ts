/**
 * The work list of a deletion, a restoration or a change by filter of many records, in the database. A record is on the
 * list if it has the mark of the work in its column `_deletion`; `resourced_queue` has the marked records below which
 * others are still to be found, those first that were asked for; and a row of `resourced_work` has the state.
 *
 * A live record with a mark is pending: it can be read, and nobody else changes it or refers to it
 * (`rows/other-records.ts`). So what the check of the list finds stays true.
 */

import type { CallerView } from 'resourced-contract/model/declared-functions'
import type { Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import type { Issue } from 'resourced-contract/spec/faults'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { BulkDelete, Delete, DeleteMatching, Restore, Update, UpdateMatching } from '../../../plan/plan.ts'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Attribution } from '../../sql/dialect.ts'
import { type JobError, StorageFault } from '../../storage.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'
import { addWork, type JobProgress, stateOf } from '../rows/job-rows.ts'
import { cascadeReach, cascadesOf, markOfChange, unmarked } from '../rows/other-records.ts'
import { attributionOf } from '../rows/record-row.ts'

/** The plan of a deletion. */
export type Removed = Delete | BulkDelete | DeleteMatching

/** The plan of work that may be large. */
export type Large = Removed | Restore | UpdateMatching

/** The id of the work, and of its job. */
export function workOf(plan: Large): string {
  if (plan.kind === 'update-matching') return plan.change
  return plan.kind === 'restore' ? plan.restoration : plan.deletion
}

/**
 * The phases of work:
 *
 * collect: marks the records, in windows
 * check:   all records are marked; the request searches for what blocks the work
 * flip:    deletes the marked records, makes them live, or changes them; until its end everything can be undone
 * settle:  of a deletion: sets references with `clear` to null, and removes rows that are not kept after deletion
 * back:    undoes the flip
 * free:    removes the marks of live records, and the queue
 */
export type Phase = 'collect' | 'check' | 'flip' | 'settle' | 'back' | 'free'

/** The records that match a filter, in the order of their rows. */
export interface Selection {
  readonly filter: Predicate
  /** All rows up to this one were looked at. */
  readonly at: number
  /** The last row when the deletion began. */
  readonly last: number
  /** No record was created later when the deletion began. */
  readonly newest: string
}

/** The state of a deletion or restoration between its windows. */
export interface WorkState {
  /** The collection of the records that were asked for. */
  readonly collection: string
  /** When the records were deleted. */
  readonly deletedAt: string
  /** The record that was asked for, if it was one. */
  readonly ids: readonly string[]
  readonly phase: Phase
  /** Where the phase continues: after this row of the queue, or of the table with this index. */
  readonly at: number
  readonly table: number
  /** Where the search below one record continues: with this reference, after this child. */
  readonly below?: { readonly reference: number; readonly after: string } | undefined
  /** The records that a deletion by filter has still to collect. */
  readonly selection?: Selection | undefined
  /** The last row of the queue with a record that was asked for. */
  readonly roots: number
  /** How many records were asked for and found. */
  readonly found: number
  /** How many records its first transaction has seen: others may delete some of them before they are collected. */
  readonly seen?: number
  /** The mark of another deletion or restoration on a record that should be collected. */
  readonly takenBy?: string | undefined
  /** Whether `free` removes all marks but those of the records that were asked for, and the search begins anew. */
  readonly yields?: boolean
  /** Whether the pass over the tables has found something: then another pass follows. */
  readonly hasFound?: boolean
  /** How many of the records that were asked for are deleted. */
  readonly taken: number
  /** Of a deletion by filter: how many of them were not deleted, because a rule refused it by then. */
  readonly left?: number | undefined
  /** How many records are flipped, and will be. */
  readonly done: number
  readonly total: number
  /**
   * How many records were asked for, if the caller may not read everything that is deleted with them: then the job
   * shows these records only (AUT-9).
   */
  readonly asked?: number | undefined
  /** Of a deletion by filter: the caller, for the rules that are asked again for each record. */
  readonly caller?: CallerView | undefined
  readonly restoration?: Restoration | undefined
  readonly change?: StoredChange | undefined
  /** Whether there is no job that callers see: the request waits, or has not been answered yet. */
  readonly isHidden?: boolean | undefined
  /** The idempotency key of a request that waits. */
  readonly scope?: string | undefined
  /** Why it is undone. */
  readonly error?: JobError | undefined
  /** Who began it, for the history of its records. */
  readonly attribution?: Attribution
}

/** What a restoration restores (DEL-6). */
export interface Restoration {
  /** The deletion that it undoes. */
  readonly deletion: string
  /** The record that was asked for. */
  readonly root: string
  /** Records that are retained at this time are restored (DEL-7), in milliseconds since 1970. */
  readonly now: number
  readonly updatedAt: string
  readonly caller: CallerView
  /** The mark of a restoration that an earlier version of this program has begun. */
  readonly mark?: string
}

/** The change of each record by a change by filter, as plain data. */
export interface StoredChange {
  readonly update: Omit<Update, 'resource' | 'versionResource' | 'targets'>
  readonly targets: readonly (readonly [field: string, records: Predicate])[] | undefined
  /** The version of the request, if it is an older one. */
  readonly version: string | undefined
  /**
   * The collections whose records are not deleted meanwhile: the change sets other references to them, or restores
   * them.
   */
  readonly holds: readonly string[]
}

/** What work does to its records. */
export type Kind = 'deletion' | 'restoration' | 'change'

export function kindOf({ restoration, change }: WorkState): Kind {
  if (change !== undefined) return 'change'
  return restoration === undefined ? 'deletion' : 'restoration'
}

/** The mark of the records. */
export function markOf(job: string, { restoration, change }: WorkState): string {
  return change === undefined ? (restoration?.mark ?? job) : markOfChange(job)
}

/** Work that has begun while its request waits. */
export interface Announced {
  readonly kind: 'announced'
  /** The records that were asked for by their ids and may be deleted. */
  readonly ids: readonly string[]
  /** Why other records that were asked for cannot be deleted. */
  readonly refused: readonly Issue[]
}

/** For how long nobody else ends work whose request waits, in milliseconds. */
export const announcedFor = 15_000

/** The state of work that begins. */
export function newState(plan: Large, given: Partial<WorkState> = {}): WorkState {
  const { resource, now } = plan
  return {
    ...{ collection: resource.name, deletedAt: timestamp(now), ids: 'id' in plan ? [plan.id] : [] },
    ...{ phase: 'collect', at: 0, table: 0, roots: 0, found: 0, taken: 0, done: 0, total: 0 },
    ...(plan.kind === 'delete-matching' && { left: 0, caller: plan.caller }),
    attribution: attributionOf(plan),
    ...given,
  }
}

/** Begins work whose request waits until it is checked. */
export function* announce(
  plan: Large,
  state: WorkState,
  { ids = [], refused = [] }: Partial<Announced> = {},
): Transaction<Announced> {
  const scope = 'idempotency' in plan ? plan.idempotency?.scope : undefined
  const waiting = { ...state, isHidden: true, scope }
  yield* addWork({ id: workOf(plan), task: 'deletion', state: waiting, until: plan.now + announcedFor })
  return { kind: 'announced', ids, refused }
}

/** Whether the request of work with the same idempotency key still waits for it, or would if it were there. */
export function* isWaitedFor(scope: string): Transaction<boolean> {
  const rows = yield sql`select state from resourced_work where task = 'deletion'`
  return rows.some((row) => (JSON.parse(String(row['state'])) as WorkState).scope === scope)
}

/** Extends the time for which nobody else ends the work. */
export function* renewAnnouncement(job: string, now: number): Transaction<void> {
  yield sql`update resourced_work set until = ${now + announcedFor} where job = ${job} and until is not null`
}

/** Leaves the rest of the work to any server: no request waits for it any more. */
export function* releaseAnnouncement(job: string): Transaction<void> {
  yield ignoringRows(sql`update resourced_work set until = null where job = ${job}`)
}

/** The state of work, locked; `undefined`: it is finished. */
export function lockedState({ dialect }: SqlContext, job: string): Transaction<WorkState | undefined> {
  return stateOf(job, dialect.lock.update)
}

/** The state of work whose records are all collected. */
export function* checkedState(context: SqlContext, job: string): Transaction<WorkState> {
  const state = yield* lockedState(context, job)
  if (state?.phase === 'check') return state
  throw new StorageFault('busy', 'The check of a deletion or restoration took so long that another server ended it.')
}

/** The state of work that is undone. */
export function undoing(state: WorkState, error: JobError): WorkState {
  return { ...state, phase: 'back', at: 0, table: 0, error }
}

/** Whether the records are not all known yet, or not checked. */
export function isCollecting({ phase }: WorkState): boolean {
  return phase === 'collect' || phase === 'check'
}

/** The progress, as far as the caller who began the work may see it. */
export function shownProgress(state: WorkState): JobProgress {
  const { done, total, taken, asked } = state
  return asked === undefined ? { done, total: isCollecting(state) ? null : total } : { done: taken, total: asked }
}

/** The resources whose records the work can be about: none if the declaration no longer has its collection. */
export function reachedBy({ catalog }: Pick<SqlContext, 'catalog'>, state: WorkState): readonly Resource[] {
  const resource = catalog.resources.get(state.collection)
  return resource === undefined ? [] : cascadeReach(catalog, resource)
}

/** Marks those of some locked live records that have no mark, and returns their ids. */
export function* mark(
  { dialect }: SqlContext,
  text: string,
  collection: string,
  ids: readonly string[],
): Transaction<string[]> {
  if (ids.length === 0) return []
  const which = sql`${dialect.isAnyOf(raw('id'), ids)} and ${unmarked}`
  const marked = yield sql`update ${tableSql(collection)} set _deletion = ${text} where ${which} returning id`
  return marked.map(({ id }) => String(id))
}

/** Gives locked records another mark. */
export function* setMark(
  { dialect }: SqlContext,
  collection: string,
  ids: readonly string[],
  text: string | null | Sql,
): Transaction<void> {
  yield ignoringRows(
    sql`update ${tableSql(collection)} set _deletion = ${text} where ${dialect.isAnyOf(raw('id'), ids)}`,
  )
}

/** Puts marked records into the queue: those that were asked for, and others if more may be below them. */
export function* enqueue(
  { catalog, dialect }: SqlContext,
  job: string,
  collection: string,
  ids: readonly string[],
  { isRoot = false } = {},
): Transaction<void> {
  if (ids.length === 0 || (!isRoot && cascadesOf(catalog, collection).length === 0)) return
  const which = dialect.isAnyOf(raw('id'), ids)
  const rows = sql`select ${job}, ${collection}, id from ${tableSql(collection)} where ${which}`
  yield ignoringRows(sql`insert into resourced_queue (job, collection, record) ${rows}`)
}

/** The keys of the queue of work: earlier versions had lists of their own. */
export function queuesOf(job: string): readonly string[] {
  return [job, `${job} selected`, `${job} kept`]
}

/** The last row of the queue. */
export function* lastQueued(job: string): Transaction<number> {
  const row = yield* firstRow(sql`select max(_row) as last from resourced_queue where job = ${job}`)
  return Number(row?.['last'] ?? 0)
}

/** The next rows of the queue, which are of one collection, and up to a row if it is given. */
export function* nextQueued(
  job: string,
  { at, size, last }: { readonly at: number; readonly size: number; readonly last?: number },
): Transaction<readonly Row[]> {
  const end = last === undefined ? raw('') : sql` and _row <= ${last}`
  const rows = sql`resourced_queue where job = ${job} and _row > ${at}${end} order by _row limit ${size}`
  const found = yield sql`select _row, collection, record from ${rows}`
  const other = found.findIndex((row) => row['collection'] !== found[0]?.['collection'])
  return other === -1 ? found : found.slice(0, other)
}
