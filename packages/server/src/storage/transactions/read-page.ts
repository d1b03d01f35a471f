/**
 * Reads of requests: from the memory of answers, or from the database. On SQLite another thread reads what may take
 * long: what is asked and given is plain data.
 *
 * A page of a list is read in six steps: the parent of a nested list, the clock, the conditions, the total, the rows,
 * and the outcome.
 */
import { isOfAllRecords } from 'resourced-contract/model/predicate'
import { isHistory } from 'resourced-contract/model/resource'
import sql, { empty, raw } from 'sql-template-tag'
import { checkPage, isConditional } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Parent, ReadPage, ReadRecord } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import type { PredicateContext } from '../sql/predicate.ts'
import { shareLock } from '../sql/totals.ts'
import { type PlainPlan, plainPlan, planOf } from '../threads/plain-plan.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { fewRows, followsFew, type KnownSize, rangeOf, visitsFew } from './access-path.ts'
import { addRelated } from './add-related.ts'
import { countEvents } from './event-totals.ts'
import { beginsAtKept } from './kept-events.ts'
import { knownTag, type List, listOf, pageTag, scanOf } from './list.ts'
import { isIncluding, type ListMemory, type Memory, othersOf, type RememberedRead, type Total } from './memory.ts'
import { firstStatement, type PageRead, readRows } from './page-rows.ts'
import { readRecord } from './read-record.ts'
import { readSummary, summarizesFew } from './read-summary.ts'
import { type Clock, clockOf, knownClock, readClock } from './rows/clock.ts'
import { holdsSql } from './rows/record-row.ts'

type ReadMemory = ListMemory & Pick<Memory, 'clocks'>

/**
 * Runs a read from memory, if nothing has changed since it was read, or else from the database.
 *
 * @param reach `few`: only what visits few rows is read
 * @returns `undefined` where it is not read
 */
export function* answerRead(
  context: SqlContext,
  memory: Memory,
  plan: RememberedRead,
  reach: 'all' | 'few',
): Transaction<Outcome | undefined> {
  const { name } = plan.resource
  const others = othersOf(plan)
  // Most pages are answered here: a generator costs more than the look-up.
  const clock = knownClock(memory, name, others) ?? (yield* readClock(context, memory, name, others))
  const known = memory.answer(plan, clock.revision)
  if (known !== undefined) return known.kind === 'page' ? (checkPage(plan, known.tag) ?? known) : known
  const list = listIn(context, memory, plan)
  if (reach === 'few' && !(yield* readsFew(context, memory, plan, list))) {
    const isDecided = plan.kind === 'read-summary' && list !== undefined && isConditional(plan.conditions)
    return isDecided ? yield* decideByClock(memory, plan, list) : undefined
  }
  const outcome = yield* readAnew(context, memory, plan, list)
  memory.keepAnswer(plan, clock.revision, outcome)
  return outcome
}

/** The list of a read; `undefined`: it reads one record. */
function listIn(context: SqlContext, memory: ReadMemory, plan: RememberedRead | ReadRecord): List | undefined {
  if (plan.kind === 'read-record') return undefined
  return listOf(context, memory, plan.kind === 'read-summary' ? plan.list : plan)
}

function* readsFew(
  context: SqlContext,
  memory: ReadMemory,
  plan: RememberedRead,
  list: List | undefined,
): Transaction<boolean> {
  if (plan.kind === 'read-summary') return yield* summarizesFew(context, memory, plan, list as List)
  if (plan.include !== undefined && !followsFew(plan.include)) return false
  return list === undefined || visitsFew(list.plan, knownSize(memory, list, yield* clockOfList(memory, list)))
}

/** Runs a read on one snapshot of the database. */
export function* readAnew(
  context: SqlContext,
  memory: ReadMemory,
  plan: RememberedRead | ReadRecord,
  list = listIn(context, memory, plan),
): Transaction<Outcome> {
  if (plan.kind === 'read-summary') return yield* readSummary(context, memory, plan, list)
  const answer =
    plan.kind === 'read-page'
      ? yield* readPage(context, memory, plan, list)
      : yield* readRecord(context, undefined, plan)
  const isFound = answer.kind === 'page' || answer.kind === 'record'
  return isFound && isIncluding(plan) ? yield* addRelated(context, plan, answer) : answer
}

