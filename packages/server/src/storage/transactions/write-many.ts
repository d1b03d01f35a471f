/**
 * Creating and changing the records of an array, all or none (BLK-1, BLK-2), and one that a unique value identifies.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import { always, comparisonKey, type Scalar } from 'resourced-contract/model/predicate'
import type { Sql } from 'sql-template-tag'
import { type CurrentRecord, checkAccess, checkFilterConditions } from '../../plan/check-record.ts'
import { takenIssue } from '../../plan/decide.ts'
import {
  creationsOf,
  keyedCreation,
  keyedUpdate,
  keysOf,
  mergesOf,
  type Refusal,
  refusalOfAll,
} from '../../plan/many.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Update, WriteMany } from '../../plan/plan.ts'
import { columnSql, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { Outdated, type Transaction } from '../transaction.ts'
import { refusalOfParent } from './create.ts'
import { lockForCreations } from './load.ts'
import { type Item, writeItems } from './many.ts'
import { holdersOf, textOf } from './rows/expected.ts'
import { expectHolders, lockReferred, lockValues } from './rows/lock-operations.ts'
import { type Answered, addressOf, lockRecords, representAll } from './rows/record-row.ts'

/** Runs a WriteMany. */
export function* writeMany(context: SqlContext, plan: WriteMany): Transaction<Outcome> {
  const { issues, isSingle, create, update, resource } = plan
  const invalid: Outcome = { kind: 'invalid', issues }
  if (issues.length > 0 && !isSingle) return invalid
  const refused = create === undefined ? undefined : yield* refusalOfParent(context, create)
  if (refused !== undefined) return refused
  yield* lockForCreations(context, create === undefined ? [] : creationsOf(plan))
  // A transaction has locked the records of all of its operations.
  const locked =
    update !== undefined && context.batch === undefined
      ? yield* lockReferred(context, plan, yield* keyedSql(context, plan))
      : undefined
  const items = yield* itemsOf(context, plan)
  // A record may have got the unique value since.
  if (locked !== undefined && plan.key !== undefined) {
    const ids = items.flatMap((item) => ('current' in item ? [item.plan.id] : []))
    yield* expectHolders(context, [{ resource, which: context.dialect.isAnyOf(columnSql(subject, 'id'), ids) }], locked)
  }
  const unmet = isSingle || update === undefined ? undefined : unmetConditions(plan)
  if (unmet !== undefined) return refusalOfConditions(plan, items, unmet)
  const refusals: Refusal[] = issues.length > 0 ? [{ index: 0, outcome: invalid }] : []
  yield* writeItems(context, items, {
    areOne: true,
    goesOn: (index, outcome) => outcome === undefined || refusals.push({ index, outcome }) > 0,
  })
  return refusals.length > 0 ? refusalOfAll(plan, refusals) : yield* answerOf(context, plan, items)
}

/** Why no array can be carried out: together its records have no entity tag. */
function unmetConditions(plan: WriteMany): Outcome | undefined {
  return plan.resource.preconditions === 'required' ? { kind: 'precondition-required' } : checkFilterConditions(plan)
}

/** The records that are not there, or that the caller may not change, come first (CON-6). */
function refusalOfConditions(plan: WriteMany, items: readonly Item[], unmet: Outcome): Outcome {
  const refusals = items.flatMap((item, index): Refusal[] => {
    const outcome = 'current' in item ? checkAccess(item.current.found) : 'outcome' in item ? item.outcome : undefined
    return outcome?.kind === 'missing' || outcome?.kind === 'forbidden' ? [{ index, outcome }] : []
  })
  return refusals.length > 0 ? refusalOfAll(plan, refusals) : unmet
}

/** The records to write, in the order of the request. */
function* itemsOf(context: SqlContext, plan: WriteMany): Transaction<readonly Item[]> {
  const { update, key } = plan
  if (key !== undefined) return yield* keyedItems(context, plan, key)
  if (update === undefined) return creationsOf(plan).map((each) => ({ plan: each }))
  const merges = mergesOf(plan)
  const ids = merges.flatMap((merge) => ('movedBy' in merge ? [merge.id] : []))
  const locked = yield* lockCurrent(context, plan, ids)
  return merges.map((merge) => ('movedBy' in merge ? changed(merge, locked.get(merge.id)) : { outcome: merge }))
}

