/** Deleting whatever matches a filter, as far as the caller may delete it (DEL-10). */
import sql, { raw, type Sql } from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import { allOf } from '../../../model/predicate.ts'
import { admitMatching } from '../../../plan/admit.ts'
import type { DeleteMatching, Outcome } from '../../../plan/plan.ts'
import { liveSql, type SqlContext, tableSql } from '../../sql/predicate.ts'
import { subject } from '../../sql/represent.ts'
import { storedSql } from '../../sql/rows.ts'
import { single, type Transaction } from '../../transaction.ts'
import { canHang, isGoing } from '../rows/pending-deletion.ts'
import { holdRulesBelow } from '../rows/rules-lock.ts'
import { type Closure, sizeOf } from './closure.ts'
import type { Large } from './large.ts'
import { objectionsOf } from './objections.ts'
import { addDeletion, isTooMany, lookAt, removeClosure } from './remove.ts'

/** Runs a DeleteMatching. */
export function* deleteMatching(context: SqlContext, plan: DeleteMatching): Transaction<Outcome | Large> {
  const { resource, most } = plan
  const stale = admitMatching(plan)
  if (stale !== undefined) return stale
  yield* holdRulesBelow(context, resource)
  const matching = matchingSql(context, plan)
  const row = yield* single(sql`select count(*) as count ${matching}`)
  const count = Number(row?.['count'])
  if (most !== undefined && count > most) return tooMany(count, most)
  if (count === 0) return { kind: 'deleted-matching', count }
  const large = isTooMany(context, plan, count)
  if (large !== undefined) return large
  const rows =
    yield sql`select ${storedSql(context, resource)} ${matchingSql({ ...context, holding: true }, plan)}${context.engine.lock.order}${context.engine.lock.update}`
  // More may match by now.
  if (most !== undefined && rows.length > most) return tooMany(rows.length, most)
  const ids: string[] = []
  for (const found of rows) {
    // What goes by another deletion already is as good as gone.
    if (canHang(resource) && (yield* isGoing(context, resource, found))) continue
    ids.push(String(found['id']))
  }
  const looked = yield* lookAt(context, plan, ids, (closure) => objectionsOf(context, plan, closure))
  if ('kind' in looked) return looked
  const { closure, isJob, issues } = looked
  if (issues.length > 0) return { kind: 'conflict', issues }
  if (isJob || closure === undefined) return yield* beginMatching(context, plan, ids, closure)
  yield* removeClosure(context, plan, closure)
  return { kind: 'deleted-matching', count: ids.length }
}

function tooMany(count: number, most: number): Outcome {
  const message = `${count} records match, which is more than max-affected allows (${most}); none was deleted.`
  return { kind: 'conflict', issues: [{ code: 'TOO_MANY_AFFECTED', message, count, header: 'Prefer' }] }
}

/** Begins the job: which records it deletes is settled now, and they are deleted before anyone is answered. */
function* beginMatching(
  context: SqlContext,
  plan: DeleteMatching,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  const among = context.engine.isAmong(raw('id'), ids)
  yield sql`insert into resourced_queue (job, collection, record) select ${deletion}, ${resource.name}, id from ${tableSql(resource.name)} where ${among}`
  const total = closure === undefined ? null : sizeOf(closure)
  const state = { collection: resource.name, deletedAt: timestamp(now), ids: [], phase: 'take', at: 0 } as const
  yield* addDeletion(context, plan, 'filtered-deletion', {
    ...state,
    taken: 0,
    left: 0,
    done: 0,
    total,
    asked: ids.length,
  })
  return { kind: 'accepted', job: deletion, statusUrl: plan.statusUrl }
}

/** The rows that match and that the caller may delete. */
function matchingSql(context: SqlContext, { resource, filter, permitted }: DeleteMatching): Sql {
  const from = sql`from ${tableSql(resource.name)} ${raw(subject)}`
  return sql`${from} where ${liveSql(context, resource, subject, allOf([filter, permitted]))}`
}
