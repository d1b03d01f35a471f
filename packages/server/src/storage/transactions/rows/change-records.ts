/**
 * One change of many records, all of them or none (BLK-3). Each is proposed, decided and written as a change of it
 * alone would be, one after the other, so that a decision sees those before it.
 */

import { always, comparisonKey } from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import type { CurrentRecord } from '../../../plan/check-record.ts'
import { type Proposal, proposeChange, unreadFields } from '../../../plan/decide.ts'
import { patchIssues } from '../../../plan/draft.ts'
import type { Outcome } from '../../../plan/outcome.ts'
import type { Update, UpdateMatching } from '../../../plan/plan.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Statement, Transaction } from '../../transaction.ts'
import { tickOne } from './clock.ts'
import { decideUnmarked } from './other-records.ts'
import { lockRecords, rewriteRecord } from './record-row.ts'

/** How many records are read at once: they may be large. */
const mostRead = 100

/** Changes that are refused, by the ids of their records. */
export type Refused = readonly (readonly [id: string, outcome: Outcome])[]

/** Changes locked records. If the outcome is a refusal, the caller must roll back. */
export function* changeRecords(
  context: SqlContext,
  plan: UpdateMatching,
  ids: readonly string[],
): Transaction<Outcome> {
  const { update } = plan
  if (ids.length === 0) {
    // No mistake becomes a success only because nothing matches.
    const issues = patchIssues(update)
    return issues.length > 0 ? { kind: 'invalid', issues } : { kind: 'updated-matching', count: 0 }
  }
  const refused = yield* changeEach(context, update, ids)
  return refused.length > 0 ? refusalOf(update, refused) : { kind: 'updated-matching', count: ids.length }
}

/**
 * Changes locked records one after the other, up to the first that is refused. Those after it are only decided.
 *
 * @param keep makes the statement that keeps the values which a record loses
 */
export function* changeEach(
  context: SqlContext,
  update: Update,
  ids: readonly string[],
  keep?: (id: string, former: RecordValues) => Statement,
): Transaction<Refused> {
  const { resource } = update
  const changed: string[] = []
  const refused: [string, Outcome][] = []
  for (let at = 0; at < ids.length; at += mostRead) {
    for (const [id, current] of yield* lockChanged(context, update, ids.slice(at, at + mostRead))) {
      const decided = yield* decideChange(context, update, current)
      if (decided.kind !== 'proposal') refused.push([id, decided])
      else if (refused.length === 0 && decided.draft.changed.length > 0) {
        if (keep !== undefined) yield keep(id, formerOf(decided))
        yield* rewriteRecord(context, resource, decided.draft)
        changed.push(id)
      }
    }
  }
  if (changed.length > 0) yield* tickOne(context, resource.name, { live: 0, deleted: 0, ids: changed })
  return refused
}

/** The values that a change replaces. */
function formerOf({ transition: { current }, draft: { changed } }: Proposal): RecordValues {
  return Object.fromEntries([...changed, 'updated_at'].map((name) => [name, current?.[name] ?? null]))
}

/** What a job would do with some records. */
export interface Checked {
  readonly refused: Refused
  /** The reference fields that it changes. */
  readonly moved: readonly string[]
}

/**
 * Decides about records without writing, on a snapshot. A job changes no unique values: while it runs, others could
 * take the former ones, so that it could not be undone.
 */
export function* checkEach(context: SqlContext, update: Update, ids: readonly string[]): Transaction<Checked> {
  const { resource } = update
  const refused: [string, Outcome][] = []
  const moved = new Set<string>()
  for (const [id, current] of yield* lockChanged(context, update, ids)) {
    const decided = yield* decideChange(context, update, current)
    const field = decided.kind === 'proposal' ? uniqueChange(resource, decided) : undefined
    if (decided.kind !== 'proposal') refused.push([id, decided])
    else if (field !== undefined) {
      const found = issue('uniqueOfMany', { field, most: resource.updates.above })
      refused.push([id, { kind: 'conflict', issues: [found] }])
    } else for (const name of decided.draft.changed) if (resource.field.get(name)?.reference) moved.add(name)
  }
  return { refused, moved: [...moved] }
}

/** The first field whose change gives or takes a value that is unique, alone or together with others. */
function uniqueChange(resource: Resource, { transition, draft: { changed } }: Proposal): string | undefined {
  const isKey =
    (values: RecordValues = {}) =>
    (name: string) =>
      comparisonKey(resource, name, values[name]) !== undefined
  const [before, after] = [isKey(transition.current), isKey(transition.next)]
  return changed.find((name) =>
    resource.unique.some((set) => set.includes(name) && (set.every(before) || set.every(after))),
  )
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
export function refusalOf({ resource }: Pick<Update, 'resource'>, refused: Refused): Outcome {
  for (const kind of ['forbidden', 'invalid', 'conflict'] as const) {
    const issues = new Map<string, Issue>()
    const found = refused.filter(([, outcome]) => outcome.kind === kind)
    for (const [id, outcome] of found) {
      for (const each of ('issues' in outcome && outcome.issues) || []) {
        const { params } = each
        const isOfRecord = kind === 'conflict' && each.reason !== 'uniqueOfMany'
        const shown = isOfRecord ? { ...each, params: { other: resource.name, id, ...params } } : each
        issues.set(JSON.stringify(shown), shown)
      }
    }
    if (issues.size > 0) return { kind, issues: [...issues.values()] }
    if (found[0] !== undefined) return found[0][1]
  }
  throw new Error(`No refusal for ${refused[0]?.[1].kind}.`)
}
