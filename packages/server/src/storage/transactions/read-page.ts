/** Reading a page of a list: its clock, its exact total, and the page itself. */

import { predicatesOf } from 'resourced-contract/model/field-grants'
import { collectionsOf, isOfAllRecords, type Scalar } from 'resourced-contract/model/predicate'
import sql, { empty, type Sql } from 'sql-template-tag'
import { checkPage, retainedSince } from '../../plan/check-record.ts'
import type { Outcome, PageOutcome } from '../../plan/outcome.ts'
import type { Parent, ReadPage } from '../../plan/plan.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type OrderTerm, reversed, segmentsAfter } from '../sql/keyset.ts'
import { type PredicateContext, predicateDigest } from '../sql/predicate.ts'
import { grantsDigest } from '../sql/records.ts'
import { constant, firstRow, type Transaction } from '../transaction.ts'
import { countEvents } from './event-totals.ts'
import { answerPage, knownTag, type List, listOf, rangeOf, type Size, scanOf } from './list.ts'
import type { Memory, Totals } from './memory.ts'
import {
  firstPageOf,
  firstPageSql,
  type Keys,
  readBeside,
  readNumbered,
  rowsSql,
  skippedQuickly,
  type TooLarge,
} from './page-rows.ts'
import type { Place } from './places.ts'
import { type Clock, clockOf, clockSql, clockStatement, knownClock, readClock } from './rows/clock.ts'
import { holdsSql } from './rows/record-row.ts'

type PageMemory = Pick<Memory, 'clocks' | 'totals' | 'lists'> & Partial<Pick<Memory, 'page' | 'keepPage' | 'places'>>
type Part = Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'>

/** A total that was not larger when it was last counted is counted again without leaving the page to `readPage`. */
const mostRecounted = 10_000

/** Whether a page should be read elsewhere, because it may take long. */
export type IsLong = (list: List, clock: Clock) => boolean

/** Runs a ReadPage on one snapshot: the page, or 304, 403, 404, 412 as a value. */
export function readPage(context: SqlContext, memory: PageMemory, plan: ReadPage): Transaction<Outcome>
/** @returns `undefined` where the page should be read elsewhere */
export function readPage(
  context: SqlContext,
  memory: PageMemory,
  plan: ReadPage,
  isLong: IsLong,
): Transaction<Outcome | undefined>
export function* readPage(
  context: SqlContext,
  memory: PageMemory,
  plan: ReadPage,
  isLong?: IsLong,
): Transaction<Outcome | undefined> {
  const key = memory.page === undefined ? undefined : pageKey(plan)
  if (key === undefined) return yield* readPageAnew(context, memory, plan, isLong)
  const clock = knownClock(memory, plan.resource.name, allCollections(plan))
  const state = clock?.revision ?? (yield* pageState(context, memory, plan))
  const known = memory.page?.(key, state)
  if (known !== undefined) return checkPage(plan, known.tag) ?? known
  const outcome = yield* readPageAnew(context, memory, plan, isLong)
  if (outcome?.kind === 'page') memory.keepPage?.(key, state, outcome)
  return outcome
}

/** The sum of the revisions of all clocks that the answer depends on. */
export function* pageState(context: SqlContext, memory: Pick<Memory, 'clocks'>, plan: ReadPage): Transaction<number> {
  const { revision } = yield* readClock(context, memory, plan.resource.name, allCollections(plan))
  return revision
}

function* readPageAnew(
  given: SqlContext,
  memory: PageMemory,
  plan: ReadPage,
  isLong?: IsLong,
): Transaction<Outcome | undefined> {
  const context = binContext(given, plan)
  const refused = plan.parent === undefined ? undefined : yield* checkParent(context, plan.parent)
  if (refused !== undefined) return refused
  const clock = yield* readClock(context, memory, plan.resource.name, otherCollections(plan))
  if (!(yield* isKept(context, plan))) return { kind: 'events-expired' }
  const list = listOf(context, memory, plan)
  const known = knownTag(context, list, clock)
  const ended = known === undefined ? undefined : checkPage(plan, known)
  if (ended !== undefined) return ended
  if (isLong?.(list, clock) === true) return undefined
  const total = yield* totalOf(context, plan, list, clock, memory.totals)
  // Only pages by number begin at a place.
  const places = plan.page.style === 'cursor' ? undefined : memory.places
  const place = places?.before(list.totalKey, plan, clock.revision)
  const part = yield* readPart(context, plan, list, { total, live: clock.live, place })
  if ('fits' in part) return { kind: 'page-too-large', fits: part.fits }
  places?.learn(list.totalKey, plan, clock.revision, part)
  return answerPage({ plan, list, clock }, known, { total, ...part })
}

