/** Reading a page of a list: its clock, its exact total, and the page itself, in one snapshot. */
import { hash } from 'node:crypto'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Position } from '../../model/order.ts'
import type { Predicate, Scalar } from '../../model/predicate.ts'
import { admitPage } from '../../plan/admit.ts'
import type { Outcome, Page, PageOutcome, Parent, ReadPage } from '../../plan/plan.ts'
import { type Clock, readClock } from './clock.ts'
import { type OrderTerm, orderTerms, reversed, segmentsAfter } from './keyset.ts'
import type { Memory } from './memory.ts'
import { type Compiler, collectionsOf, columnSql, liveSql, predicateSql, tableSql } from './predicate.ts'
import { holdsSql } from './read-record.ts'
import { representationSql, subject } from './represent.ts'
import type { Totals } from './totals.ts'
import { single, type Transaction } from './transaction.ts'
import { isServed, wayOf } from './way.ts'

/** Runs a ReadPage: the page, or 304, 403, 404, 412 as a value. */
export function* readPage(compiler: Compiler, memory: Memory, plan: ReadPage): Transaction<Outcome> {
  const refused = plan.parent === undefined ? undefined : yield* checkParent(compiler, plan.parent)
  if (refused !== undefined) return refused
  const clock = yield* readClock(memory, plan.resource.name, otherCollections(plan))
  const tag = tagOf(plan, clock)
  const ended = admitPage(plan, tag)
  if (ended !== undefined) return ended
  const state: State = { where: whereSql(compiler, plan), clock }
  const total = yield* totalOf(plan, state, memory.totals)
  const way = wayOf(plan, total)
  const where = way === 'walk' ? walkedSql(compiler, plan) : state.where
  const ordered = orderTerms(plan.resource, plan.sort, subject)
  const terms = way === 'sort' ? unindexedTerms(compiler, ordered) : ordered
  const part = yield* readPart(compiler, plan, where, terms, total)
  return { kind: 'page', total, tag, ...part }
}

/** A list as it stands. */
interface State {
  readonly where: Sql
  readonly clock: Clock
}

const none: ReadonlySet<string> = new Set()

function otherCollections({ permitted, deleted }: ReadPage): ReadonlySet<string> {
  if (permitted.kind === 'always' && deleted === undefined) return none
  const others = collectionsOf(permitted)
  if (deleted !== undefined) collectionsOf(deleted.permitted, others)
  return others
}

/** The opaque tag of a list: the collections that it depends on, the shape of its records, what is asked for and may be seen. */
function tagOf({ resource, filter, search, permitted, deleted }: ReadPage, { revision }: Clock): string {
  const tag = `${revision}-${resource.shape}`
  const parts = [digestOf(filter), digestOf(permitted)]
  if (search !== undefined || deleted !== undefined) parts.push(digest([search, deleted]))
  return parts.some((part) => part !== '') ? `${tag}-${parts.join('.')}` : tag
}

const digests = new WeakMap<Predicate, string>()

/** The digest of a predicate; predicates are asked for again and again. */
function digestOf(predicate: Predicate): string {
  if (predicate.kind === 'always') return ''
  const known = digests.get(predicate) ?? digest(predicate)
  digests.set(predicate, known)
  return known
}

function digest(value: unknown): string {
  return hash('sha1', JSON.stringify(value), 'base64url').slice(0, 10)
}

/** Whether the parent of a nested collection is there, and the caller may read it. */
export function* checkParent(compiler: Compiler, parent: Parent): Transaction<Outcome | undefined> {
  const { resource, id, permitted } = parent
  const row = yield* single(
    sql`select ${holdsSql(compiler, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null`,
  )
  if (row === undefined) return { kind: 'parent-missing' }
  return row['_permitted'] === 1 ? undefined : { kind: 'forbidden' }
}

