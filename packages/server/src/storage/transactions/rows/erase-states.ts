/**
 * Erasing what is kept of records beside their rows: revisions, the data of events, and answers. A record may have very
 * many of them, so each transaction erases a bounded part: other writers wait for it.
 */
import { historyCollection } from 'resourced-contract/model/names'
import type { Resource } from 'resourced-contract/model/resource'
import sql, { empty, raw } from 'sql-template-tag'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { tick } from './clock.ts'
import { eraseAnswers, keptFor } from './kept-answers.ts'

/** The most revisions, and the most events, that one transaction erases. */
export const mostErased = 1_000

/**
 * Erases the states of deleted records before their rows are removed, or a part of them. The last event stays. What was
 * kept before a resource's events or history were turned off is erased too.
 *
 * @returns whether there may be more
 */
export function* eraseStates(context: SqlContext, resource: Resource, ids: readonly string[]): Transaction<boolean> {
  if (context.catalog.system.has(historyCollection)) {
    const some = sql`select _row from "revisions" where ${context.dialect.isAnyOf(raw('record_id'), ids)}`
    const erased = yield sql`delete from "revisions" where _row in (${some} limit ${mostErased}) returning id`
    if (erased.length > 0) yield tick(context, historyCollection, 0, 0)
    if (erased.length === mostErased) return true
  }
  if (yield* eraseEvents(context, resource, ids)) return true
  return isInAnswers(resource) && (yield* eraseAnswers(context, ids))
}

/** Whether something may be kept of removed records that no trigger erases. */
export function leavesStates({ catalog: { system } }: SqlContext, resource: Resource): boolean {
  const hasFormer = resource.history === undefined && system.has(historyCollection)
  return hasFormer || (!resource.events && system.has('events')) || isInAnswers(resource)
}

/**
 * Erases the data of all events of records but the last ones. Where changes are no events any more, the last ones show
 * former states, too.
 *
 * @returns whether there may be more
 */
export function* eraseEvents(
  context: SqlContext,
  { name: collection, events }: Pick<Resource, 'name' | 'events'>,
  ids: readonly string[],
): Transaction<boolean> {
  if (!context.catalog.system.has('events')) return false
  const ofRecords = sql`${context.dialect.isAnyOf(raw('e.record'), ids)} and e.collection = ${collection}`
  const isLater = sql`l.record = e.record and l.collection = ${collection} and l._row > e._row`
  const isFormer = events ? sql` and exists (select 1 from "events" l where ${isLater})` : empty
  const some = sql`select _row from "events" e where ${ofRecords} and e.data is not null${isFormer} limit ${mostErased}`
  const erased = yield sql`update "events" set data = null where _row in (${some}) returning _row`
  // Their totals are counted anew.
  if (erased.length > 0) yield tick(context, 'events', 0, 0)
  return erased.length === mostErased
}

/** Whether kept answers may show a record that is removed: they are not kept as long as most deleted records. */
function isInAnswers({ history, deletion }: Resource): boolean {
  return history !== undefined && deletion.gracePeriod < keptFor
}