/** The context of a list, which for deleted records says since when the records are retained that were deleted too. */
function binContext(context: SqlContext, { resource, deleted }: ReadPage): PredicateContext {
  if (deleted === undefined) return context
  const now = Date.parse(deleted.since) + resource.deletion.gracePeriod
  return { ...context, binSince: (target) => retainedSince(target, now) }
}

/**
 * Decides the conditions of a ReadPage by the clock alone, which is a short read even if the page is a long one.
 *
 * @returns `undefined` where the page has to be read
 */
export function* checkConditions(
  context: SqlContext,
  memory: Pick<Memory, 'lists'>,
  plan: ReadPage,
): Transaction<Outcome | undefined> {
  if (plan.parent !== undefined || plan.deleted !== undefined) return undefined
  const statement = clockStatement(context, plan.resource.name, otherCollections(plan))
  const known = knownTag(context, listOf(context, memory, plan), clockOf(yield* firstRow(statement)))
  return known === undefined ? undefined : checkPage(plan, known)
}

/**
 * Runs a ReadPage with the page and the clock of its collection in one statement, so that no change comes between them:
 * for an engine on which others write at any time, and on which every statement is a round trip. Each statement has a
 * snapshot of its own.
 *
 * @returns `undefined` where the total may take long to count, or the page takes several statements: then `readPage`
 *   must be used
 */
export function* readPageAtOnce(
  context: SqlContext,
  memory: Pick<Memory, 'totals' | 'lists'>,
  plan: ReadPage,
): Transaction<Outcome | undefined> {
  if (plan.parent !== undefined || plan.deleted !== undefined) return undefined
  if (plan.page.style === 'cursor' && plan.page.position !== undefined) return undefined
  if (eventsNamed(plan).length > 0) return undefined
  // Its total says from which end of the list it is read.
  if (rangeOf(plan.page).offset > skippedQuickly) return undefined
  const list = listOf(context, memory, plan)
  let before = isUnfiltered(plan) ? undefined : memory.totals.last(list.totalKey)
  if (before === undefined && !isUnfiltered(plan)) return undefined
  const scan = scanOf(context, list, plan.page, { total: before?.total ?? 0, live: undefined })
  const clockOfList = () => clockSql(context, plan.resource.name, otherCollections(plan))
  scan.statementWithClock ??= constant(
    sql`select clock.*, first.* from (${clockOfList()}) clock, (${firstPageSql({ context, plan, scan })}) first`,
  )
  let row = yield* firstRow(scan.statementWithClock)
  if (before !== undefined && before.revision !== clockOf(row).revision) {
    if (before.total > mostRecounted) return undefined
    const count = sql`select count(*) as total from ${subjectSql(plan.resource.name)} where ${list.where}`
    const counted = yield* firstRow(sql`select clock.*, counted.* from (${clockOfList()}) clock, (${count}) counted`)
    before = { revision: clockOf(counted).revision, total: Number(counted?.['total']) }
    memory.totals.set(list.totalKey, before.revision, before.total)
    if (before.revision !== clockOf(row).revision) row = yield* firstRow(scan.statementWithClock)
  }
  const clock = clockOf(row)
  if (before !== undefined && before.revision !== clock.revision) return undefined
  const known = knownTag(context, list, clock)
  const ended = known === undefined ? undefined : checkPage(plan, known)
  if (ended !== undefined) return ended
  const part = firstPageOf(plan.page, scan, row)
  return part && answerPage({ plan, list, clock }, known, { total: before?.total ?? clock.live, ...part })
}

const none: ReadonlySet<string> = new Set()

/** The collections beside its own that a caller's view of a list depends on. */
function otherCollections({ permitted, deleted, readableFields }: ReadPage): ReadonlySet<string> {
  if (permitted.kind === 'always' && deleted === undefined && readableFields === undefined) return none
  const others = collectionsOf(permitted)
  if (readableFields !== undefined) for (const each of predicatesOf(readableFields)) collectionsOf(each, others)
  if (deleted !== undefined) collectionsOf(deleted.permitted, others)
  return others
}

/** These, and those that the permission to read the parent depends on. */
function allCollections(plan: ReadPage): ReadonlySet<string> {
  const others = otherCollections(plan)
  if (plan.parent === undefined) return others
  const { resource, permitted } = plan.parent
  return collectionsOf(permitted, new Set([...others, resource.name]))
}

/**
 * What a page is remembered by: the query, the address and the permissions of the caller. `undefined`: it is not worth
 * remembering, or depends on more than the clocks of its collections.
 */
export function pageKey({ key, permitted, parent, deleted, readableFields }: ReadPage): string | undefined {
  // Which deleted records a caller is shown depends on the time.
  if (key === undefined || deleted !== undefined) return undefined
  const allowed = `${predicateDigest(permitted)}${grantsDigest(readableFields)}`
  // Callers write the end of the key, so it comes last.
  if (parent === undefined) return `${allowed} ${key}`
  return JSON.stringify([key, allowed, parent.id, predicateDigest(parent.permitted)])
}