/** The rows of a list, so that what is asked for finds them. */
function whereSql({ catalog, expressions }: Compiler, plan: ReadPage): Sql {
  const compiler: Compiler = { catalog, expressions, through: isServed(plan) ? 'each' : 'set' }
  const { resource, parent, search, deleted } = plan
  const conditions: Sql[] = []
  if (parent !== undefined) conditions.push(sql`${columnSql(subject, parent.field)} = ${parent.id}`)
  const permitted = liveSql(compiler, resource, subject, plan.permitted)
  if (deleted === undefined) {
    conditions.push(permitted)
  } else {
    const retained = sql`${raw(subject)}.deleted_at > ${deleted.since}`
    const seen = predicateSql(compiler, resource, subject, deleted.permitted)
    conditions.push(sql`((${permitted}) or (${retained} and ${seen}))`)
  }
  if (plan.filter.kind !== 'always') conditions.push(predicateSql(compiler, resource, subject, plan.filter))
  if (search !== undefined) {
    conditions.push(search.length === 0 ? sql`1 = 0` : expressions.searches(resource.name, subject, search))
  }
  return join(conditions, ' and ')
}

/** The same rows, so that the order finds them and what is asked for only drops some. */
function walkedSql({ catalog, expressions }: Compiler, plan: ReadPage): Sql {
  const { resource, parent, permitted, filter } = plan
  const checked = [permitted, filter].map((each) => predicateSql({ catalog, expressions }, resource, subject, each))
  if (parent !== undefined) checked.push(sql`${columnSql(subject, parent.field)} = ${parent.id}`)
  return join([sql`${raw(subject)}.deleted_at is null`, ...checked.map(expressions.unindexed)], ' and ')
}

function unindexedTerms({ expressions }: Compiler, terms: readonly OrderTerm[]): OrderTerm[] {
  return terms.map((term) => ({ ...term, column: expressions.unindexed(term.column) }))
}

function* totalOf(plan: ReadPage, { where, clock }: State, totals: Totals): Transaction<number> {
  const unfiltered =
    plan.filter.kind === 'always' &&
    plan.permitted.kind === 'always' &&
    plan.parent === undefined &&
    plan.search === undefined &&
    plan.deleted === undefined
  if (unfiltered) return clock.live
  const { resource, parent, filter, permitted, search, deleted } = plan
  const key = JSON.stringify([resource.name, parent?.field, parent?.id, filter, permitted, search, deleted])
  const kept = totals.get(key, clock.revision)
  if (kept !== undefined) return kept
  const row = yield* single(
    sql`select count(*) as total from ${tableSql(plan.resource.name)} ${raw(subject)} where ${where}`,
  )
  const total = Number(row?.['total'] ?? 0)
  // What depends on the time of day is not kept: the clock does not see it pass.
  if (plan.deleted === undefined) totals.set(key, clock.revision, total)
  return total
}

type Part = Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'>
type Keys = readonly (Scalar | null)[]

function* readPart(
  compiler: Compiler,
  plan: ReadPage,
  where: Sql,
  terms: OrderTerm[],
  total: number,
): Transaction<Part> {
  const { page } = plan
  // What matches nothing is not looked for again: a walk would go to the end for it.
  if (total === 0 && plan.filter.kind !== 'always') return { json: '', count: 0, previous: undefined, next: undefined }
  if (page.style !== 'cursor') {
    const { json, count } = yield* readRows(compiler, plan, where, terms, undefined)
    return { json, count, previous: undefined, next: undefined }
  }
  const backward = page.position?.direction === 'backward'
  const walked = backward ? reversed(terms) : terms
  const found = yield* readRows(compiler, plan, where, walked, keysOf(page.position))
  const first = backward ? found.last : found.first
  const last = backward ? found.first : found.last
  if (first === undefined || last === undefined) {
    // Beside an empty page lies the end of the list, or its beginning: no keys.
    const edge = page.position === undefined || total === 0 ? undefined : []
    return { json: '', count: 0, previous: backward ? undefined : edge, next: backward ? edge : undefined }
  }
  const previous = page.position === undefined ? undefined : yield* beyond(plan, where, reversed(terms), first)
  const next = found.count === page.limit || backward ? yield* beyond(plan, where, terms, last) : undefined
  return { json: found.json, count: found.count, previous, next }
}

