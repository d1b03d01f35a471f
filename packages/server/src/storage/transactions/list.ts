/** A list in SQL: its rows and their access path, the entity tag of each of its states, and the key of its total. */
import { grantOf, predicatesOf } from 'resourced-contract/model/field-grants'
import { collectionsOf, type Predicate } from 'resourced-contract/model/predicate'
import { isHistory } from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { keyedTag, retainedSince } from '../../plan/check-record.ts'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Page, ReadPage } from '../../plan/plan.ts'
import type { BoundedMap } from '../sql/bounded-map.ts'
import { columnSql, comparisonColumn, searchColumns, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type OrderTerm, orderTerms } from '../sql/keyset.ts'
import { fenceMany, liveSql, type PredicateContext, predicateSql } from '../sql/predicate.ts'
import { digestOf, grantsDigest, maskedSql, predicateDigest } from '../sql/records.ts'
import type { Statement } from '../transaction.ts'
import {
  type AccessPath,
  accessPathOf,
  findsBySet,
  findsFew,
  isLed,
  isLookup,
  isOfFewValues,
  isRelated,
  type LiveOf,
  leadingNullField,
  type Size,
  searchedTexts,
  termsOf,
} from './access-path.ts'
import type { Clock } from './rows/clock.ts'

/** The rows of a list in their order, by one access path. */
export interface Scan {
  readonly where: Sql
  readonly terms: readonly OrderTerm[]
  /** Whether all rows are found first, and then sorted. */
  readonly isSorted?: boolean
  /** Reads the page from the first segment of the order. It is built once. */
  first?: Statement
}

/** A list, and its last tag. */
export interface List {
  /** Of a list of deleted records it says since when records are retained that were deleted too. */
  readonly context: PredicateContext
  /** Without conditions: they are those of one request, and a list is kept longer. */
  readonly plan: ReadPage
  readonly totalKey: string
  /** The rows, so that indexes of the filter find them. */
  readonly where: Sql
  readonly scans: Map<AccessPath, Scan>
  /** The collections beside its own that the caller's view of it depends on. */
  readonly others: ReadonlySet<string>
  /** The last tag, and the state of the clocks that it was made at. */
  tagged?: { readonly state: number; readonly tag: string }
}

/** Lists by query and permission. */
interface KnownLists {
  readonly lists: BoundedMap<List>
  /** How many records collections have, as far as it is known. */
  readonly clocks?: ReadonlyMap<string, Pick<Clock, 'live'>>
}

/** The list of a plan: as it was built for the same query before, or built anew. */
export function listOf(given: SqlContext, { lists, clocks }: KnownLists, plan: ReadPage): List {
  const liveOf: LiveOf = (collection) => clocks?.get(collection)?.live
  const context = recycleBin(given, plan)
  const make = (): List => ({
    ...{ context, plan: { ...plan, conditions: {} }, others: otherCollections(plan) },
    ...{ totalKey: totalKeyOf(plan), where: whereSql(context, plan, liveOf), scans: new Map() },
  })
  const { key, parent, deleted, page } = plan
  // Which deleted records a caller is shown depends on the time, and a page in the middle is read once.
  const isMiddle = page.style === 'cursor' && page.position !== undefined
  if (key === undefined || deleted !== undefined || isMiddle || context.horizon !== undefined) return make()
  const place = parent === undefined ? '' : JSON.stringify(parent.id)
  return lists.of(`${allowedKey(plan)} ${place} ${key}`, make)
}

/** The context of conditions on the rows of a list, which may have deleted records. */
export function recycleBin(
  context: SqlContext,
  { resource, deleted }: Pick<ReadPage, 'resource' | 'deleted'>,
): PredicateContext {
  if (deleted === undefined) return context
  const now = Date.parse(deleted.since) + resource.deletion.gracePeriod
  return { ...context, binSince: (target) => retainedSince(target, now) }
}

/** The scan that reads a page of a list. */
export function scanOf({ context, plan, where, scans }: List, page: Page, size: Size): Scan {
  const path = accessPathOf(context.catalog, plan, page, size)
  const known = scans.get(path)
  if (known !== undefined) return known
  const ordered = orderTerms({ ...context, semijoin: 'exists' }, plan.resource, plan.sort, subject, () =>
    scoreSql(context, plan),
  )
  const scan: Scan =
    path === 'ordered scan'
      ? { where: checkedSql(context, plan), terms: ordered }
      : path === 'sort'
        ? { where, terms: unindexedTerms(context, ordered), isSorted: true }
        : { where, terms: ledTerms(plan, ordered) }
  scans.set(path, scan)
  return scan
}

