/**
 * Transactions of several operations (BLK-4): each runs as the change that it would be alone, and sees what the earlier
 * ones have written. The first refusal ends the transaction, which is rolled back.
 *
 * On an engine that is reached over a network, operations that follow each other are sent without waiting for answers
 * between them, once the records that they change are read together. Each is decided by the conditions of the statement
 * that writes its record, so the result is that of one after the other. If not all of them succeed at once, nothing has
 * happened.
 */

import { always, collectionsOf } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { transactionLimits } from 'resourced-contract/spec/limits'
import { raw } from 'sql-template-tag'
import { EarlierResults } from '../../plan/earlier-results.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Delete, Operation, OperationPlan, Restore, TransactionPlan, Update } from '../../plan/plan.ts'
import { type Batch, noteMove, roomOf } from '../sql/batch.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRows, ignoringRows, type Row, type Statement, type Transaction } from '../transaction.ts'
import { isAlone } from './delete/blockers.ts'
import { tooManyTouched } from './delete/delete.ts'
import { onceForKey } from './idempotency.ts'
import { tickAll } from './rows/clock.ts'
import { lockOperations, lockRowsOf } from './rows/lock-operations.ts'
import { lockCounters } from './rows/numbers.ts'
import { lockRules, type Ruled, ruledAmong, ruledBelow } from './rows/other-records.ts'
import { addressOf, peekRecord } from './rows/record-row.ts'

/** The transaction of a change that is made alone. */
type Change = (context: SqlContext, plan: OperationPlan) => Transaction<{ readonly kind: string }>

/**
 * Runs a transaction once for its key. A repeated answer does not show records that the caller may no longer read
 * (AUT-9).
 *
 * @param change makes the transaction of an operation
 */
export function* transact(context: SqlContext, plan: TransactionPlan, change: Change): Transaction<Outcome> {
  // Whoever may no longer make one of the changes gets no answer of former ones, as alone.
  if (plan.refusal !== undefined) return yield* runAll(context, plan, change)
  const outcome = yield* onceForKey(context, plan, runAll(context, plan, change))
  if (outcome.kind !== 'replayed' || outcome.answer.kind !== 'transacted') return outcome
  const results: Outcome[] = []
  for (const [index, result] of outcome.answer.results.entries()) {
    const operation = plan.operations[index]?.plan as OperationPlan
    results.push(yield* readablePart(batchOf(context), operation, result))
  }
  return { ...outcome, answer: { kind: 'transacted', results } }
}

/** A former result without the changed records that the caller may no longer read. */
function* readablePart(context: SqlContext, plan: OperationPlan, result: Outcome): Transaction<Outcome> {
  if (result.kind === 'updated' && 'mayRead' in plan && result.json !== undefined) {
    // The path may have referred to an earlier result.
    const { id } = JSON.parse(result.json) as { readonly id: string }
    return (yield* isReadable(context, { ...plan, id })) ? result : { ...result, json: undefined }
  }
  if (result.kind !== 'written-many' || plan.kind !== 'write-many' || plan.update === undefined) return result
  const shown: (Record<string, unknown> | null)[] = []
  for (const record of JSON.parse(`[${result.json}]`) as typeof shown) {
    const isShown = record !== null && (yield* isReadable(context, { ...plan.update, id: String(record['id']) }))
    shown.push(isShown ? record : null)
  }
  return { ...result, json: shown.map((each) => JSON.stringify(each)).join(',\n') }
}

function* isReadable(context: SqlContext, plan: Update | Restore): Transaction<boolean> {
  const { record, isReadable } = yield* peekRecord(context, plan)
  return record !== undefined && isReadable
}

function batchOf(context: SqlContext): SqlContext & Required<Pick<SqlContext, 'batch'>> {
  return { ...context, batch: { moves: new Map(), most: transactionLimits.records } }
}

function* runAll(context: SqlContext, plan: TransactionPlan, change: Change): Transaction<Outcome> {
  const { operations } = plan
  const runOne = function* (own: SqlContext, plan: OperationPlan): Transaction<Outcome> {
    const { batch } = own
    if (batch !== undefined && 'bodies' in plan && plan.bodies.length > roomOf(batch)) return tooManyTouched(batch)
    // An operation is no job.
    return (yield* change(own, plan)) as Outcome
  }
  if (ruledIn(context, plan) === 'some') yield* lockRules(context)
  yield* lockOperations(context, plan)
  yield* lockCounters(
    context,
    operations.flatMap(({ plan }) => (plan.kind === 'create' ? [plan] : [])),
  )
  const inBatch = batchOf(context)
  const earlier = new EarlierResults(plan)
  const results: Outcome[] = []
  const refusedAt = (index: number, outcome: Outcome): Outcome => ({ kind: 'operation-refused', index, outcome })
  while (results.length < operations.length) {
    const start = results.length
    const next = nextPlans(context, operations.slice(start), earlier)
    const hasRoom = roomOf(inBatch.batch) >= next.length
    const together =
      next.length > 1 && hasRoom ? yield* runTogether(inBatch, next as OperationPlan[], runOne) : undefined
    for (const [index, filled] of next.entries()) {
      const operation = operations[start + index] as Operation
      const outcome = together?.[index] ?? (filled.kind === 'invalid' ? filled : yield* runOne(inBatch, filled))
      if (!isDone(operation.plan, outcome)) return refusedAt(start + index, outcome)
      if (roomOf(inBatch.batch) < 0) return refusedAt(start + index, tooManyTouched(inBatch.batch))
      earlier.add(operation, outcome)
      results.push(outcome)
    }
  }
  if (plan.refusal !== undefined) return { kind: 'operation-refused', index: operations.length, outcome: undefined }
  yield* tickAll(context, inBatch.batch.moves)
  return { kind: 'transacted', results }
}

