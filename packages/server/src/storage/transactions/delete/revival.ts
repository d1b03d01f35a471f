/**
 * The batches that make deleted records live again: of a restoration of many records (DEL-6), and of a deletion job
 * that is undone. A record that is live again keeps the mark of its deletion until all others are live too, and counts
 * as pending deletion meanwhile (`pending-deletions.ts`). So if something blocks the rest, the batches delete the
 * records again, and nobody has changed them or referred to them.
 */

import type { Resource } from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { retainedSince } from '../../../plan/check-record.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { newMark, nextRevisionSql } from '../../sql/marks.ts'
import { ignoringRows, type Row, type Transaction } from '../../transaction.ts'
import { touchedTick } from '../rows/clock.ts'
import { cascadesOf, settleSelections } from '../rows/pending-deletions.ts'
import { markDeleted } from './cascade.ts'
import { type Batch, enqueue } from './deletion-batches.ts'
import { type DeletionState, type Phase, reachedBy } from './deletion-state.ts'
import { objections, returnsMarked, stateBlockers } from './restoration-blockers.ts'

/** The state after the batch; `ended`: the phase has nothing more to do. */
type After = Transaction<DeletionState | 'ended'>

const batches: Partial<Record<Phase, (context: SqlContext, batch: Batch) => After>> = {
  claim,
  revive,
  last: reviveLast,
  release,
  retract,
}

/** Whether a phase makes records live again. */
export function isRevival(phase: Phase): boolean {
  return phase in batches
}

/** Runs a batch of such a phase, and returns the state of the next one. */
export function* runRevival(context: SqlContext, batch: Batch): Transaction<DeletionState> {
  const { state } = batch
  const next = yield* (batches[state.phase] as typeof claim)(context, batch)
  return next === 'ended' ? phaseAfter(state) : next
}

function phaseAfter(state: DeletionState): DeletionState {
  const { phase, restoration, undoing } = state
  const begin = { ...state, at: 0, table: 0 }
  const released = { ...begin, phase: 'release', selection: undefined } as const
  if (phase === 'claim') return { ...begin, phase: 'revive' }
  if (phase === 'revive') return restoration === undefined ? released : { ...begin, phase: 'last' }
  // A deletion that cannot be undone goes on.
  if (phase === 'retract' && undoing !== undefined) {
    return { ...begin, phase: undoing.phase, at: undoing.at, undoing: undefined }
  }
  return { ...begin, phase: 'tidy' }
}

/** The state of work that deletes again what it has made live. */
export function retracting(state: DeletionState): DeletionState {
  return { ...state, phase: 'retract', at: 0, table: 0 }
}

/** The mark of the records that are made live. */
function markOf({ job, state }: Pick<Batch, 'job' | 'state'>): string {
  return state.restoration?.mark ?? job
}

/** The collections with records that are made live. Records that are deleted for good are not restored. */
function revivedBy(context: SqlContext, state: DeletionState): readonly Resource[] {
  const reached = reachedBy(context, state)
  return state.restoration === undefined ? reached : reached.filter(({ deletion }) => deletion.variant === 'soft')
}

/** A condition on deleted rows of a collection: they are restored if they are still retained (DEL-7). */
function retainedSql({ restoration }: DeletionState, resource: Resource): Sql {
  if (restoration === undefined) return sql`deleted_at is not null`
  return sql`deleted_at > ${retainedSince(resource, restoration.now)} and id <> ${restoration.root}`
}

/** Marks the next records that were deleted with the record that was asked for, and are below it. */
function* claim(context: SqlContext, { job, state, size }: Batch): After {
  const { restoration, table = 0, hasClaimed = false } = state
  const resource = revivedBy(context, state)[table]
  if (restoration === undefined || restoration.mark !== job) return 'ended'
  if (resource === undefined) return hasClaimed ? { ...state, table: 0, at: 0, hasClaimed: false } : 'ended'
  const { name } = resource
  const isAbove = parentsOf(context, resource).map(([parent, field]) => {
    const claimed = sql`x.id = ${columnSql(subject, field)} and x._deletion = ${job}`
    return sql`exists (select 1 from ${tableSql(parent)} x where ${claimed})`
  })
  const next = { at: state.at, size: isAbove.length === 0 ? 0 : size }
  const rows = yield* markedRows(name, restoration.deletion, retainedSql(state, resource), next)
  const last = rows.at(-1)
  if (last === undefined) return { ...state, table: table + 1, at: 0 }
  const which = sql`${context.dialect.isAnyOf(columnSql(subject, 'id'), idsOf(rows))} and (${join(isAbove, ' or ')})`
  const found = idsOf(yield sql`select id from ${subjectSql(name)} where ${which}`)
  if (found.length > 0) {
    const among = context.dialect.isAnyOf(raw('id'), found)
    yield ignoringRows(sql`update ${tableSql(name)} set _deletion = ${job} where ${among}`)
  }
  return { ...state, at: Number(last['_row']), hasClaimed: hasClaimed || found.length > 0 }
}

