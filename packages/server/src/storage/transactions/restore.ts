/**
 * Undoing a deletion: the record and everything that was deleted with it, or nothing (DEL-6).
 *
 * Few records are restored in one transaction. Many are announced in a short transaction, checked on a snapshot, and
 * restored in batches (`delete/revival.ts`); the record that was asked for comes last.
 */

import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import { checkRecord, decidableRecords, dependsOn, retainedSince } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Restore } from '../../plan/plan.ts'
import { columnSql, subject, subjectSql, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { newMark, nextRevisionSql } from '../sql/marks.ts'
import type { PredicateContext } from '../sql/predicate.ts'
import { recordOf, storedSql } from '../sql/records.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import {
  type Announced,
  addAnnouncement,
  isWaitedFor,
  lostAnnouncement,
  releaseAnnouncement,
} from './delete/announcement.ts'
import { type Closure, descend, mostInspected, sizeOf } from './delete/cascade.ts'
import { withdraw } from './delete/deletion-job.ts'
import { type DeletionState, lockedState, type Restoration } from './delete/deletion-state.ts'
import { purgeBegan } from './delete/purge.ts'
import { findRestorationBlockers, type Returning, returnsMarked } from './delete/restoration-blockers.ts'
import { readingOnly } from './delete/snapshot-context.ts'
import { continueForKey, onceForKey } from './idempotency.ts'
import { type Moves, noteMove, tickAll } from './rows/clock.ts'
import { keepState } from './rows/job-rows.ts'
import { holdsFor, lockAllRulesBelow } from './rows/other-records.ts'
import { cascadeReach, isJobRunning, resourceOf, settleSelections } from './rows/pending-deletions.ts'
import { foundOf, holdsSql, lockRecord, represent } from './rows/record-row.ts'

/** Runs a Restore. A repeated answer does not show the record if the caller may no longer read it (AUT-9). */
export function* restoreRecord(context: SqlContext, plan: Restore): Transaction<Outcome | Announced> {
  const outcome = yield* onceForKey(context, plan, restore(context, plan), isWaitedFor)
  if (outcome.kind !== 'replayed') return outcome
  const { answer, preferred } = outcome as Extract<Outcome, { readonly kind: 'replayed' }>
  if (answer.kind !== 'updated' || answer.json === undefined) return outcome
  const { record, isReadable } = yield* lockRecord(context, plan)
  if (record !== undefined && isReadable) return outcome
  return { kind: 'replayed', answer: { ...answer, json: undefined }, preferred }
}

function* restore(context: SqlContext, plan: Restore): Transaction<Outcome | Announced> {
  const { resource, id, restoration } = plan
  const found = yield* findDeleted(context, plan)
  if ('kind' in found) return found
  const { deletion, deletedAt, now } = found
  if (yield* isJobRunning(deletion)) return { kind: 'conflict', issues: [issue('BEING_DELETED')] }
  const isVast = yield* hasManyDeleted(context, resource, deletion)
  const returning = isVast ? undefined : yield* deletedWith(context, { resource, id, now, deletion }, mostInspected)
  if (returning !== undefined) return yield* restoreFew(context, plan, returning)
  const kept: Restoration = {
    ...{ deletion, root: id, mark: restoration, now, updatedAt: timestamp(plan.now), caller: plan.caller },
  }
  const state: DeletionState = {
    ...{ collection: resource.name, deletedAt, ids: [], phase: 'check', at: 0, restoration: kept },
    ...{ taken: 0, done: 0, total: 0, scope: plan.idempotency?.scope },
  }
  yield* addAnnouncement(restoration, state, plan.now)
  return { kind: 'announced', ids: [id], refused: [] }
}

/** A deleted record that the caller may restore. */
interface Found {
  readonly deletion: string
  readonly deletedAt: string
  /** The time by which records are retained. */
  readonly now: number
}

