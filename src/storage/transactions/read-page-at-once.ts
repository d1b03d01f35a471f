/**
 * A page and the clock of its collection in one statement, so that nothing comes between them: for an engine on which others
 * write at any time, and on which every statement is a way to the database and back.
 */
import sql, { type Sql } from 'sql-template-tag'
import { admitPage, isConditional } from '../../plan/admit.ts'
import type { Outcome, ReadPage } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRow, prebuilt, type Statement, type Transaction } from '../transaction.ts'
import { answerPage, knownTag } from './list-tag.ts'
import { type Listing, listingOf, type Walk, walkOf } from './listing.ts'
import { firstPageOf, firstPageSql } from './page-rows.ts'
import { isUnfiltered, otherCollections } from './read-page.ts'
import { clockOf } from './rows/clock.ts'
import type { Totals } from './totals.ts'

/**
 * Runs a ReadPage, each statement on a snapshot of its own. `undefined`: that will not do, because a total must be counted
 * first, or the page has to be put together.
 */
export function* readPageAtOnce(context: SqlContext, totals: Totals, plan: ReadPage): Transaction<Outcome | undefined> {
  if (plan.parent !== undefined || plan.deleted !== undefined) return undefined
  if (plan.page.style === 'cursor' && plan.page.position !== undefined) return undefined
  const listing = listingOf(context, plan)
  if (isConditional(plan.conditions)) {
    const known = knownTag(context, listing, clockOf(yield* firstRow(clockSql(context, plan))))
    const ended = known === undefined ? undefined : admitPage(plan, known)
    if (ended !== undefined) return ended
  }
  const before = isUnfiltered(plan) ? undefined : totals.last(listing.totalKey)
  if (before === undefined && !isUnfiltered(plan)) return undefined
  const walk = walkOf(listing, before?.total ?? 0)
  const row = yield* firstRow(statementOf(context, listing, walk))
  const clock = clockOf(row)
  if (before !== undefined && before.revision !== clock.revision) return undefined
  const known = knownTag(context, listing, clock)
  const ended = known === undefined ? undefined : admitPage(plan, known)
  if (ended !== undefined) return ended
  const part = firstPageOf(plan.page, walk, row)
  return part && answerPage(plan, listing, clock, known, { total: before?.total ?? clock.live, ...part })
}

const statements = new WeakMap<Walk, Statement>()

function statementOf(context: SqlContext, { plan }: Listing, walk: Walk): Statement {
  let statement = statements.get(walk)
  if (statement === undefined) {
    statement = prebuilt(
      sql`select clock.*, first.* from (${clockSql(context, plan)}) clock, (${firstPageSql(context, plan, walk)}) first`,
    )
    statements.set(walk, statement)
  }
  return statement
}

function clockSql({ engine }: SqlContext, plan: ReadPage): Sql {
  const { name } = plan.resource
  const others = otherCollections(plan)
  if (others.size === 0) {
    return sql`select sum(revision) as revision, sum(live) as live, ${engine.clockChecksum} as mark from resourced_clocks where collection = ${name}`
  }
  const all = engine.isAnyOf(sql`collection`, [...new Set([name, ...others])])
  return sql`select sum(revision) as revision, sum(case collection when ${name} then live else 0 end) as live, ${engine.clockChecksum} as mark from resourced_clocks where ${all}`
}
