/**
 * One change of many records, all of them or none (BLK-3). Each is proposed, decided and written as a change of it alone
 * would be, one after the other, so that a decision sees those before it.
 */

import { always } from 'resourced-contract/model/predicate'
import type { Issue } from 'resourced-contract/spec/faults'
import type { CurrentRecord } from '../../../plan/check-record.ts'
import { type Proposal, proposeChange } from '../../../plan/decide.ts'
import { patchIssues } from '../../../plan/draft.ts'
import type { Outcome } from '../../../plan/outcome.ts'
import type { Update, UpdateMatching } from '../../../plan/plan.ts'
import { unreadFields } from '../../../plan/unread-fields.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { tickOne } from './clock.ts'
import { decideUnmarked } from './other-records.ts'
import { lockRecords, rewriteRecord } from './record-row.ts'

/** How many records are read at once: they may be large. */
const mostRead = 100

/** Changes that are refused, by the ids of their records. */
type Refused = [id: string, outcome: Outcome][]

/** The change of each record: of records that the caller may read and change. */
function changeOf({ update, versionResource }: UpdateMatching): Update {
  return versionResource === undefined ? update : { ...update, versionResource }
}

/** Changes locked records. If the outcome is a refusal, the caller must roll back. */
export function* changeRecords(
  context: SqlContext,
  plan: UpdateMatching,
  ids: readonly string[],
): Transaction<Outcome> {
  const update = changeOf(plan)
  if (ids.length === 0) {
    // No mistake becomes a success only because nothing matches.
    const issues = patchIssues(update)
    return issues.length > 0 ? { kind: 'invalid', issues } : { kind: 'updated-matching', count: 0 }
  }
  const { resource } = plan
  const changed: string[] = []
  const refused: Refused = []
  for (let at = 0; at < ids.length; at += mostRead) {
    for (const [id, current] of yield* lockChanged(context, update, ids.slice(at, at + mostRead))) {
      const decided = yield* decideChange(context, update, current)
      if (decided.kind !== 'proposal') refused.push([id, decided])
      else if (refused.length === 0 && decided.draft.changed.length > 0) {
        yield* rewriteRecord(context, resource, decided.draft)
        changed.push(id)
      }
    }
  }
  if (refused.length > 0) return refusalOf(plan, refused)
  if (changed.length > 0) yield* tickOne(context, resource.name, { live: 0, deleted: 0, ids: changed })
  return { kind: 'updated-matching', count: ids.length }
}

/** The records by id, with what the caller may see and write of them. */
function lockChanged(
  context: SqlContext,
  update: Update,
  ids: readonly string[],
): Transaction<ReadonlyMap<string, CurrentRecord>> {
  return lockRecords(context, { ...update, permitted: always, mayRead: always, unread: unreadFields(update) }, ids)
}

/** The change of a record that is on no work list of others, or why it is refused. */
function* decideChange(context: SqlContext, update: Update, current: CurrentRecord): Transaction<Proposal | Outcome> {
  const proposal = proposeChange(context.catalog, update, current.record ?? {}, current)
  if (proposal.kind !== 'proposal') return proposal
  return (yield* decideUnmarked(context, update, proposal)) ?? proposal
}

/** The refusal of the whole: 403 before 400 before 409. A conflict names its record, a mistake of the body does not. */
function refusalOf({ resource }: UpdateMatching, refused: Refused): Outcome {
  for (const kind of ['forbidden', 'invalid', 'conflict'] as const) {
    const issues = new Map<string, Issue>()
    const found = refused.filter(([, outcome]) => outcome.kind === kind)
    for (const [id, outcome] of found) {
      for (const issue of ('issues' in outcome && outcome.issues) || []) {
        const { params } = issue
        const shown = kind === 'conflict' ? { ...issue, params: { other: resource.name, id, ...params } } : issue
        issues.set(JSON.stringify(shown), shown)
      }
    }
    if (issues.size > 0) return { kind, issues: [...issues.values()] }
    if (found[0] !== undefined) return found[0][1]
  }
  throw new Error(`No refusal for ${refused[0]?.[1].kind}.`)
}
