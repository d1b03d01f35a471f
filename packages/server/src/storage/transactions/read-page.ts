/**
 * Reading a page of a list in six steps: the parent of a nested list, the clock, the conditions, the total, the rows,
 * and the outcome. The memory of answers is in front of it.
 */

import { collectionsOf, isOfAllRecords } from 'resourced-contract/model/predicate'
import { isHistory } from 'resourced-contract/model/recorded'
import sql, { empty, raw } from 'sql-template-tag'
import { checkPage } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Parent, ReadPage } from '../../plan/plan.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import type { PredicateContext } from '../sql/predicate.ts'
import { predicateDigest } from '../sql/predicate-digest.ts'
import { shareLock } from '../sql/share-lock.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { countEvents } from './event-totals.ts'
import { beginsAtKept } from './kept-events.ts'
import { fewRows, type KnownSize, knownTag, type List, listOf, pageTag, rangeOf, scanOf, visitsFew } from './list.ts'
import { allowedKey, otherCollections, withIncluded } from './list-dependence.ts'
import type { Memory } from './memory.ts'
import { firstStatement, type PageRead, readRows } from './page-rows.ts'
import { type Clock, clockOf, knownClock, readClock } from './rows/clock.ts'
import { holdsSql } from './rows/record-row.ts'

export type ListMemory = Pick<Memory, 'clocks' | 'totals' | 'lists'>

/**
 * Runs a ReadPage from memory, if nothing has changed since it was read, or else from the database.
 *
 * @param reach `few`: only what visits few rows is read
 * @returns `undefined` where it is not read
 */
export function* answerPage(
  context: SqlContext,
  memory: Memory,
  plan: ReadPage,
  reach: 'all' | 'few',
): Transaction<Outcome | undefined> {
  const key = pageKey(plan)
  // Most pages are answered here: a generator costs more than the look-up.
  const clock = knownClock(memory, plan.resource.name, allCollections(plan))
  const state = clock?.revision ?? (yield* pageState(context, memory, plan))
  const known = key === undefined ? undefined : memory.page(key, state)
  if (known !== undefined) return checkPage(plan, known.tag) ?? known
  const list = listOf(context, memory, plan)
  if (reach === 'few' && !(yield* visitsFewRows(memory, list, clock))) return undefined
  const outcome = yield* readPage(context, memory, plan, list)
  keepPage(memory, plan, state, outcome)
  return outcome
}

/** Remembers a page. */
export function keepPage(memory: Memory, plan: ReadPage, state: number, outcome: Outcome): void {
  const key = pageKey(plan)
  if (key !== undefined && outcome.kind === 'page') memory.keepPage(key, state, outcome)
}

/** Whether the page of a list visits few rows: see `visitsFew`. */
export function* visitsFewRows(memory: ListMemory, list: List, known?: Clock): Transaction<boolean> {
  return visitsFew(list.plan, knownSize(memory, list, known ?? (yield* clockOfList(memory, list))))
}

/** Runs a ReadPage on one snapshot: the page, or 304, 403, 404, 412 as a value. */
export function* readPage(
  context: SqlContext,
  memory: ListMemory,
  plan: ReadPage,
  list: List = listOf(context, memory, plan),
): Transaction<Outcome> {
  const refused = plan.parent === undefined ? undefined : yield* checkParent(list.context, plan.parent)
  if (refused !== undefined) return refused

  const { clock, read } = yield* readState(memory, list)
  const isOfEvents = plan.resource.order === 'by-position' && !isHistory(plan.resource)
  if (isOfEvents && !(yield* beginsAtKept(context, plan))) return { kind: 'events-expired' }

  const known = knownTag(list, clock)
  const ended = known === undefined ? undefined : checkPage(plan, known)
  if (ended !== undefined) return ended

  const total = yield* totalOf(memory, list, clock)

  const part = yield* readRows(read ?? { list, scan: scanOf(list, plan.page, { total, live: clock.live }) }, total)
  if ('fits' in part) return { kind: 'page-too-large', fits: part.fits }

  const tag = known ?? pageTag(list, { total, ...part })
  list.tagged = { state: clock.revision, tag }
  return checkPage(plan, tag) ?? { kind: 'page', tag, total, ...part }
}

/** Reads the clock of a list, and along with it the first rows, where one statement reads both. */
function* readState(memory: ListMemory, list: List): Transaction<{ readonly clock: Clock; readonly read?: PageRead }> {
  if (!isReadAtOnce(memory, list)) return { clock: yield* clockOfList(memory, list) }
  const { plan, totalKey } = list
  const scan = scanOf(list, plan.page, { total: memory.totals.get(totalKey)?.total ?? 0, live: undefined })
  const first = yield* firstRow(firstStatement({ list, scan }))
  return { clock: clockOf(first), read: { list, scan, first } }
}

/**
 * Whether one statement reads a page and its clock: others write at any time, the page is at the beginning, and its
 * total is known, which a change may have made another one.
 */
export function isReadAtOnce({ totals }: Pick<Memory, 'totals'>, { context, plan, totalKey }: List): boolean {
  const { page } = plan
  if (!context.dialect.lock.hasOtherWriters) return false
  if (rangeOf(page).offset > fewRows || (page.style === 'cursor' && page.position !== undefined)) return false
  return isUnfiltered(plan) || totals.get(totalKey) !== undefined
}