function whereSql(context: SqlContext, plan: ReadPage, liveOf: LiveOf): Sql {
  const semijoin = findsFew(context, plan) ? 'exists' : 'in'
  const { parent, search, filter, permitted } = plan
  const asked = fenceMany({ ...context, semijoin, findsItems: true }, permitted, filter)
  const conditions: Sql[] = []
  if (context.horizon !== undefined) conditions.push(horizonSql(context.horizon))
  if (parent !== undefined) conditions.push(sql`${columnSql(subject, parent.field)} = ${parent.id}`)
  conditions.push(readableRowsSql(asked, plan))
  for (const term of termsOf(filter)) conditions.push(termSql(asked, plan, term, liveOf))
  if (search !== undefined) conditions.push(searchSql(context, plan, search))
  return join(conditions, ' and ')
}

/** The rows that a term of the filter holds for, so that the index which finds the fewest finds them. */
function termSql(context: PredicateContext, plan: ReadPage, term: Predicate, liveOf: LiveOf): Sql {
  const { resource, filter, deleted } = plan
  if (isLookup(term) || term.kind === 'or') {
    const isBySet = findsBySet(context.catalog, term, resource.name, liveOf)
    const own: PredicateContext = { ...context, semijoin: isBySet ? 'in' : 'exists' }
    return term.kind === 'or' && deleted === undefined
      ? liveSql(own, resource, term)
      : predicateSql(own, resource, term)
  }
  const found = predicateSql(context, resource, term)
  return isLed(context.catalog, filter) && isOfFewValues(resource, term) ? context.dialect.unindexed(found) : found
}

/** The rows that the caller may read: live ones, and deleted ones if they are asked for. */
export function readableRowsSql(
  context: PredicateContext,
  { resource, permitted, deleted }: Pick<ReadPage, 'resource' | 'permitted' | 'deleted'>,
): Sql {
  const live = liveSql(context, resource, permitted)
  if (deleted === undefined) return live
  const retained = sql`${raw(subject)}.deleted_at > ${deleted.since}`
  const readable = predicateSql(context, resource, deleted.permitted)
  return deleted.only ? sql`${retained} and ${readable}` : sql`((${live}) or (${retained} and ${readable}))`
}

/** The events up to the horizon. */
function horizonSql(horizon: number): Sql {
  return sql`${columnSql(subject, '_row')} <= ${horizon}`
}

function searchSql(context: SqlContext, plan: ReadPage, words: readonly string[]): Sql {
  if (words.length === 0) return sql`1 = 0`
  const { resource } = plan
  const asked = { all: words.slice(0, -1), prefix: words.at(-1) as string }
  const found = context.dialect.matchesSearch(resource.name, subject, asked)
  const names = searchedTexts(plan)
  if (names === undefined) return found
  const texts = names.map((name) => readableText(context, plan, name))
  return sql`${found} and ${context.dialect.haveWords(texts, words)}`
}

/** The text of a field, empty in records in which the caller may not read it. */
function readableText(context: SqlContext, { resource, readableFields }: ReadPage, name: string): Sql {
  const value = columnSql(subject, name)
  return maskedSql(context, resource, grantOf(readableFields, name), { value, otherwise: raw("''") })
}

/** How well a record matches the search, by the texts that the caller may read (WHR-6). */
function scoreSql(context: SqlContext, plan: ReadPage): Sql {
  const { resource, search = [] } = plan
  const texts = (searchedTexts(plan) ?? searchColumns(resource)).map((name) => ({
    text: readableText(context, plan, name),
    weight: resource.field.get(name)?.weight ?? 1,
  }))
  // A constant would name a column of the select.
  return search.length === 0 ? raw("length('')") : context.dialect.relevance(texts, search)
}

/** The same rows, so that the order finds them and the conditions only drop some. */
function checkedSql(context: SqlContext, plan: ReadPage): Sql {
  const { resource, parent, permitted, filter, search } = plan
  const asked: PredicateContext = { ...context, semijoin: 'fenced exists' }
  const checked = [permitted, filter].map((each) => predicateSql(asked, resource, each))
  if (parent !== undefined) checked.push(sql`${columnSql(subject, parent.field)} = ${parent.id}`)
  if (search !== undefined) checked.push(searchSql(context, plan, search))
  const scanned = [sql`${raw(subject)}.deleted_at is null`]
  if (context.horizon !== undefined) scanned.push(horizonSql(context.horizon))
  return join([...scanned, ...checked.map(context.dialect.unindexed)], ' and ')
}

function ledTerms(plan: ReadPage, [first, ...others]: readonly OrderTerm[]): OrderTerm[] {
  const name = leadingNullField(plan)
  const lead = name === undefined ? undefined : columnSql(subject, comparisonColumn(plan.resource, name))
  return [{ ...(first as OrderTerm), ...(lead !== undefined && { lead }) }, ...others]
}

