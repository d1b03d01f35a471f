/** Reading a page of a list: its clock, its exact total, and the page itself, in one snapshot. */

import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { collectionsOf } from '../../model/predicate.ts'
import { admitPage } from '../../plan/admit.ts'
import type { Outcome, PageOutcome, Parent, ReadPage } from '../../plan/plan.ts'
import { subject, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type OrderTerm, reversed, segmentsAfter } from '../sql/keyset.ts'
import type { PredicateContext } from '../sql/predicate.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { answerPage, knownTag } from './list-tag.ts'
import { type Listing, listingOf, walkOf } from './listing.ts'
import type { Memory } from './memory.ts'
import { type Keys, readFrom, readNumbered, type TooLarge } from './page-rows.ts'
import { rowsSql } from './page-sql.ts'
import { type Clock, readClock } from './rows/clock.ts'
import { holdsSql } from './rows/select-record.ts'
import type { Totals } from './totals.ts'

/** Runs a ReadPage: the page, or 304, 403, 404, 412 as a value. */
export function* readPage(
  context: SqlContext,
  memory: Pick<Memory, 'clocks' | 'totals'>,
  plan: ReadPage,
): Transaction<Outcome> {
  const refused = plan.parent === undefined ? undefined : yield* checkParent(context, plan.parent)
  if (refused !== undefined) return refused
  const clock = yield* readClock(context, memory, plan.resource.name, otherCollections(plan))
  const listing = listingOf(context, plan)
  const known = knownTag(context, listing, clock)
  const ended = known === undefined ? undefined : admitPage(plan, known)
  if (ended !== undefined) return ended
  const total = yield* totalOf(plan, listing, clock, memory.totals)
  const part = yield* readPart(context, plan, listing, total)
  if ('fits' in part) return { kind: 'page-too-large', fits: part.fits }
  return answerPage(plan, listing, clock, known, { total, ...part })
}

const none: ReadonlySet<string> = new Set()

/** The collections beside its own that what a caller is shown of a list depends on. */
export function otherCollections({ permitted, deleted }: ReadPage): ReadonlySet<string> {
  if (permitted.kind === 'always' && deleted === undefined) return none
  const others = collectionsOf(permitted)
  if (deleted !== undefined) collectionsOf(deleted.permitted, others)
  return others
}

/** Whether the parent of a nested collection is there, and the caller may read it. */
export function* checkParent(context: PredicateContext, parent: Parent): Transaction<Outcome | undefined> {
  const { resource, id, permitted } = parent
  const row = yield* firstRow(
    sql`select ${holdsSql(context, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null${context.locksReferenced ? context.engine.lock.share : empty}`,
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

function* totalOf(plan: ReadPage, listing: Listing, clock: Clock, totals: Totals): Transaction<number> {
  if (isUnfiltered(plan)) return clock.live
  const kept = totals.get(listing.totalKey, clock.revision)
  if (kept !== undefined) return kept
  const row = yield* firstRow(
    sql`select count(*) as total from ${tableSql(plan.resource.name)} ${raw(subject)} where ${listing.where}`,
  )
  const total = Number(row?.['total'] ?? 0)
  // What depends on the time of day is not kept: the clock does not see it pass.
  if (plan.deleted === undefined) totals.set(listing.totalKey, clock.revision, total)
  return total
}

type Part = Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'>

function* readPart(context: SqlContext, plan: ReadPage, listing: Listing, total: number): Transaction<Part | TooLarge> {
  const { page } = plan
  // What matches nothing is not looked for again: a walk would go to the end for it.
  if (total === 0 && plan.filter.kind !== 'always') return { json: '', count: 0, previous: undefined, next: undefined }
  const walk = walkOf(listing, total)
  if (page.style !== 'cursor') {
    const read = yield* readNumbered(context, plan, walk, page)
    return 'fits' in read ? read : { json: read.json, count: read.count, previous: undefined, next: undefined }
  }
  const backward = page.position?.direction === 'backward'
  const { where, terms } = walk
  const found = yield* readFrom(context, plan, backward ? { where, terms: reversed(terms) } : walk, page)
  const { first, last } = found
  if (first === undefined || last === undefined) {
    // Beside an empty page lies the end of the list, or its beginning: no keys.
    const edge = page.position === undefined || total === 0 ? undefined : []
    return { json: '', count: 0, previous: backward ? undefined : edge, next: backward ? edge : undefined }
  }
  const { json, count, more } = found
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
