/**
 * What a deletion would do now (DEL-12): the records that go along, the references that become null, and the blockers.
 * It asks as a deletion asks, by the same functions, but locks nothing, and stops at a number of records.
 */

import { grantOf } from 'resourced-contract/model/field-grants'
import { allOf, always, never, type Predicate } from 'resourced-contract/model/predicate'
import { type Issue, movedTo } from 'resourced-contract/spec/faults'
import sql from 'sql-template-tag'
import type { DeletionPreview, Outcome } from '../../../plan/outcome.ts'
import type { PreviewDeletion } from '../../../plan/plan.ts'
import { columnSql, subject } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { firstRow, type Transaction } from '../../transaction.ts'
import { cascadeReach, resourceOf } from '../rows/other-records.ts'
import { blockersById, canBeBlocked, findBlockers } from './blockers.ts'
import { liveRows, type Reached, reachWithin, remainingSql, setOf, sizeOf } from './cascade.ts'
import { findRequested } from './delete.ts'
import { withoutLocks } from './snapshot-context.ts'

/** The most records that a preview searches for. */
const mostPreviewed = 10_000

/** Runs a PreviewDeletion. It only reads. */
export function* previewDeletion(
  locking: SqlContext,
  plan: PreviewDeletion,
  most = mostPreviewed,
): Transaction<Outcome> {
  const context = withoutLocks(locking)
  const { allowed, refused } = yield* findRequested(context, plan)
  const [only] = refused
  if (!plan.isBulk && only?.code === 'NOT_FOUND') return { kind: 'missing' }
  if (!plan.isBulk && only?.code === 'FORBIDDEN') return { kind: 'forbidden' }
  const reached = yield* reachWithin(context, plan.resource, allowed, most)
  const deletes = yield* countDeleted(context, plan, reached, allowed)
  const clears = yield* countCleared(context, plan, reached, most)
  const blockers = yield* certainBlockers(context, plan, allowed, reached)
  return {
    kind: 'deletion-preview',
    deletes,
    clears,
    // The request for one record has no list that a pointer could lead into.
    blockers: [...(plan.isBulk ? refused : refused.map((each) => movedTo({}, each))), ...blockers],
    isComplete: reached.isComplete && clears.every(({ count }) => count <= most),
    isJob: sizeOf(reached.closure) > plan.above,
  }
}

/** The number of readable records that are deleted, by collection. */
function* countDeleted(
  context: SqlContext,
  { resource, readable, readableReferences }: PreviewDeletion,
  { closure }: Reached,
  allowed: readonly string[],
): Transaction<DeletionPreview['deletes']> {
  const counts: DeletionPreview['deletes'][number][] = []
  for (const [collection, reached] of closure) {
    // A reference that the caller may not read must not show which records go along.
    const followed = cascadingGrants(context, collection, readableReferences)
    const isOwn = collection === resource.name && followed.length > 0
    const ids = isOwn ? reached.difference(new Set(allowed)) : reached
    const permitted = allOf([readable.get(collection) ?? never, ...followed])
    const more = permitted.kind === 'always' ? ids.size : yield* countReadable(context, collection, ids, permitted)
    const count = isOwn ? more + reached.size - ids.size : more
    if (count > 0) counts.push({ collection, count })
  }
  return counts
}

/** The records of a collection whose cascading references the caller may read. */
function cascadingGrants(
  { catalog }: SqlContext,
  collection: string,
  readableReferences: PreviewDeletion['readableReferences'],
): Predicate[] {
  const grants = readableReferences?.get(collection)
  if (grants === undefined) return []
  const cascading = resourceOf(catalog, collection).fields.filter(({ reference }) => reference?.onDelete === 'cascade')
  return cascading.flatMap(({ name }) => grantOf(grants, name) ?? [])
}

function* countReadable(
  context: SqlContext,
  collection: string,
  ids: ReadonlySet<string>,
  permitted: Predicate,
): Transaction<number> {
  if (permitted.kind === 'never' || ids.size === 0) return 0
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), [...ids])
  const isReadable = predicateSql(context, resourceOf(context.catalog, collection), permitted)
  const row = yield* firstRow(sql`select count(*) as count from ${liveRows(collection)} and ${among} and ${isReadable}`)
  return Number(row?.['count'])
}

/** The number of readable records whose reference becomes `null`, each at most one beyond the most. */
function* countCleared(
  context: SqlContext,
  { resource, readable, readableReferences }: PreviewDeletion,
  { closure, isComplete }: Reached,
  most: number,
): Transaction<DeletionPreview['clears']> {
  const { catalog } = context
  const reachable = cascadeReach(catalog, resource)
  const all = setOf(context, closure)
  const counts: DeletionPreview['clears'][number][] = []
  for (const [target, ids] of closure) {
    for (const dependent of resourceOf(catalog, target).dependents) {
      const { collection, field, onDelete } = dependent
      const from = resourceOf(catalog, collection)
      const isReadable = grantOf(readableReferences?.get(collection), field) ?? always
      const permitted = allOf([readable.get(collection) ?? never, isReadable])
      if (onDelete !== 'clear' || ids.size === 0 || permitted.kind === 'never') continue
      // What was not searched for may be deleted too.
      if (!isComplete && reachable.includes(from)) continue
      const remaining = remainingSql(dependent, target, all, all)
      const shown = predicateSql(context, from, permitted)
      const some = sql`select 1 as one from ${remaining} and ${shown} limit ${most + 1}`
      const row = yield* firstRow(sql`select count(*) as count from (${some}) cleared`)
      const count = Number(row?.['count'])
      if (count > 0) counts.push({ collection, field, count })
    }
  }
  return counts
}

/** What blocks the deletion, as far as that is certain. */
function* certainBlockers(
  context: SqlContext,
  plan: PreviewDeletion,
  ids: readonly string[],
  { closure, isComplete }: Reached,
): Transaction<readonly Issue[]> {
  const { catalog } = context
  if (ids.length === 0 || !canBeBlocked(context, plan.resource)) return []
  if (isComplete && plan.isBulk) return yield* blockersById(context, plan, ids, setOf(context, closure))
  const issues = yield* findBlockers(context, plan, setOf(context, closure))
  if (isComplete) return issues
  // A record that was not searched for, and is deleted too, blocks nothing.
  const reachable = new Set<unknown>(cascadeReach(catalog, plan.resource).map(({ name }) => name))
  const certain = issues.filter(({ params }) => !reachable.has(params.collection))
  return plan.isBulk ? certain.map((each) => movedTo({}, each)) : certain
}