/** The records that unique values identify, and those that are new. */
function* keyedItems(context: SqlContext, plan: WriteMany, field: string): Transaction<readonly Item[]> {
  const { resource, isSingle } = plan
  if (!isSingle) yield* lockValues(context, resource.name)
  const keys = keysOf(plan)
  const places = Map.groupBy(keys.keys(), (index) => keys[index])
  const wanted = keys.filter((key) => key !== undefined)
  const holders = yield* holdersOf(context, resource, field, wanted)
  const locked = yield* lockCurrent(context, plan, [...holders.values()])
  return keys.map((key, index): Item => {
    const id = key === undefined ? undefined : holders.get(textOf(key))
    if (id === undefined) return newItem(plan, index, { field, value: key })
    const update = keyedUpdate(plan, index, id)
    if (!('movedBy' in update)) return { outcome: update }
    const current = locked.get(id)
    // Somebody has deleted the record meanwhile, or given it another value.
    if (current === undefined || !hasKey(plan, field, current, key)) throw new Outdated()
    const isRepeated = places.get(key)?.length !== 1
    return { plan: update, current, ...(isRepeated && { conflicts: [takenIssue([field])] }) }
  })
}

/** The records whose holders of sums are locked before them, if unique values identify them. */
function* keyedSql(context: SqlContext, plan: WriteMany): Transaction<Sql | undefined> {
  const { resource, key } = plan
  if (key === undefined || resource.totals === undefined) return undefined
  const wanted = keysOf(plan).filter((value) => value !== undefined)
  const holders = yield* holdersOf(context, resource, key, wanted)
  return context.dialect.isAnyOf(columnSql(subject, 'id'), [...holders.values()])
}

function hasKey({ resource }: WriteMany, field: string, { record }: CurrentRecord, key: Scalar | undefined): boolean {
  return comparisonKey(resource, field, record?.[field]) === key
}

/** A record that no live one has the unique value of. */
function newItem(plan: WriteMany, index: number, key: { field: string; value: Scalar | undefined }): Item {
  if (plan.conditions.ifMatch !== undefined) return { outcome: { kind: 'stale', header: 'If-Match' } }
  const create = keyedCreation(plan, index, key.value)
  return 'permitted' in create ? { plan: create, key } : { outcome: create }
}

function changed(plan: Update, current: CurrentRecord | undefined): Item {
  return current === undefined ? { outcome: { kind: 'missing' } } : { plan, current }
}

/** The records that the request changes, locked in the order of their ids. */
function* lockCurrent(
  context: SqlContext,
  { update, bodies }: WriteMany,
  ids: readonly string[],
): Transaction<ReadonlyMap<string, CurrentRecord>> {
  if (update === undefined) return new Map()
  const body = Object.assign({}, ...bodies.filter(isObject))
  return yield* lockRecords(context, addressOf({ ...update, body }), ids)
}

/** The outcome of a request that was carried out. */
function* answerOf(context: SqlContext, plan: WriteMany, items: readonly Item[]): Transaction<Outcome> {
  const { update } = plan
  const plans = items.flatMap((item) => ('plan' in item ? [item.plan] : []))
  const ids = plans.map(({ id }) => id)
  const answers = yield* representAll(context, plan, ids, update?.mayRead ?? always)
  const answered = plans.map(({ id, kind }) => {
    const { readable, ...answer } = answers.get(id) as Answered
    return { ...answer, id, isNew: kind === 'create', isShown: kind === 'create' || readable }
  })
  const [first] = answered
  if (plan.isSingle && first !== undefined) {
    const { id, isNew, isShown, json, ...validators } = first
    if (isNew) return { kind: 'created', id, json, ...validators }
    return { kind: 'updated', json: isShown ? json : undefined, ...validators }
  }
  const json = answered.map((each) => (each.isShown ? each.json : 'null')).join(',\n')
  return { kind: 'written-many', areNew: answered.every(({ isNew }) => isNew), json }
}
