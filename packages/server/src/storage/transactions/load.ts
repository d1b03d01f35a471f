/** Creating records that are imported. */
import type { Refusal } from '../../plan/many.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Create } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Whole } from '../storage.ts'
import type { Transaction } from '../transaction.ts'
import { writeItems } from './many.ts'
import { lockCounters } from './rows/numbers.ts'
import { lockRules, ruledAmong } from './rows/other-records.ts'

/**
 * Creates records of any resources, in order (see `Storage.load`).
 *
 * @param isOver asked after each record: whether the others are not tried
 */
export function* loadSome(
  context: SqlContext,
  plans: readonly Create[],
  whenRefused: 'stop' | 'skip',
  isOver = () => false,
): Transaction<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = []
  yield* lockForCreations(context, plans)
  yield* writeItems(context, itemsOf(plans), {
    areOne: false,
    goesOn(_, refusal) {
      outcomes.push(refusal)
      return (refusal === undefined || whenRefused === 'skip') && !isOver()
    },
  })
  return outcomes
}

/**
 * Creates records in order, to keep all of them or none (see `Storage.loadAll`). The plans are not held in memory.
 *
 * @returns the refusals; with any, the caller must roll back
 */
export function* loadAll(
  context: SqlContext,
  { resources, plans, mostRefusals }: Whole,
): Transaction<readonly Refusal[]> {
  const refusals: Refusal[] = []
  yield* lockForCreations(
    context,
    resources.map((resource) => ({ resource, parent: undefined, body: {} })),
  )
  yield* writeItems(context, itemsOf(plans), {
    areOne: false,
    goesOn: (index, outcome) => outcome === undefined || refusals.push({ index, outcome }) < mostRefusals,
  })
  return refusals
}

function* itemsOf(plans: Iterable<Create>): Generator<{ readonly plan: Create }> {
  for (const plan of plans) yield { plan }
}

/** Locks what many creations share, in one order. */
export function* lockForCreations(
  context: SqlContext,
  plans: readonly Pick<Create, 'resource' | 'parent' | 'body'>[],
): Transaction<void> {
  const collections = plans.map(({ resource }) => resource.name)
  if (ruledAmong(context, collections) === 'some') yield* lockRules(context)
  yield* lockCounters(context, plans)
}