/** The references by `cascade` by which records of a resource are deleted with others. */
function parentsOf({ catalog }: SqlContext, { name }: Resource): (readonly [parent: string, field: string])[] {
  return [...catalog.resources.keys()].flatMap((parent) =>
    cascadesOf(catalog, parent).flatMap(({ collection, field }) =>
      collection === name ? [[parent, field] as const] : [],
    ),
  )
}

/** Makes the next records live. */
function* revive(context: SqlContext, batch: Batch): After {
  const { state, size } = batch
  const { table = 0, at } = state
  const resource = revivedBy(context, state)[table]
  if (resource === undefined) return 'ended'
  const rows = yield* markedRows(resource.name, markOf(batch), retainedSql(state, resource), { at, size })
  const last = rows.at(-1)
  if (last === undefined) return { ...state, table: table + 1, at: 0 }
  const isFree = yield* reviveRows(context, batch, resource, idsOf(rows))
  return isFree ? { ...state, at: Number(last['_row']) } : retracting(state)
}

/** Makes the record live that was asked for, if no request waits for it any more. */
function* reviveLast(context: SqlContext, batch: Batch): After {
  const { restoration, collection } = batch.state
  const resource = context.catalog.resources.get(collection)
  if (restoration === undefined || resource === undefined) return 'ended'
  const isFree = yield* reviveRows(context, batch, resource, [restoration.root])
  return isFree ? { ...batch.state, phase: 'release', at: 0, table: 0 } : retracting(batch.state)
}

/** Makes records live, and returns whether nothing blocks that. */
function* reviveRows(
  context: SqlContext,
  batch: Batch,
  resource: Resource,
  ids: readonly string[],
): Transaction<boolean> {
  const { restoration } = batch.state
  const { name } = resource
  const returns = returnsMarked(markOf(batch))
  if ((yield* stateBlockers(context, { resource, ids, returns })).length > 0) return false
  if (restoration !== undefined) {
    const asked = { caller: restoration.caller, now: Date.parse(restoration.updatedAt) }
    // Functions decided by the record alone, which nobody has changed since.
    if ((yield* objections(context, asked, { resource, ids, kind: 'unless' })).length > 0) return false
  }
  yield* settleSelections(context, name, ids)
  const updated = restoration === undefined ? raw('') : sql`, updated_at = ${restoration.updatedAt}`
  const live = sql`deleted_at = null, _revision = ${nextRevisionSql(newMark())}${updated}`
  yield sql`update ${tableSql(name)} set ${live} where ${context.dialect.isAnyOf(raw('id'), ids)}`
  yield touchedTick(context, name, { live: ids.length, deleted: -ids.length, ids })
  return true
}

/** Removes the mark of the next records. */
function* release(context: SqlContext, batch: Batch): After {
  return yield* everyLive(context, batch, function* (resource, ids) {
    const among = context.dialect.isAnyOf(raw('id'), ids)
    yield ignoringRows(sql`update ${tableSql(resource.name)} set _deletion = null where ${among}`)
  })
}

/** Deletes the next records again. */
function* retract(context: SqlContext, batch: Batch): After {
  const { job, state } = batch
  return yield* everyLive(context, batch, function* (resource, ids) {
    const which = context.dialect.isAnyOf(raw('id'), ids)
    yield* markDeleted(resource.name, which, markOf(batch), state.deletedAt)
    yield touchedTick(context, resource.name, { live: -ids.length, deleted: ids.length, ids })
    // A deletion that goes on looks for their children.
    if (state.restoration === undefined) yield* enqueue(context, job, resource, which)
  })
}

/** Does something with the next live records that have the mark. */
function* everyLive(
  context: SqlContext,
  batch: Batch,
  work: (resource: Resource, ids: readonly string[]) => Transaction<void>,
): After {
  const { state, size } = batch
  const { table = 0 } = state
  const resource = reachedBy(context, state)[table]
  if (resource === undefined) return 'ended'
  const { orderById, update } = context.dialect.lock
  const rows = yield* markedRows(resource.name, markOf(batch), sql`deleted_at is null`, { at: state.at, size })
  const last = rows.at(-1)
  if (last === undefined) return { ...state, table: table + 1, at: 0 }
  // Another deletion may have come to them.
  const among = context.dialect.isAnyOf(raw('id'), idsOf(rows))
  const live = sql`${among} and _deletion = ${markOf(batch)} and deleted_at is null${orderById}${update}`
  const ids = idsOf(yield sql`select id from ${tableSql(resource.name)} where ${live}`)
  if (ids.length > 0) yield* work(resource, ids)
  return { ...state, at: Number(last['_row']) }
}

/** The next rows of a collection that have a mark, in the order of their numbers. */
function* markedRows(
  collection: string,
  mark: string,
  which: Sql,
  { at, size }: { readonly at: number; readonly size: number },
): Transaction<readonly Row[]> {
  const isNext = sql`_deletion = ${mark} and _row > ${at} and ${which} order by _row limit ${size}`
  return yield sql`select _row, id from ${tableSql(collection)} where ${isNext}`
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map((row) => String(row['id']))
}
