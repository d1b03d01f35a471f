/** A list in SQL: its rows and their access path, the entity tag of each of its states, and the key of its total. */
import { createHmac, hash } from 'node:crypto'
import { grantOf } from 'resourced-contract/model/field-grants'
import { exactText } from 'resourced-contract/model/plain-copy'
import { namesIds, type Predicate } from 'resourced-contract/model/predicate'
import { isHistory } from 'resourced-contract/model/recorded'
import { relevance } from 'resourced-contract/model/relevance'
import { type Catalog, isIndexed, namedField } from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { retainedSince } from '../../plan/check-record.ts'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Page, ReadPage } from '../../plan/plan.ts'
import type { BoundedMap } from '../sql/bounded-map.ts'
import { columnSql, comparisonColumn, searchColumns, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type OrderTerm, orderTerms } from '../sql/keyset.ts'
import { liveSql, type PredicateContext, predicateSql } from '../sql/predicate.ts'
import { predicateDigest } from '../sql/predicate-digest.ts'
import { maskedSql } from '../sql/records.ts'
import type { Statement } from '../transaction.ts'
import {
  findsBySet,
  hasIndex,
  isFoundByIndex,
  isLed,
  isLookup,
  isOfFewValues,
  type LiveOf,
  servesOrder,
  termsOf,
} from './found-by-index.ts'
import { allowedKey, firstField, isRelated, otherCollections, relatedTo } from './list-dependence.ts'
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

/** How many rows are read, and how many are skipped before. */
export interface Range {
  readonly limit: number
  readonly offset: number
}

/** The rows that the statements of a page read: beside a cursor one more than it has. */
export function rangeOf(page: Page): Range {
  if (page.style === 'cursor') return { limit: page.limit + 1, offset: 0 }
  return page.style === 'page' ? { limit: page.perPage, offset: (page.page - 1) * page.perPage } : page
}

/** How many rows of a list of so many records are skipped to read a page: from its end, if that is nearer. */
export function skippedRows(page: Page, total: number): number {
  const { limit, offset } = rangeOf(page)
  return Math.min(offset, Math.max(0, total - offset - limit))
}

/** How many records a list and its collection have. */
export interface Size {
  readonly total: number
  /** The live records of the collection; `undefined`: unknown. */
  readonly live: number | undefined
}

/** What is known of a list before it is read. */
export interface KnownSize {
  /** The total as it was counted last; `undefined`: it never was. */
  readonly total: number | undefined
  /** Whether nothing has changed since: then it is not counted again. */
  readonly isCurrent: boolean
  /** The live and the deleted records of the collection. */
  readonly live: number
  readonly deleted: number
  /** The records of other collections that the caller's permission may ask for. */
  readonly others: number
}

/** So many rows are read within about a millisecond. */
export const fewRows = 1_000

/**
 * Whether a page visits few rows, those for its total included. An old total is off by one for each change since, so it
 * is good enough. A total that is not known may be any.
 */
