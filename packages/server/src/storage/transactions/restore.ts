/**
 * Undoing a deletion: the record and everything that was deleted with it, or nothing (DEL-6).
 *
 * At most 5,000 records are restored in one transaction. More are put on a work list, checked on a snapshot, and
 * restored by a job (`delete/work-list.ts`); the record that was asked for comes last.
 */

import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { issue } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import { checkRecord, decidableRecords, dependsOn, mostRestored, retainedSince } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Restore } from '../../plan/plan.ts'
import { type Moves, noteMove } from '../sql/batch.ts'
import { columnSql, subject, subjectSql, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import type { PredicateContext } from '../sql/predicate.ts'
import { recordOf, storedSql } from '../sql/records.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { findRestorationBlockers } from './delete/blockers.ts'
import { type Closure, descend, markedSet, type Reached, revive, sizeOf } from './delete/cascade.ts'
import { accept, carryOut, conflict } from './delete/delete.ts'
import { purgeBegan } from './delete/purge.ts'
import { finishAtOnce } from './delete/work.ts'
import {
  type Announced,
  checkedState,
  isWaitedFor,
  newState,
  reachedBy,
  setMark,
  type WorkState,
} from './delete/work-list.ts'
import { onceForKey } from './idempotency.ts'
import { tickAll } from './rows/clock.ts'
import { keepState } from './rows/job-rows.ts'
import { lockHolders } from './rows/lock-operations.ts'
import { cascadeReach, holdsFor, isWorkRunning, lockAllRulesBelow, resourceOf } from './rows/other-records.ts'
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
  const { id, restoration } = plan
  const found = yield* findDeleted(context, plan)
  if ('kind' in found) return found
  const { deletion, deletedAt, now } = found
  if (yield* isWorkRunning(deletion)) return conflict(issue('BEING_DELETED'))
  const reached = yield* deletedWith(context, plan, found)
  return yield* carryOut(context, plan, reached, {
    ids: [id],
    refused: [],
    now: (closure) => restoreFew(context, plan, closure),
    *list(closure) {
      for (const [name, ids] of closure) yield* setMark(context, name, [...ids], restoration)
      const total = sizeOf(closure)
      return newState(plan, {
        ...{ deletedAt, found: 1, total, seen: total },
        restoration: { deletion, root: id, now, updatedAt: timestamp(plan.now), caller: plan.caller },
      })
    },
  })
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
  if (context.batch === undefined) yield* lockHolders(context, [{ resource, which: sql`id = ${id}` }])
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
  if (row['deleted_at'] === null) return conflict(issue('NOT_DELETED'))
  if (dependsOn(resource, plan.permitted, ['deleted_at', 'updated_at'])) {
    const restored = { ...recordOf(resource, row), deleted_at: null, updated_at: timestamp(plan.now) }
    if (!(yield* holdsFor(permitting, resource, plan.permitted, restored))) return { kind: 'forbidden' }
  }
  // A record that was deleted alone belongs to no deletion: its id stands for one that has nothing else.
  return { deletion: String(row['_deletion'] ?? id), deletedAt: String(row['deleted_at']), now }
}

/** Restores records in this transaction. */
function* restoreFew(context: SqlContext, plan: Restore, returning: Closure): Transaction<Outcome> {
  const moves: Moves = new Map()
  for (const [collection, ids] of returning) {
    if (ids.size === 0) continue
    yield* revive(context, collection, [...ids], { mark: null, updatedAt: timestamp(plan.now) })
    noteMove(moves, collection, { live: ids.size, deleted: -ids.size, ids: [...ids] })
  }
  yield* tickAll(context, moves)
  return yield* restored(context, plan)
}

function* restored(context: SqlContext, plan: Restore): Transaction<Outcome> {
  const { json, readable, ...validators } = yield* represent(context, plan, plan.id, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, ...validators }
}

/** Whether a deletion has deleted very many records of any collection below a resource. */
function* hasManyDeleted({ catalog }: SqlContext, resource: Resource, deletion: string): Transaction<boolean> {
  for (const { name } of cascadeReach(catalog, resource)) {
    const marked = sql`select 1 as one from ${tableSql(name)} where _deletion = ${deletion}`
    if ((yield sql`${marked} limit 1 offset ${mostRestored}`).length > 0) return true
  }
  return false
}

/**
 * The record, and the records below it by `cascade` that the same deletion has deleted: none that were deleted before,
 * and none that are past their own grace period since (DEL-7). The record alone, if they are more than one transaction
 * restores.
 */
function* deletedWith(context: SqlContext, { resource, id }: Restore, found: Found): Transaction<Reached> {
  const { catalog, dialect } = context
  const { deletion, now } = found
  const alone = { closure: new Map([[resource.name, new Set([id])]]), isComplete: false }
  if (yield* hasManyDeleted(context, resource, deletion)) return alone
  const find = (from: string, field: string, parents: readonly string[]) => {
    const child = resourceOf(catalog, from)
    if (child.deletion.variant === 'hard') return undefined
    const refers = dialect.isAnyOf(columnSql(subject, field), parents)
    const t = raw(subject)
    const isDeletedWith = sql`${t}.deleted_at > ${retainedSince(child, now)} and ${t}._deletion = ${deletion}`
    const lock = sql`${dialect.lock.orderById} limit ${mostRestored + 1}${dialect.lock.update}`
    return sql`select id from ${subjectSql(from)} where ${isDeletedWith} and ${refers}${lock}`
  }
  const reached = yield* descend(catalog, [resource.name, [id]], find, mostRestored)
  return reached.isComplete ? reached : alone
}

/** Begins a checked restoration that nothing blocks: as a job, or of few records in this transaction. */
export function* beginRestoration(context: SqlContext, plan: Restore): Transaction<Outcome> {
  const found = yield* findDeleted(context, plan)
  if ('kind' in found) return found
  const job = plan.restoration
  const state: WorkState = { ...(yield* checkedState(context, job)), phase: 'flip', at: 0, table: 0 }
  if (state.total > plan.above) return yield* accept(context, plan, state)
  const collections = reachedBy(context, state).map(({ name }) => name)
  const issues = yield* findRestorationBlockers(context, plan, markedSet(job, collections))
  if (issues.length > 0) return { kind: 'conflict', issues }
  yield* keepState(job, state)
  yield* finishAtOnce(context, job, plan.now, mostRestored)
  return yield* restored(context, plan)
}
