/**
 * Reading a summary (SUM-1): the clock, the conditions, the periods of its dates, and one statement for its groups,
 * their number and the page of them.
 */
import { decimalOfKey, decimalText } from 'resourced-contract/model/decimal'
import { periodsIn, slotLength } from 'resourced-contract/model/periods'
import type { Position } from 'resourced-contract/model/predicate'
import { comparisonKey } from 'resourced-contract/model/predicate'
import { type Figure, figureKinds, type Group } from 'resourced-contract/model/summary'
import { instantKey, timestamp } from 'resourced-contract/model/time'
import { timeZone, utc } from 'resourced-contract/model/time-zone'
import { summaryLimits } from 'resourced-contract/spec/limits'
import { checkPage } from '../../plan/check-record.ts'
import type { Outcome, PageOutcome } from '../../plan/outcome.ts'
import type { ReadSummary } from '../../plan/plan.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { fewRows, rangeOf } from './access-path.ts'
import { keptRows, keptSummaryOf } from './kept-summary.ts'
import { knownTag, type List, listOf, pageTag } from './list.ts'
import type { Memory } from './memory.ts'
import { between, countWithin } from './page-rows.ts'
import { readClock } from './rows/clock.ts'
import {
  type GroupRange,
  needsPeriods,
  type PeriodRows,
  placeOf,
  type SummarizedRows,
  slotsSql,
  summarySql,
} from './summary-statement.ts'

type SummaryMemory = Pick<Memory, 'clocks' | 'lists'>

/** Whether a summary reads few rows. */
export function* summarizesFew(
  context: SqlContext,
  memory: SummaryMemory,
  plan: ReadSummary,
  { others }: List,
): Transaction<boolean> {
  if (keptSummaryOf(plan) !== undefined) return true
  const none: ReadonlySet<string> = new Set()
  let records = 0
  for (const name of [plan.resource.name, ...others]) {
    const { live, deleted = 0 } = yield* readClock(context, memory, name, none)
    records += live + deleted
  }
  return records <= fewRows
}

/** Runs a ReadSummary on one snapshot: the page of groups, or 304 or 412 as a value. */
export function* readSummary(
  context: SqlContext,
  memory: SummaryMemory,
  plan: ReadSummary,
  list: List = listOf(context, memory, plan.list),
): Transaction<Outcome> {
  const clock = yield* readClock(context, memory, plan.resource.name, list.others)
  const known = knownTag(list, clock)
  const ended = known === undefined ? undefined : checkPage(plan, known)
  if (ended !== undefined) return ended
  const rows = rowsOf(context, plan, list)
  const periods = new Map<number, PeriodRows>()
  for (const [position, group] of plan.groups.entries()) {
    if (!needsPeriods(group, plan.zone)) continue
    const found = yield* periodsOf(rows, group)
    if (found === undefined) return { kind: 'too-many-slots', group: group.name }
    periods.set(position, found)
  }
  const part = yield* readGroups(context, rows, periods)
  if ('fits' in part) return { kind: 'page-too-large', fits: part.fits }
  const tag = known ?? pageTag(list, part)
  return checkPage(plan, tag) ?? { kind: 'page', tag, ...part }
}

/** The rows that a summary is made of: kept figures, where they answer it (SUM-3). */
function rowsOf(context: SqlContext, plan: ReadSummary, { where }: List): SummarizedRows {
  const { dialect } = context
  const kept = keptSummaryOf(plan)
  if (kept !== undefined) return { dialect, plan, ...keptRows(context, plan, kept), isKept: true }
  return { dialect, plan, from: subjectSql(plan.resource.name), where, isKept: false }
}