/** The plan of the next operation, or why it cannot be made, and the plans that can be sent together with it. */
function nextPlans(
  context: SqlContext,
  [first, ...others]: readonly Operation[],
  earlier: EarlierResults,
): readonly (OperationPlan | Extract<Outcome, { readonly kind: 'invalid' }>)[] {
  const filled = first && earlier.fill(first.plan)
  if (first === undefined || filled === undefined) throw new Error('An operation refers to a result that is missing.')
  if (filled.kind === 'invalid' || !canFollow(context, [], filled)) return [filled]
  const plans = [filled]
  earlier.expect(first)
  for (const operation of others) {
    if (!canFollow(context, plans, operation.plan)) break
    const plan = earlier.fill(operation.plan)
    if (plan === undefined || plan.kind === 'invalid') break
    plans.push(plan)
    earlier.expect(operation)
  }
  return plans
}

const done: ReadonlySet<string> = new Set<Outcome['kind']>(['created', 'updated', 'written-many', 'deleted'])

/** Whether an operation was carried out. A repeated deletion may have nothing to do. */
function isDone({ kind, resource }: OperationPlan, outcome: Outcome): boolean {
  if (outcome.kind === 'missing') return kind === 'delete' && resource.deletion.repeated === 'no-content'
  return done.has(outcome.kind)
}

/** How many of the collections that a transaction changes, or in which it searches, business rules are about. */
export function ruledIn(context: SqlContext, { operations }: TransactionPlan): Ruled {
  const found = new Set(
    operations.map(({ plan: { kind, resource } }): Ruled => {
      const isAlone = kind !== 'delete' && kind !== 'restore'
      const ruled = isAlone ? ruledAmong(context, [resource.name]) : ruledBelow(context, resource)
      // A restoration is never serializable.
      return kind === 'restore' && ruled === 'all' ? 'some' : ruled
    }),
  )
  return found.size === 1 ? ([...found][0] as Ruled) : 'some'
}

const savepoint = raw('savepoint together')
const release = raw('release savepoint together')
const undo = raw('rollback to savepoint together')

/** Whether an operation can be sent together with the ones before it: as one statement, if its record was read. */
function canFollow(context: SqlContext, before: readonly OperationPlan[], next: OperationPlan): boolean {
  const { ruled, dialect } = context
  const { resource } = next
  if (!dialect.lock.hasOtherWriters || ruled.has(resource.name)) return false
  if (next.kind === 'create') return true
  if (!readsRecord(next) || (next.kind === 'delete' && !isAlone(context, resource))) return false
  // What is read of the record is not changed by the ones before it.
  const { permitted, mayRead = always, readableFields, writableFields } = addressOf(next)
  const depends = [permitted, mayRead].some((predicate) => collectionsOf(predicate).size > 0)
  if (depends || readableFields !== undefined || writableFields !== undefined) return false
  const holdsSums = ({ totals = [] }: Resource) => totals.some(({ collection }) => collection === resource.name)
  return before.every((each) => !holdsSums(each.resource) && (!('id' in each) || each.id !== next.id))
}

/** Whether an operation is a change of a record, or a deletion, whose decision reads the record. */
function readsRecord(plan: OperationPlan): plan is Update | Delete {
  return 'movedBy' in plan || plan.kind === 'delete'
}

/**
 * Runs operations together.
 *
 * @param run runs one of them
 * @returns their outcomes; `undefined`: they have to be run one by one
 */
function* runTogether(
  context: SqlContext & { readonly batch: Batch },
  plans: readonly OperationPlan[],
  run: (context: SqlContext, plan: OperationPlan) => Transaction<Outcome>,
): Transaction<readonly Outcome[] | undefined> {
  const rows = yield* lockRowsOf(context, plans.filter(readsRecord))
  const batch: Batch = { ...context.batch, moves: new Map(), rows }
  const running = plans.map((plan) => run({ ...context, batch }, plan))
  const asked = advance(running)
  if (asked?.every(({ done }) => done !== true) !== true) return undefined
  yield ignoringRows(savepoint)
  const steps = advance(running, yield* firstRows(asked.map(({ value }) => value as Statement)))
  const outcomes = steps?.every(({ done }) => done) ? steps.map(({ value }) => value as Outcome) : []
  if (outcomes.length === 0 || !outcomes.every(({ kind }) => done.has(kind))) {
    yield ignoringRows(undo)
    return undefined
  }
  yield ignoringRows(release)
  for (const [collection, move] of batch.moves) noteMove(context.batch.moves, collection, move)
  return outcomes
}

/** Takes each to its next statement; `undefined`: one of them fails, and it is not known whether its turn comes. */
function advance(
  running: readonly Transaction<Outcome>[],
  rows: readonly (Row | undefined)[] = [],
): readonly IteratorResult<Statement, Outcome>[] | undefined {
  try {
    return running.map((each, index) => {
      const row = rows[index]
      return each.next(row === undefined ? [] : [row])
    })
  } catch {
    return undefined
  }
}