/** Runs a ReadPage on one snapshot: the page, or 304, 403, 404, 412 as a value. */
export function* readPage(
  context: SqlContext,
  memory: ReadMemory,
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
function* readState(memory: ReadMemory, list: List): Transaction<{ readonly clock: Clock; readonly read?: PageRead }> {
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
export function isReadAtOnce({ totals }: Pick<ListMemory, 'totals'>, { context, plan, totalKey }: List): boolean {
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
function knownSize({ totals, clocks }: ReadMemory, list: List, { revision, live, deleted = 0 }: Clock): KnownSize {
  const others = [...list.others].reduce((sum, each) => sum + (clocks.get(each)?.live ?? 0), 0)
  if (isUnfiltered(list.plan)) return { total: live, isCurrent: true, live, deleted, others }
  const known = totals.get(list.totalKey)
  // A total that is counted onward takes no longer than a current one.
  const isCurrent = known !== undefined && (known.counted !== undefined || known.revision === revision)
  return { total: known?.total, isCurrent, live, deleted, others }
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

function* totalOf({ totals }: ReadMemory, list: List, { revision, live }: Clock): Transaction<number> {
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

/** What is remembered of a list between its pages. */
interface Remembered {
  readonly total?: Total | undefined
  readonly tagged?: List['tagged']
}

/** What is remembered of a list. */
function rememberedOf({ totals }: Pick<ListMemory, 'totals'>, list: List | undefined): Remembered {
  return list === undefined ? {} : { total: totals.get(list.totalKey), tagged: list.tagged }
}

/** Remembers it. */
function remember({ totals }: Pick<ListMemory, 'totals'>, list: List | undefined, { total, tagged }: Remembered): void {
  if (list === undefined) return
  if (total !== undefined) totals.set(list.totalKey, total)
  list.tagged = tagged
}

/** A read that another thread is asked for, as plain data: resources by name. */
interface PlainRead {
  readonly plan: PlainPlan
  readonly remembered: Remembered
}

/** The read of a plan as plain data. */
export function plainRead(plan: RememberedRead, remembered: Remembered = {}): PlainRead {
  return { plan: plainPlan(plan), remembered }
}

/** An answer that was read elsewhere, and what may be remembered of it. */
export interface ReadElsewhere {
  readonly outcome: Outcome
  /** The sum of the revisions of all clocks that the answer depends on. */
  readonly state: number
  readonly remembered: Remembered
}

/**
 * Has a read run elsewhere, and remembers what was found.
 *
 * @param ask asks a reader of another thread (`readerOf`)
 */
export async function readElsewhere(
  context: SqlContext,
  memory: Memory,
  plan: RememberedRead,
  ask: (asked: PlainRead) => Promise<unknown>,
): Promise<Outcome> {
  const list = listIn(context, memory, plan)
  const found = (await ask(plainRead(plan, rememberedOf(memory, list)))) as ReadElsewhere
  remember(memory, list, found.remembered)
  memory.keepAnswer(plan, found.state, found.outcome)
  return found.outcome
}

/** Makes the reader of a thread. It keeps lists, so that their statements are built once. */
export function readerOf(context: SqlContext): (asked: PlainRead) => Transaction<ReadElsewhere> {
  const lists = new BoundedMap<List>(100)
  return function* read(asked) {
    const plan = planOf<RememberedRead>(context.catalog, asked.plan)
    const memory = { clocks: new Map(), totals: new BoundedMap<Total>(1), lists }
    const list = listIn(context, memory, plan)
    remember(memory, list, asked.remembered)
    const outcome = yield* readAnew(context, memory, plan, list)
    const { revision: state } = yield* readClock(context, memory, plan.resource.name, othersOf(plan))
    return { outcome, state, remembered: rememberedOf(memory, list) }
  }
}