/** Whether the parent of a nested collection is there, and the caller may read it. */
export function* checkParent(context: PredicateContext, parent: Parent): Transaction<Outcome | undefined> {
  const { resource, id, permitted } = parent
  const columns = sql`${holdsSql(context, resource, permitted)} as _permitted`
  const lock = context.locksReferenced ? context.dialect.lock.share : empty
  const row = yield* firstRow(
    sql`select ${columns} from ${subjectSql(resource.name)} where id = ${id} and deleted_at is null${lock}`,
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

/** The events that a page begins after: of its cursor, and of its query. */
function eventsNamed({ resource, filter, page }: ReadPage): readonly Scalar[] {
  if (resource.order !== 'by-position') return []
  const key = page.style === 'cursor' ? page.position?.keys.at(-1) : undefined
  const terms = filter.kind === 'and' ? filter.terms : [filter]
  const after = terms.flatMap((term) =>
    term.kind === 'compare' && term.field === 'id' && term.operator === 'gt' ? [term.value] : [],
  )
  return key == null ? after : [...after, key]
}

/** Whether the events that a page begins after are kept, so that it leaves none out (EVT-5). */
function* isKept({ dialect }: SqlContext, plan: ReadPage): Transaction<boolean> {
  const ids = eventsNamed(plan)
  if (ids.length === 0) return true
  const which = dialect.isAnyOf(sql`id`, [...new Set(ids)])
  const rows = yield sql`select id from ${subjectSql(plan.resource.name)} where ${which}`
  return rows.length === new Set(ids).size
}

/** Whether the total of a list can be counted onward: its permission does not depend on records. */
function countsOnward({ resource, permitted, search, deleted }: ReadPage): boolean {
  if (resource.order !== 'by-position' || search !== undefined || deleted !== undefined) return false
  return isOfAllRecords(permitted)
}

function* totalOf(context: SqlContext, plan: ReadPage, list: List, clock: Clock, totals: Totals): Transaction<number> {
  if (isUnfiltered(plan)) return clock.live
  const known = totals.get(list.totalKey, clock.revision)
  if (known !== undefined) return known
  if (countsOnward(plan)) {
    const key = list.totalKey
    const { total, counted } = yield* countEvents(context, plan, list.where, totals.events.get(key))
    if (counted === undefined) totals.events.delete(key)
    else totals.events.set(key, counted)
    totals.set(key, clock.revision, total)
    return total
  }
  const row = yield* firstRow(sql`select count(*) as total from ${subjectSql(plan.resource.name)} where ${list.where}`)
  const total = Number(row?.['total'] ?? 0)
  // What depends on the time of day is not kept: the clock does not show it.
  if (plan.deleted === undefined) totals.set(list.totalKey, clock.revision, total)
  return total
}

/** How many records there are, and the nearest known place before the page. */
interface Surroundings extends Size {
  readonly place: Place | undefined
}

function* readPart(context: SqlContext, plan: ReadPage, list: List, size: Surroundings): Transaction<Part | TooLarge> {
  const { page } = plan
  const { total } = size
  // What matches nothing is not looked for again: an ordered scan would go to the end for it.
  if (total === 0 && plan.filter.kind !== 'always') return { json: '', count: 0, previous: undefined, next: undefined }
  const scan = scanOf(context, list, page, size)
  if (page.style !== 'cursor') {
    const read = yield* readNumbered({ context, plan, scan }, page, size)
    return 'fits' in read ? read : { json: read.json, count: read.count, previous: undefined, next: undefined }
  }
  const backward = page.position?.direction === 'backward'
  const { where, terms } = scan
  const walked = backward ? { where, terms: reversed(terms) } : scan
  const { json, count, first, last, more } = yield* readBeside({ context, plan, scan: walked }, page)
  if (first === undefined || last === undefined) {
    // An empty page is at the end or the beginning of the list, so it has no keys.
    const edge = page.position === undefined || total === 0 ? undefined : []
    return { json: '', count: 0, previous: backward ? undefined : edge, next: backward ? edge : undefined }
  }
  if (backward) {
    return { json, count, previous: more ? last : undefined, next: yield* beyond(plan, where, terms, first) }
  }
  const previous = page.position === undefined ? undefined : yield* beyond(plan, where, reversed(terms), first)
  return { json, count, previous, next: more ? last : undefined }
}

/** The keys themselves where there is a row beyond them, else `undefined`. */
function* beyond(
  { resource }: ReadPage,
  where: Sql,
  terms: readonly OrderTerm[],
  keys: Keys,
): Transaction<Keys | undefined> {
  for (const segment of segmentsAfter(terms, keys)) {
    const rows = yield sql`select 1 as found ${rowsSql(resource, where, segment)} order by ${segment.order} limit 1`
    if (rows.length > 0) return keys
  }
  return undefined
}
