/** What a list asks the database: which rows, and in which order. */

import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { columnSql, comparisonColumn, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type OrderTerm, orderTerms, type Segment } from '../sql/keyset.ts'
import { liveSql, type PredicateContext, predicateSql } from '../sql/predicate.ts'
import type { Statement } from '../transaction.ts'
import { type TaggedList, totalKeyOf } from './list-tag.ts'
import { searchedTexts } from './searched-texts.ts'
import { isServed, nullFieldOf, type Way, wayOf } from './way.ts'

/** The rows of a list in their order, by one way to them. */
export interface Walk {
  readonly where: Sql
  readonly terms: readonly OrderTerm[]
  /** The segments of the whole order, and the statement of a page by number for the first of them, once they were built. */
  segments?: readonly Segment[]
  statement?: Statement
}

/** A list in SQL. */
export interface Listing extends TaggedList {
  readonly context: SqlContext
  readonly totalKey: string
  /** The rows, so that what is asked for finds them. */
  readonly where: Sql
  readonly walks: Map<Way, Walk>
}

// A query that is asked again has the same `page` (`request/list-query.ts`), and needs the same SQL.
const listings = new WeakMap<Page, Listing>()

/** The list of a plan: built, or as it was built for the same query before. */
export function listingOf(context: SqlContext, plan: ReadPage): Listing {
  const { page } = plan
  const known = listings.get(page)
  if (known !== undefined && known.context === context && isSameList(known.plan, plan)) return known
  const where = whereSql(context, plan)
  const listing: Listing = { plan, context, totalKey: totalKeyOf(plan), where, walks: new Map() }
  // A page in the middle is asked for once.
  if (page.style !== 'cursor' || page.position === undefined) listings.set(page, listing)
  return listing
}

// What deleted records are shown depends on the time.
function isSameList(a: ReadPage, b: ReadPage): boolean {
  return (
    a.deleted === undefined &&
    b.deleted === undefined &&
    a.resource === b.resource &&
    a.permitted === b.permitted &&
    a.filter === b.filter &&
    a.search === b.search &&
    a.sort === b.sort &&
    a.fields === b.fields &&
    a.versionResource === b.versionResource &&
    a.parent?.id === b.parent?.id &&
    a.parent?.field === b.parent?.field
  )
}

/** The way to the rows of a list of so many records. */
export function walkOf({ plan, context, where, walks }: Listing, total: number): Walk {
  const way = wayOf(plan, total)
  let walk = walks.get(way)
  if (walk === undefined) {
    const ordered = orderTerms(plan.resource, plan.sort, subject)
    walk = {
      where: way === 'walk' ? walkedSql(context, plan) : where,
      terms: way === 'sort' ? unindexedTerms(context, ordered) : way === 'walk' ? ordered : ledTerms(plan, ordered),
    }
    walks.set(way, walk)
  }
  return walk
}

function whereSql({ catalog, engine }: SqlContext, plan: ReadPage): Sql {
  const context: PredicateContext = { catalog, engine, semijoin: isServed(plan) ? 'exists' : 'in' }
  const { resource, parent, search, deleted } = plan
  const conditions: Sql[] = []
  if (parent !== undefined) conditions.push(sql`${columnSql(subject, parent.field)} = ${parent.id}`)
  const permitted = liveSql(context, resource, plan.permitted)
  if (deleted === undefined) {
    conditions.push(permitted)
  } else {
    const retained = sql`${raw(subject)}.deleted_at > ${deleted.since}`
    const seen = predicateSql(context, resource, deleted.permitted)
    conditions.push(sql`((${permitted}) or (${retained} and ${seen}))`)
  }
  if (plan.filter.kind !== 'always') conditions.push(predicateSql(context, resource, plan.filter))
  if (search !== undefined) {
    conditions.push(search.length === 0 ? sql`1 = 0` : engine.matchesSearch(resource.name, subject, search))
    const texts = search.length === 0 ? undefined : searchedTexts(plan)?.map((name) => columnSql(subject, name))
    if (texts !== undefined) conditions.push(engine.haveWords(texts, search))
  }
  return join(conditions, ' and ')
}

/** The same rows, so that the order finds them and what is asked for only drops some. */
function walkedSql({ catalog, engine }: SqlContext, plan: ReadPage): Sql {
  const { resource, parent, permitted, filter } = plan
  const context: PredicateContext = { catalog, engine, semijoin: 'fenced exists' }
  const checked = [permitted, filter].map((each) => predicateSql(context, resource, each))
  if (parent !== undefined) checked.push(sql`${columnSql(subject, parent.field)} = ${parent.id}`)
  return join([sql`${raw(subject)}.deleted_at is null`, ...checked.map(engine.unindexed)], ' and ')
}

function ledTerms(plan: ReadPage, [first, ...others]: readonly OrderTerm[]): OrderTerm[] {
  const name = nullFieldOf(plan)
  const lead = name === undefined ? undefined : columnSql(subject, comparisonColumn(plan.resource, name))
  return [{ ...(first as OrderTerm), ...(lead !== undefined && { lead }) }, ...others]
}

function unindexedTerms({ engine }: SqlContext, terms: readonly OrderTerm[]): OrderTerm[] {
  return terms.map((term) => ({ ...term, column: engine.unindexed(term.column) }))
}
