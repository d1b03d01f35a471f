/** Tells the database who makes a change, so that the triggers of revisions write it down (HIS-1). */
import { historyCollection } from 'resourced-contract/model/names'
import type { Write } from '../../../plan/plan.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Attribution } from '../../sql/dialect.ts'
import { attributing, type Transaction } from '../../transaction.ts'

/** Who makes the change of a plan. */
export function attributionOf({ caller, request }: Pick<Write, 'caller' | 'request'>): Attribution {
  return { caller: caller.id, request: request?.id ?? null, version: request?.version ?? null }
}

/** Tells who makes the change of the running transaction, where a resource has a history. */
export function* tellAttribution({ catalog, dialect }: SqlContext, attribution: Attribution): Transaction<void> {
  if (catalog.system.has(historyCollection)) yield attributing(dialect.attribute(attribution))
}

/**
 * Runs a change that is attributed to somebody, where a resource has a history.
 *
 * @param attribution `undefined`: nobody is known
 * @param change gets the context for its statements
 */
export function* attributed<T>(
  context: SqlContext,
  attribution: Attribution | undefined,
  change: (context: SqlContext) => Transaction<T>,
): Transaction<T> {
  if (attribution === undefined || !context.catalog.system.has(historyCollection)) return yield* change(context)
  yield* tellAttribution(context, attribution)
  return yield* change({ ...context, attribution })
}