/** Terms that no index is read in the order of: the rows are found first, and then sorted. */
export function unindexedTerms({ dialect }: SqlContext, terms: readonly OrderTerm[]): OrderTerm[] {
  return terms.map((term) => ({ ...term, column: dialect.unindexed(term.column) }))
}

/**
 * The tag of a list where it is known before the page is read. For a caller who may read all of the collection it is
 * made of the clock, so it costs no reading; it is keyed, so that callers cannot count the changes. For others it
 * depends only on what they see (AUT-9): it is known if nothing has changed since the page was read.
 */
export function knownTag(list: List, { revision }: Pick<Clock, 'revision'>): string | undefined {
  if (list.tagged?.state === revision) return list.tagged.tag
  const { plan } = list
  const isOfAll = plan.permitted.kind === 'always' && !isHistory(plan.resource)
  const isWhole = isOfAll && plan.readableFields === undefined && relatedTo(plan).size === 0
  // What is shown of deleted records depends on the time of day, which the clock does not show.
  if (!isWhole || plan.deleted !== undefined) return undefined
  const { name, shape } = plan.versionResource ?? plan.resource
  // An older version's clients keep their tags when a newer one renames fields.
  const asked = plan.versionFilter === undefined ? plan : { ...plan, filter: plan.versionFilter }
  const text = `${name} ${revision} ${shape} ${conditionKey(asked)}`
  const tag = keyedTag(secretOf(list), text)
  list.tagged = { state: revision, tag }
  return tag
}

/** The opaque tag of a page, made of its visible content. */
export function pageTag(list: List, { json, total, previous, next }: Omit<PageOutcome, 'kind' | 'tag'>): string {
  const { plan } = list
  const { shape } = plan.versionResource ?? plan.resource
  return keyedTag(secretOf(list), `${JSON.stringify([shape, total, previous, next])}\n${json}`)
}

function secretOf({ context: { tagSecret } }: List): Uint8Array {
  if (tagSecret === undefined) throw new Error('Pages cannot be read without the secret of their tags.')
  return tagSecret
}

/** The key of the total of a list. */
function totalKeyOf(plan: ReadPage): string {
  const { resource, parent } = plan
  return `${resource.name} ${parent?.field ?? ''} ${parent?.id ?? ''} ${conditionKey(plan)}`
}

function conditionKey(plan: ReadPage): string {
  const { filter, search, permitted, deleted, readableFields } = plan
  const predicates = `${predicateDigest(filter)}.${predicateDigest(permitted)}`
  if (search !== undefined || deleted !== undefined) {
    const masks = readableFields === undefined ? [] : [readableFields]
    const rest = [search ?? null, searchedTexts(plan) ?? null, deleted ?? null, ...masks]
    return `${predicates}.${digestOf(rest)}`
  }
  return predicates === '.' ? '' : predicates
}

/**
 * The part of keys that depends on the caller: what may be read, and what the filter and the order have of it. A
 * condition of the request may hold values of its caller.
 */
export function allowedKey({ permitted, readableFields, filter, sort }: ReadPage): string {
  const order = sort.some(isRelated) ? digestOf(sort) : ''
  return `${predicateDigest(permitted)}${grantsDigest(readableFields)} ${predicateDigest(filter)}${order}`
}

const none: ReadonlySet<string> = new Set()

/** The collections beside its own that a caller's view of a list depends on. */
export function otherCollections(
  plan: Pick<ReadPage, 'permitted' | 'deleted' | 'readableFields' | 'filter' | 'sort' | 'parent' | 'resource'>,
): ReadonlySet<string> {
  const { permitted, deleted, readableFields, parent, resource } = plan
  // The clock of a collection shows the states of its records, which other transactions may write in another order.
  const related = parent !== undefined && isHistory(resource) ? new Set([parent.resource.name]) : relatedTo(plan)
  const isWhole = permitted.kind === 'always' && deleted === undefined && readableFields === undefined
  if (isWhole) return related
  const others = collectionsOf(permitted, new Set(related))
  if (readableFields !== undefined) for (const each of predicatesOf(readableFields)) collectionsOf(each, others)
  if (deleted !== undefined) collectionsOf(deleted.permitted, others)
  return others
}

/** The collections whose records the filter and the order of a list ask for. */
export function relatedTo({ filter, sort }: Pick<ReadPage, 'filter' | 'sort'>): ReadonlySet<string> {
  if (filter.kind === 'always' && !sort.some(isRelated)) return none
  const related = collectionsOf(filter)
  for (const { through = [] } of sort) {
    for (const { collection, permitted } of through) {
      related.add(collection)
      if (permitted !== undefined) collectionsOf(permitted, related)
    }
  }
  return related
}
