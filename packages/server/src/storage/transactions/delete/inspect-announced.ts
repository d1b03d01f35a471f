/** The check of an announced deletion, on a snapshot: other changes continue meanwhile. */
import { type Issue, issue } from 'resourced-contract/spec/faults'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { type Announced, lostAnnouncement, type Removed } from './announcement.ts'
import { type Closure, closureOf, closureWithin, mostInspected, sizeOf } from './cascade.ts'
import { countSelected, selectedRows } from './count-deletion.ts'
import { blockersById, canBeBlocked, findBlockers } from './deletion-blockers.ts'
import { lockedState } from './deletion-state.ts'
import { readingOnly } from './snapshot-context.ts'

/** Records that functions of rules decide about. */
export interface Undecided {
  readonly collection: string
  readonly ids: readonly string[]
  /** Where their objections point, instead of into the record. */
  readonly pointer: string | undefined
}

/** The result of the check of an announced deletion. */
export interface Inspection {
  readonly issues: readonly Issue[]
  /** How many records were asked for. */
  readonly asked: number
  /** How many are deleted, children included; `undefined`: not counted, because nothing can block the deletion. */
  readonly total: number | undefined
  readonly isJob: boolean
  /** The records that functions of rules have still to decide about. */
  readonly undecided?: readonly Undecided[] | undefined
  /** The records that match the filter, where they and their children are few and not deleted by a job. */
  readonly few?: readonly string[] | undefined
}

/**
 * Checks an announced deletion. It only reads.
 *
 * @param deciders the collections whose rules are functions, which the caller asks
 */
export function* inspectAnnounced(
  context: SqlContext,
  plan: Removed,
  announced: Announced,
  deciders: readonly string[] = [],
): Transaction<Inspection> {
  const reading = readingOnly(context)
  const { resource, above } = plan
  const isBlockable = deciders.length > 0 || canBeBlocked(context.catalog, resource)
  let { ids } = announced
  let asked = ids.length
  if (plan.kind === 'delete-matching') {
    const state = yield* lockedState(reading, plan.deletion)
    if (state?.selection === undefined) throw lostAnnouncement('deletion')
    const selected = { resource, job: plan.deletion, selection: state.selection }
    asked = yield* countSelected(reading, selected)
    if (plan.most !== undefined && asked > plan.most) {
      return {
        issues: [issue('affected', { header: 'Prefer', count: asked, most: plan.most })],
        asked,
        total: undefined,
        isJob: false,
      }
    }
    if (!isBlockable && asked > above) return { issues: [], asked, total: undefined, isJob: true }
    const rows = yield* selectedRows(reading, selected)
    ids = rows.map((row) => String(row['id']))
  }
  const closure = isBlockable
    ? yield* closureOf(reading, resource, ids)
    : yield* closureWithin(reading, resource, ids, above)
  const total = closure === undefined ? undefined : sizeOf(closure)
  const isJob = total === undefined || total > above
  const isFew = plan.kind === 'delete-matching' && !isJob && total <= mostInspected
  if (isFew) return { issues: [], asked, total, isJob, few: ids }
  if (closure === undefined || !isBlockable) return { issues: [], asked, total, isJob }
  const issues =
    plan.kind === 'bulk-delete'
      ? yield* blockersById(reading, plan, ids, closure)
      : yield* findBlockers(reading, plan, closure)
  const checked = { issues, asked, total, isJob }
  return deciders.length === 0
    ? checked
    : { ...checked, undecided: yield* undecidedOf(reading, plan, closure, deciders) }
}

/** The records that functions decide about. */
function* undecidedOf(
  context: SqlContext,
  plan: Removed,
  closure: Closure,
  deciders: readonly string[],
): Transaction<Undecided[]> {
  const within = (all: Closure, pointer?: string) =>
    deciders.map((collection) => ({ collection, ids: [...(all.get(collection) ?? [])], pointer }))
  if (plan.kind !== 'bulk-delete') return within(closure)
  const undecided: Undecided[] = []
  for (const [index, id] of plan.ids.entries()) {
    undecided.push(...within(yield* closureOf(context, plan.resource, [id]), `/ids/${index}`))
  }
  return undecided
}