/** The periods in which the rows have dates; `undefined`: to find them all takes too long. */
function* periodsOf(rows: SummarizedRows, group: Group): Transaction<PeriodRows | undefined> {
  const { resource, zone } = rows.plan
  const found = yield slotsSql(rows, group, summaryLimits.slots + 1)
  if (found.length > summaryLimits.slots) return undefined
  const part = group.part!
  const periods = periodsIn(part, group.isDate === true ? utc : (timeZone(zone) ?? utc))
  const bound = (instant: number) => {
    const text = timestamp(instant)
    if (group.isDate === true) return text.slice(0, slotLength('day'))
    // A constant is a declared date-time, whose key has no letter for the zone.
    return String(group.constant === undefined ? comparisonKey(resource, group.field, text) : instantKey(text))
  }
  return found.flatMap((row) => {
    const slot = String(row['slot'])
    let from = ''
    return periods(slot).map(({ label, until }) => {
      const begin = from
      // Every date is before the last bound.
      from = until === undefined ? '~' : bound(until)
      return [slot, begin, from, label] as const
    })
  })
}

type GroupsPart = Omit<PageOutcome, 'kind' | 'tag'>

function* readGroups(
  { catalog }: SqlContext,
  rows: SummarizedRows,
  periods: ReadonlyMap<number, PeriodRows>,
): Transaction<GroupsPart | { readonly fits: number }> {
  const { plan } = rows
  const { page } = plan
  const position = page.style === 'cursor' ? page.position : undefined
  const range = rangeOfGroups(plan, position)
  const row = yield* firstRow(summarySql(rows, periods, range))
  const [total, beyond, count] = ['total', 'beyond', 'count'].map((name) => Number(row?.[name] ?? 0)) as [
    number, number, number,
  ] // biome-ignore format: one row reads best
  const read = (count === 0 ? [] : String(row?.['json']).split(between)).map((text) => JSON.parse(text) as unknown[])
  const texts = read.map((values) => groupJson(plan, values))
  const sizes = texts.map((text) => Buffer.byteLength(text) + between.length)
  const fits = countWithin(sizes, catalog.limits.pageBytes)
  if (fits < count && page.style !== 'cursor') return { fits }
  const shown = texts.slice(0, fits)
  const places = [read[0], read[fits - 1]].map((values) => (values === undefined ? undefined : placeOf(plan, values)))
  const [first, last] = places
  const json = (range.isBackward ? shown.reverse() : shown).join(between)
  const part = { json, count: fits, total }
  if (page.style !== 'cursor') return { ...part, previous: undefined, next: undefined }
  // An empty page is at an end of the groups, which a place without keys stands for.
  const edge = position === undefined || total === 0 ? undefined : []
  const onward = beyond > fits ? last : undefined
  const back = fits === 0 ? edge : total > beyond ? first : undefined
  return range.isBackward ? { ...part, previous: onward, next: back } : { ...part, previous: back, next: onward }
}

function rangeOfGroups({ page }: ReadSummary, position: Position | undefined): GroupRange {
  const { limit, offset } = page.style === 'cursor' ? { limit: page.limit, offset: 0 } : rangeOf(page)
  const after = position === undefined || position.keys.length === 0 ? undefined : position.keys
  return { after, isBackward: position?.direction === 'backward', limit, offset }
}

function groupJson({ groups, figures }: ReadSummary, values: readonly unknown[]): string {
  const shown = (value: unknown, isBoolean = false) => (isBoolean && value !== null ? value === 1 : value)
  const named = groups.map(({ name, isBoolean }, index) => [name, shown(values[index], isBoolean)] as const)
  const made: Record<string, unknown> = { group: Object.fromEntries(named), count: values[groups.length] }
  for (const kind of figureKinds) {
    const own = figures.flatMap((figure, index) => {
      const value = values[groups.length + 1 + index]
      return figure.kind === kind ? [[figure.name, figureValue(figure, value)] as const] : []
    })
    if (own.length > 0) made[kind] = Object.fromEntries(own)
  }
  return JSON.stringify(made)
}

/** The least and the greatest value were compared by keys. */
function figureValue({ kind, decimal, isBoolean, isInstant }: Figure, value: unknown): unknown {
  if (value === null || kind === 'sum' || kind === 'avg') return value
  if (decimal !== undefined) return decimalText(decimalOfKey(String(value)), decimal)
  if (isBoolean) return value === 1
  return isInstant ? `${value}Z` : value
}