/** The keys themselves where there is a row beyond them, else `undefined`. */
function* beyond(plan: ReadPage, where: Sql, terms: OrderTerm[], keys: Keys): Transaction<Keys | undefined> {
  for (const { condition, order } of segmentsAfter(terms, keys)) {
    const rows =
      yield sql`select 1 as found from ${tableSql(plan.resource.name)} ${raw(subject)} where ${where}${condition === undefined ? raw('') : sql` and ${condition}`} order by ${order} limit 1`
    if (rows.length > 0) return keys
  }
  return undefined
}

// A position without keys is the edge of the list.
function keysOf(position: Position | undefined): Keys | undefined {
  return position === undefined || position.keys.length === 0 ? undefined : position.keys
}

interface Rows {
  readonly json: string
  readonly count: number
  readonly first: Keys | undefined
  readonly last: Keys | undefined
}

/** The rows after a position in the order of `terms`: their JSON texts, joined in the list's own order. */
function* readRows(
  compiler: Compiler,
  plan: ReadPage,
  where: Sql,
  terms: OrderTerm[],
  keys: Keys | undefined,
): Transaction<Rows> {
  const { expressions } = compiler
  const { page, resource } = plan
  const backward = page.style === 'cursor' && page.position?.direction === 'backward'
  const [limit, offset] = bounds(page)
  const json = representationSql(compiler, resource, plan.fields, false)
  const value = plan.deleted === undefined ? json : withDeletedSql(compiler, plan, json)
  const place = expressions.jsonArray(terms.map((term) => term.column))
  const texts: string[] = []
  const places: Keys[] = []
  let count = 0
  let skipped = 0
  for (const { condition, order } of segmentsAfter(terms, keys)) {
    if (count >= limit) break
    const rest = sql`from ${tableSql(resource.name)} ${raw(subject)} where ${where}${condition === undefined ? raw('') : sql` and ${condition}`} order by ${order} limit ${limit - count} offset ${Math.max(0, offset - skipped)}`
    if (page.style === 'cursor') {
      const rows = yield sql`select ${value} as json, ${place} as place ${rest}`
      for (const row of rows) texts.push(String(row['json']))
      if (rows.length > 0) {
        if (count === 0) places.push(JSON.parse(String(rows[0]?.['place'])))
        places.push(JSON.parse(String(rows.at(-1)?.['place'])))
      }
      count += rows.length
    } else {
      const row = yield* single(
        sql`select ${expressions.join(raw('json'))} as json, count(*) as count from (select ${value} as json ${rest})`,
      )
      if (Number(row?.['count']) > 0) texts.push(String(row?.['json']))
      else if (offset > 0 && count === 0) skipped += yield* sizeOf(plan, where, condition)
      count += Number(row?.['count'])
      if (count > 0) skipped = offset
    }
  }
  if (backward) texts.reverse()
  return { json: texts.join(','), count, first: places[0], last: places.at(-1) }
}

/** How many rows a segment has: what an offset skips over when it lies beyond it. */
function* sizeOf(plan: ReadPage, where: Sql, condition: Sql | undefined): Transaction<number> {
  const row = yield* single(
    sql`select count(*) as total from ${tableSql(plan.resource.name)} ${raw(subject)} where ${where}${condition === undefined ? raw('') : sql` and ${condition}`}`,
  )
  return Number(row?.['total'] ?? 0)
}

function bounds(page: Page): [limit: number, offset: number] {
  if (page.style === 'page') return [page.perPage, (page.page - 1) * page.perPage]
  if (page.style === 'offset') return [page.limit, page.offset]
  return [page.limit, 0]
}

function withDeletedSql(compiler: Compiler, plan: ReadPage, live: Sql): Sql {
  const deleted = representationSql(compiler, plan.resource, plan.fields, true)
  return sql`case when ${raw(subject)}.deleted_at is null then ${live} else ${deleted} end`
}