/** Locks the record, and decides whether this caller may restore it. */
function* findDeleted(context: SqlContext, plan: Restore): Transaction<Found | Outcome> {
  const { resource, id } = plan
  yield* lockAllRulesBelow(context, resource.name)
  const now = Math.max(plan.now, (yield* purgeBegan(context)) ?? plan.now)
  const since = retainedSince(resource, now)
  // A record by which a permission holds may be deleted too. That blocks the restoration (DEL-6).
  const permitting: PredicateContext = {
    ...context,
    locksReferenced: true,
    deletedSince: (target) => retainedSince(target, now),
  }
  const permitted = decidableRecords(plan, plan.mayRead)
  const columns = sql`${storedSql(context, resource)}, ${holdsSql(permitting, resource, permitted)} as _permitted`
  const isKept = sql`(deleted_at is null or deleted_at > ${since})`
  const which = sql`${subjectSql(resource.name)} where id = ${id} and ${isKept}${context.dialect.lock.update}`
  const row = yield* firstRow(sql`select ${columns} from ${which}`)
  const ended = checkRecord(plan, foundOf(row))
  if (ended !== undefined || row === undefined) return ended ?? { kind: 'missing' }
  if (row['deleted_at'] === null) {
    return { kind: 'conflict', issues: [issue('NOT_DELETED')] }
  }
  if (dependsOn(resource, plan.permitted, ['deleted_at', 'updated_at'])) {
    const restored = { ...recordOf(resource, row), deleted_at: null, updated_at: timestamp(plan.now) }
    if (!(yield* holdsFor(permitting, resource, plan.permitted, restored))) return { kind: 'forbidden' }
  }
  // A record that was deleted alone belongs to no deletion: its id stands for one that has nothing else.
  return { deletion: String(row['_deletion'] ?? id), deletedAt: String(row['deleted_at']), now }
}

/** Restores records in this transaction, if nothing blocks that. */
function* restoreFew(
  context: SqlContext,
  plan: Restore,
  returning: Closure,
  returns?: Returning['returns'],
): Transaction<Outcome> {
  const issues = yield* findRestorationBlockers(context, plan, returning, returns)
  if (issues.length > 0) return { kind: 'conflict', issues }
  const moves: Moves = new Map()
  for (const [collection, ids] of returning) {
    if (ids.size === 0) continue
    yield* settleSelections(context, collection, [...ids])
    const updatedAt = timestamp(plan.now)
    const revision = nextRevisionSql(newMark())
    const live = sql`deleted_at = null, _deletion = null, updated_at = ${updatedAt}, _revision = ${revision}`
    yield sql`update ${tableSql(collection)} set ${live} where ${context.dialect.isAnyOf(raw('id'), [...ids])}`
    noteMove(moves, collection, { live: ids.size, deleted: -ids.size, ids: [...ids] })
  }
  yield* tickAll(context, moves)
  const { json, readable, ...validators } = yield* represent(context, plan, plan.id, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, ...validators }
}

/** If a deletion has more records than this in one collection, they are searched on a snapshot. */
const vast = 5_000

/** Whether a deletion has deleted very many records of any collection below a resource. */
function* hasManyDeleted({ catalog }: SqlContext, resource: Resource, deletion: string): Transaction<boolean> {
  for (const { name } of belowOf(catalog, resource)) {
    const marked = sql`select 1 as one from ${tableSql(name)} where _deletion = ${deletion}`
    if ((yield sql`${marked} limit 1 offset ${vast}`).length > 0) return true
  }
  return false
}

/** The resources whose records a restoration of one resource's records can bring back. */
function belowOf(catalog: SqlContext['catalog'], resource: Resource): Resource[] {
  return cascadeReach(catalog, resource).filter(({ deletion }) => deletion.variant === 'soft')
}

/** The records that are asked for. */
interface Asked extends Pick<Restore, 'resource' | 'id' | 'now'> {
  readonly deletion: string
}

/**
 * The record, and the records below it by `cascade` that the same deletion has deleted: none that were deleted before,
 * and none that are past their own grace period since (DEL-7). `undefined`: more than the most.
 */
function deletedWith(
  context: SqlContext,
  { resource, id, now, deletion }: Asked,
  most?: number,
): Transaction<Closure | undefined> {
  const { catalog, dialect } = context
  const limit = most === undefined ? raw('') : sql` limit ${most + 1}`
  const find = (from: string, field: string, parents: readonly string[]) => {
    const child = resourceOf(catalog, from)
    if (child.deletion.variant === 'hard') return undefined
    const refers = dialect.isAnyOf(columnSql(subject, field), parents)
    const t = raw(subject)
    const isDeletedWith = sql`${t}.deleted_at > ${retainedSince(child, now)} and ${t}._deletion = ${deletion}`
    const lock = sql`${dialect.lock.orderById}${limit}${dialect.lock.update}`
    return sql`select id from ${subjectSql(from)} where ${isDeletedWith} and ${refers}${lock}`
  }
  return descend(catalog, [resource.name, [id]], find, most)
}

