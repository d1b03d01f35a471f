/**
 * Pages and previews of deletions that may take long to read. On SQLite another thread reads them: what is asked and
 * given is plain data.
 */
import type { Outcome } from '../../plan/outcome.ts'
import type { PreviewDeletion, ReadPage, ReadSummary } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import type { SqlContext } from '../sql/context.ts'
import { type PlainPlan, plainPlan, planOf } from '../threads/plain-plan.ts'
import type { Transaction } from '../transaction.ts'
import { previewDeletion } from './delete/preview.ts'
import { fewRows, type List, listOf } from './list.ts'
import type { Memory, Total } from './memory.ts'
import { type IncludingRead, includingState, isIncluding, readIncluding } from './read-including.ts'
import { pageState, readPage } from './read-page.ts'
import { readSummary } from './read-summary.ts'
import { readClock } from './rows/clock.ts'
import { cascadeReach } from './rows/pending-deletions.ts'

/** What is remembered of a list between its pages. */
interface Remembered {
  readonly total?: Total | undefined
  readonly tagged?: List['tagged']
}

/** A page that was read, and what may be remembered of it. */
export interface ReadElsewhere {
  readonly outcome: Outcome
  /** See `pageState`. */
  readonly state: number
  readonly remembered: Remembered
}

/** What is remembered of a list. */
export function rememberedOf({ totals }: Pick<Memory, 'totals'>, { totalKey, tagged }: List): Remembered {
  return { total: totals.get(totalKey), tagged }
}

/** Remembers it. */
export function remember({ totals }: Pick<Memory, 'totals'>, list: List, { total, tagged }: Remembered): void {
  if (total !== undefined) totals.set(list.totalKey, total)
  list.tagged = tagged
}

/** A page to be read, as plain data: resources by name. */
export type PlainPage = ReturnType<typeof plainPage>

/** The page of a plan as plain data. */
export function plainPage(plan: ReadPage, remembered: Remembered = {}) {
  return { plan: plainPlan(plan), remembered }
}

/** Makes the reader of pages of a thread. It keeps lists, so that their statements are built once. */
export function pageReader(context: SqlContext): (asked: PlainPage) => Transaction<ReadElsewhere> {
  const lists = new BoundedMap<List>(100)
  return function* page(asked) {
    const plan = planOf<ReadPage>(context.catalog, asked.plan)
    const memory = { clocks: new Map(), totals: new BoundedMap<Total>(1), lists }
    const list = listOf(context, memory, plan)
    remember(memory, list, asked.remembered)
    const outcome = yield* isIncluding(plan)
      ? readIncluding(context, memory, plan)
      : readPage(context, memory, plan, list)
    const state = yield* pageState(context, memory, plan)
    return { outcome, state, remembered: rememberedOf(memory, list) }
  }
}

/** Makes the reader of summaries of a thread. */
export function summaryReader(
  context: SqlContext,
): (asked: PlainPlan) => Transaction<Omit<ReadElsewhere, 'remembered'>> {
  const lists = new BoundedMap<List>(100)
  return function* summary(asked) {
    const plan = planOf<ReadSummary>(context.catalog, asked)
    const memory = { clocks: new Map(), lists }
    const outcome = yield* readSummary(context, memory, plan)
    const state = yield* pageState(context, memory, plan.list)
    return { outcome, state }
  }
}

/** Reads a record with its related records, which another thread has asked for. */
export function* readIncludingRecord(
  context: SqlContext,
  asked: PlainPlan,
): Transaction<Omit<ReadElsewhere, 'remembered'>> {
  const plan = planOf<IncludingRead>(context.catalog, asked)
  const memory = { clocks: new Map(), totals: new BoundedMap<Total>(1), lists: new BoundedMap<List>(1) }
  const outcome = yield* readIncluding(context, memory, plan)
  return { outcome, state: yield* includingState(context, memory, plan) }
}

/** Whether the deletion of a preview can reach few records only. */
export function* reachesFew(
  context: SqlContext,
  memory: Pick<Memory, 'clocks'>,
  { resource }: PreviewDeletion,
): Transaction<boolean> {
  let live = 0
  for (const { name } of cascadeReach(context.catalog, resource)) {
    live += (yield* readClock(context, memory, name, new Set())).live
  }
  return live <= fewRows
}

/** Reads a preview that another thread has asked for. */
export function readPreview(context: SqlContext, plan: PlainPlan): Transaction<Outcome> {
  return previewDeletion(context, planOf(context.catalog, plan))
}