export function visitsFew(plan: ReadPage, { total, isCurrent, live, deleted, others }: KnownSize): boolean {
  const { resource, search, page, sort } = plan
  // A query names at most 1,000 ids.
  if (live + deleted + others <= fewRows || namesIds(plan.filter)) return true
  const [term, ...more] = conditionsOf(plan)
  const isOne = (term === undefined ? 0 : 1) + more.length + (search?.length ?? 0) <= 1
  if (total === undefined || !isOne || plan.deleted !== undefined) return false
  // A search by texts that the caller may not read, and a condition without an index, visit rows that no total counts.
  if (term === undefined ? search !== undefined && searchedTexts(plan) !== undefined : !hasIndex(resource, term))
    return false
  // The indexes of ids and of words contain deleted records too, those of fields do not.
  const isOfField =
    term === undefined
      ? search === undefined && sort.length > 0
      : 'field' in term && term.field !== 'id' && term.kind !== 'has'
  const gone = isOfField ? 0 : deleted
  // An index of fields has all that is asked of a row that is skipped: ten take as long as one that is read.
  const skipped = skippedRows(page, total) / (isOfField ? 10 : 1)
  const read = isIndexRange(plan) ? skipped + rangeOf(page).limit : total
  // A score is made of the words of each text.
  return (isCurrent ? 0 : total + gone) + read * (isByRelevance(plan) ? 10 : 1) + gone <= fewRows
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

/** Whether a list finds its rows without those that a reference may lead to. */
function findsFew({ catalog }: SqlContext, plan: ReadPage): boolean {
  return isServed(catalog, plan) || isFoundByFilter(plan) || namesIds(plan.filter)
}

function whereSql(context: SqlContext, plan: ReadPage, liveOf: LiveOf): Sql {
  const semijoin = findsFew(context, plan) ? 'exists' : 'in'
  const asked: PredicateContext = { ...context, semijoin, findsItems: true }
  const { parent, search, filter } = plan
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

function isByRelevance({ sort }: ReadPage): boolean {
  return sort.some(({ field }) => field === relevance.field)
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
 * The columns in which an older version or a caller searches, where they are fewer than those of the index (QRY-5,
 * AUT-9, AUT-13): the index finds records by any of its texts, so the words have to be looked for in these texts once
 * more. `undefined`: the index decides.
 */
function searchedTexts({ resource, versionResource, readableFields }: ReadPage): string[] | undefined {
  const indexed = searchColumns(resource)
  const isMasked = indexed.some((name) => grantOf(readableFields, name) !== undefined)
  if (versionResource === undefined) return isMasked ? indexed : undefined
  const { fields, mapping } = versionResource
  const columns = fields.flatMap(({ name, search }) => (search ? (mapping.toStored.get(name) ?? []) : []))
  return !isMasked && indexed.every((name) => columns.includes(name)) ? undefined : columns
}

/**
 * The tag of a list where it is known before the page is read. For a caller who may read all of the collection it is
 * made of the clock, so it costs no reading; it is keyed, so that callers cannot count the changes. For others it
 * depends only on what they see (AUT-9): it is known if nothing has changed since the page was read.
 */
export function knownTag(list: List, { revision }: Pick<Clock, 'revision'>): string | undefined {
  if (list.tagged?.state === revision) return list.tagged.tag
  const { plan, context } = list
  const { tagSecret } = context
  const isOfAll = plan.permitted.kind === 'always' && !isHistory(plan.resource)
  const isWhole = isOfAll && plan.readableFields === undefined && relatedTo(plan).size === 0
  // What is shown of deleted records depends on the time of day, which the clock does not show.
  if (!isWhole || plan.deleted !== undefined) return undefined
  if (tagSecret === undefined) throw new Error('Pages cannot be read without the secret of their tags.')
  const { name, shape } = plan.versionResource ?? plan.resource
  // An older version's clients keep their tags when a newer one renames fields.
  const asked = plan.versionFilter === undefined ? plan : { ...plan, filter: plan.versionFilter }
  const text = `${name} ${revision} ${shape} ${conditionKey(asked)}`
  const tag = createHmac('sha256', tagSecret).update(text).digest('base64url').slice(0, 22)
  list.tagged = { state: revision, tag }
  return tag
}

/** The opaque tag of a page, made of its visible content. */
export function pageTag({ plan }: List, { json, total, previous, next }: Omit<PageOutcome, 'kind' | 'tag'>): string {
  const { shape } = plan.versionResource ?? plan.resource
  return digest(`${JSON.stringify([shape, total, previous, next])}\n${json}`)
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
    return `${predicates}.${digest(exactText(rest))}`
  }
  return predicates === '.' ? '' : predicates
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/**
 * How a page finds its rows. One index often serves a list's filter and its order together. Where none does, an engine
 * can find what matches and sort it, or scan the whole order and drop what does not match. The number of matching rows
 * decides which of the two would cost as much as reading the table. That number is known: it is the list's exact total.
 *
 * `planner`: the engine's planner chooses. `sort`: find by the filter, then sort. `ordered scan`: follow the order,
 * check each row.
 */
type AccessPath = 'planner' | 'sort' | 'ordered scan'

/** So many rows are sorted within some ten milliseconds; a scan soon meets one row of more than these. */
const sortedQuickly = 10_000

/** To find a row by its number and to sort it takes as long as to check so many rows of an order. */
const checkedMeanwhile = 2

function accessPathOf(catalog: Catalog, plan: ReadPage, page: Page, { total, live }: Size): AccessPath {
  const isSearch = plan.search !== undefined && plan.deleted === undefined
  // A query names at most 1,000 ids. No index has the order by relevance.
  if (namesIds(plan.filter) || isByRelevance(plan)) return 'sort'
  // Only the index of words finds the few records that have several words, and that of deletions the deleted ones.
  if ((isSearch || plan.deleted?.only === true) && total <= sortedQuickly) return 'sort'
  if (isServed(catalog, plan) && !(isSearch && live !== undefined)) return 'planner'
  const isFound = isSearch || conditionsOf(plan).some((term) => isFoundByIndex(plan.resource, term))
  // No index has the order of related values.
  if (total <= sortedQuickly || plan.sort.some(isRelated)) return isFound ? 'sort' : 'planner'
  // If matches are spread evenly, the scan meets so many rows until the end of the page.
  const checked = (skippedRows(page, total) + rangeOf(page).limit) * ((live ?? 0) / total)
  return isFound && checked > total * checkedMeanwhile ? 'sort' : 'ordered scan'
}

/** Whether a filter of events selects a part of them, of whatever records they are. */
function isFoundByFilter({ resource, filter }: ReadPage): boolean {
  return resource.order === 'by-position' && termsOf(filter).some((term) => isFoundByIndex(resource, term))
}

/** Whether one index has the rows of a list together and in order, or search or deletion decides how they are found. */
function isServed(catalog: Catalog, plan: ReadPage): boolean {
  if (plan.search !== undefined || plan.deleted !== undefined) return true
  if (isLed(catalog, plan.filter)) return false
  const terms = conditionsOf(plan)
  const first = firstField(plan)
  return terms.length === 0 || terms.some((term) => servesOrder(plan.resource, term, first))
}

/**
 * The field that is null in all rows of a list and with which the index of its order begins; `undefined` where there is
 * none, or another condition has an index that serves.
 */
function leadingNullField(plan: ReadPage): string | undefined {
  const { resource, search, deleted } = plan
  if (search !== undefined || deleted !== undefined) return undefined
  const first = firstField(plan)
  const serving = conditionsOf(plan).filter((term) => servesOrder(resource, term, first))
  if (serving.some((term) => term.kind !== 'null')) return undefined
  for (const term of serving) {
    const field = term.kind === 'null' && term.field !== first ? namedField(resource, term.field) : undefined
    if (field !== undefined && isIndexed(resource, field)) return field.name
  }
  return undefined
}

/** Whether the rows of a list are one range of an index, in order, with no other live rows between them. */
export function isIndexRange(plan: ReadPage): boolean {
  // Rows that tie in the first field are sorted.
  if (plan.search !== undefined || plan.deleted !== undefined || plan.sort.length > 1) return false
  if (plan.sort.some(isRelated)) return false
  const [term, ...others] = conditionsOf(plan)
  if (term === undefined) return true
  return others.length === 0 && servesOrder(plan.resource, term, firstField(plan)) && hasIndex(plan.resource, term)
}

function conditionsOf({ permitted, filter, parent }: ReadPage): Predicate[] {
  const terms = [permitted, filter].flatMap(termsOf)
  if (parent === undefined) return terms
  return [...terms, { kind: 'compare', field: parent.field, operator: 'eq', value: parent.id }]
}