/** The result of the check of an announced restoration. */
export interface RestoreInspection {
  readonly issues: readonly Issue[]
  /** Whether it restores everything that the deletion has deleted. */
  readonly isWhole: boolean
  /** Whether one transaction restores all records. */
  readonly isFew: boolean
  /** The records if they are few, else those that functions of rules decide about. */
  readonly ids: readonly (readonly [collection: string, ids: readonly string[]])[]
}

/**
 * Checks an announced restoration. It only reads.
 *
 * @param deciders the collections whose rules are functions, which the caller asks
 */
export function* inspectRestoration(
  given: SqlContext,
  { plan, deciders }: { readonly plan: Restore; readonly deciders: readonly string[] },
): Transaction<RestoreInspection> {
  const context = readingOnly(given)
  const { resource, id, restoration: job } = plan
  const { restoration } = yield* announcedState(context, job)
  const { deletion, now } = restoration
  const closure = (yield* deletedWith(context, { resource, id, now, deletion })) as Closure
  const size = sizeOf(closure)
  const isFew = size <= mostInspected
  const named = [...closure].filter(([name]) => isFew || deciders.includes(name))
  const issues = isFew ? [] : yield* findRestorationBlockers(context, plan, closure)
  let all = 0
  for (const { name } of belowOf(context.catalog, resource)) {
    const row = yield* firstRow(sql`select count(*) as count from ${tableSql(name)} where _deletion = ${deletion}`)
    all += Number(row?.['count'])
  }
  return { issues, isWhole: all === size, isFew, ids: named.map(([name, some]) => [name, [...some]]) }
}

/** Begins an announced restoration that nothing blocks. The outcome of few records; `undefined`: batches follow. */
export function* beginRestoration(
  context: SqlContext,
  plan: Restore,
  { isWhole, ids, isFew }: RestoreInspection,
): Transaction<Outcome | undefined> {
  const { resource, id, restoration: job } = plan
  const found = yield* findDeleted(context, plan)
  if ('kind' in found) return found
  const { restoration, state } = yield* announcedState(context, job)
  if (isFew) {
    yield* withdraw(job)
    const returning = new Map(ids.map(([name, some]) => [name, new Set(some)]))
    return yield* continueForKey(plan, restoreFew(context, plan, returning))
  }
  const { deletion } = restoration
  const mark = isWhole ? deletion : job
  if (!isWhole) yield sql`update ${tableSql(resource.name)} set _deletion = ${job} where id = ${id}`
  yield* keepState(job, { ...state, phase: isWhole ? 'revive' : 'claim', restoration: { ...restoration, mark } })
  return undefined
}

/** Restores the record that was asked for, after all others, and answers its request. */
export function* finishRestoration(context: SqlContext, plan: Restore): Transaction<Outcome> {
  const { resource, id, restoration: job } = plan
  const found = yield* findDeleted(context, plan)
  if ('kind' in found) return found
  const state = yield* lockedState(context, job)
  if (state?.phase !== 'last' || state.restoration === undefined) throw lostAnnouncement('restoration')
  const returns = returnsMarked(state.restoration.mark)
  const root = new Map([[resource.name, new Set([id])]])
  const outcome = yield* continueForKey(plan, restoreFew(context, plan, root, returns))
  yield* keepState(job, { ...state, phase: 'release', at: 0, table: 0, scope: undefined })
  yield* releaseAnnouncement(job)
  return outcome
}

interface AnnouncedState {
  readonly state: DeletionState
  readonly restoration: Restoration
}

function* announcedState(context: SqlContext, job: string): Transaction<AnnouncedState> {
  const state = yield* lockedState(context, job)
  if (state?.phase !== 'check' || state.restoration === undefined) throw lostAnnouncement('restoration')
  return { state, restoration: state.restoration }
}