/** Decides the conditions of a ReadPage by the clock alone; `undefined`: the page has to be read. */
export function* decideByClock(
  memory: Pick<Memory, 'clocks'>,
  plan: Pick<ReadPage, 'conditions'>,
  list: List,
): Transaction<Outcome | undefined> {
  const known = knownTag(list, yield* clockOfList(memory, list))
  return known === undefined ? undefined : checkPage(plan, known)
}

function clockOfList(memory: Pick<Memory, 'clocks'>, { context, plan, others }: List): Transaction<Clock> {
  return readClock(context, memory, plan.resource.name, others)
}

/** What is known of a list, given its clock. */
function knownSize({ totals, clocks }: ListMemory, list: List, { revision, live, deleted = 0 }: Clock): KnownSize {
  const others = [...list.others].reduce((sum, each) => sum + (clocks.get(each)?.live ?? 0), 0)
  if (isUnfiltered(list.plan)) return { total: live, isCurrent: true, live, deleted, others }
  const known = totals.get(list.totalKey)
  // A total that is counted onward takes no longer than a current one.
  const isCurrent = known !== undefined && (known.counted !== undefined || known.revision === revision)
  return { total: known?.total, isCurrent, live, deleted, others }
}

/** The sum of the revisions of all clocks that the answer depends on. */
export function* pageState(context: SqlContext, memory: Pick<Memory, 'clocks'>, plan: ReadPage): Transaction<number> {
  const { revision } = yield* readClock(context, memory, plan.resource.name, allCollections(plan))
  return revision
}

/** Those of the list and its related records, and those that the permission to read the parent depends on. */
function allCollections(plan: ReadPage): ReadonlySet<string> {
  const others = withIncluded(otherCollections(plan), plan.include)
  if (plan.parent === undefined) return others
  const { resource, permitted } = plan.parent
  return collectionsOf(permitted, new Set([...others, resource.name]))
}

/**
 * What a page is remembered by: the query, the address and the permissions of the caller. `undefined`: it is not worth
 * remembering, or depends on more than the clocks of its collections.
 */
export function pageKey(plan: ReadPage): string | undefined {
  const { key, parent, deleted } = plan
  // Which deleted records a caller is shown depends on the time.
  if (key === undefined || deleted !== undefined || parent?.deleted !== undefined) return undefined
  const allowed = allowedKey(plan)
  // Callers write the end of the key, so it comes last.
  if (parent === undefined) return `${allowed} ${key}`
  return JSON.stringify([key, allowed, parent.id, predicateDigest(parent.permitted)])
}

/** Whether the parent of a nested collection is there, and the caller may read it. */
export function* checkParent(context: PredicateContext, parent: Parent): Transaction<Outcome | undefined> {
  const { resource, id, permitted, deleted } = parent
  const lock = context.locksReferenced ? shareLock(context.dialect, resource) : empty
  const live = raw('deleted_at is null')
  const isThere = deleted === undefined ? live : sql`(${live} or deleted_at > ${deleted.since})`
  const isPermitted = holdsSql(context, resource, permitted)
  // A record that was deleted with its own parent is still permitted by that.
  const asDeleted = { ...context, countsDeleted: true }
  const held =
    deleted === undefined
      ? isPermitted
      : sql`case when ${live} then ${isPermitted} else ${holdsSql(asDeleted, resource, deleted.permitted)} end`
  const row = yield* firstRow(
    sql`select ${held} as _permitted from ${subjectSql(resource.name)} where id = ${id} and ${isThere}${lock}`,
  )
  if (row === undefined) return { kind: 'parent-missing' }
  return row['_permitted'] === 1 ? undefined : { kind: 'forbidden' }
}

/** Whether a list has all live records of its collection. */
export function isUnfiltered({ filter, permitted, parent, search, deleted }: ReadPage): boolean {
  return (
    filter.kind === 'always' &&
    permitted.kind === 'always' &&
    parent === undefined &&
    search === undefined &&
    deleted === undefined
  )
}

/** Whether the total of a list can be counted onward: its permission does not depend on records. */
function countsOnward({ resource, permitted, search, deleted }: ReadPage): boolean {
  if (resource.order !== 'by-position' || isHistory(resource) || search !== undefined || deleted !== undefined)
    return false
  return isOfAllRecords(permitted)
}

function* totalOf({ totals }: ListMemory, list: List, { revision, live }: Clock): Transaction<number> {
  const { plan, totalKey } = list
  if (isUnfiltered(plan)) return live
  const known = totals.get(totalKey)
  if (known?.revision === revision) return known.total
  const counted = yield* countsOnward(plan) ? countEvents(list, known?.counted) : countRows(list)
  // What depends on the time of day is not kept: the clock does not show it.
  if (plan.deleted === undefined) totals.set(totalKey, { revision, ...counted })
  return counted.total
}

function* countRows({ plan, where }: List): Transaction<{ readonly total: number }> {
  const row = yield* firstRow(sql`select count(*) as total from ${subjectSql(plan.resource.name)} where ${where}`)
  return { total: Number(row?.['total'] ?? 0) }
}
