/**
 * Operations of a transaction that follow each other and are sent without waiting for answers between them, on an
 * engine that is reached over a network. Each is decided by the conditions of the statement that writes its record, so
 * the result is that of one after the other. If not all of them succeed at once, nothing has happened.
 */

import { collectionsOf } from 'resourced-contract/model/predicate'
import { raw } from 'sql-template-tag'
import type { Outcome } from '../../plan/outcome.ts'
import type { OperationPlan } from '../../plan/plan.ts'
import { type Batch, noteMove } from '../sql/batch.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRows, ignoringRows, type Row, type Statement, type Transaction } from '../transaction.ts'

const savepoint = raw('savepoint together')
const release = raw('release savepoint together')
const undo = raw('rollback to savepoint together')

/** How many statements an operation of a kind has that succeeds at once: an update reads its record first. */
function statementsOf({ kind }: OperationPlan): number {
  return kind === 'create' ? 1 : 2
}

/** Whether an operation can be sent together with the ones before it. */
export function canFollow({ ruled, dialect }: SqlContext, before: readonly OperationPlan[], next: OperationPlan) {
  if (!dialect.lock.hasOtherWriters || ruled.has(next.resource.name)) return false
  if (next.kind === 'create') return before.every(({ kind }) => kind === 'create')
  if (!('movedBy' in next)) return false
  // What an update reads first is not changed by the ones before it.
  const { permitted, mayRead, readableFields, writableFields } = next
  const depends = [permitted, mayRead].some((predicate) => collectionsOf(predicate).size > 0)
  if (depends || readableFields !== undefined || writableFields !== undefined) return false
  return before.every((each) => 'movedBy' in each && each.id !== next.id)
}

/**
 * Runs operations together.
 *
 * @param run runs one of them
 * @returns their outcomes; `undefined`: they have to be run one by one
 */
export function* runTogether(
  context: SqlContext & { readonly batch: Batch },
  plans: readonly OperationPlan[],
  run: (context: SqlContext, plan: OperationPlan) => Transaction<Outcome>,
): Transaction<readonly Outcome[] | undefined> {
  const batch: Batch = { ...context.batch, moves: new Map() }
  const running = plans.map((plan) => run({ ...context, batch }, plan))
  let steps = advance(running)
  yield ignoringRows(savepoint)
  for (let round = statementsOf(plans[0] as OperationPlan); round > 0 && steps?.every(isOpen); round--) {
    const rows = yield* firstRows(steps.map(({ value }) => value as Statement))
    steps = advance(running, rows)
  }
  const outcomes = steps?.every(({ done }) => done) ? steps.map(({ value }) => value as Outcome) : []
  if (outcomes.length === 0 || !outcomes.every(({ kind }) => kind === 'created' || kind === 'updated')) {
    yield ignoringRows(undo)
    return undefined
  }
  yield ignoringRows(release)
  for (const [collection, move] of batch.moves) noteMove(context.batch.moves, collection, move)
  return outcomes
}

type Step = IteratorResult<Statement, Outcome>

function isOpen({ done }: Step): boolean {
  return done !== true
}

/** Takes each to its next statement; `undefined`: one of them fails, and it is not known whether its turn comes. */
function advance(
  running: readonly Transaction<Outcome>[],
  rows: readonly (Row | undefined)[] = [],
): readonly Step[] | undefined {
  try {
    return running.map((each, index) => {
      const row = rows[index]
      return each.next(row === undefined ? [] : [row])
    })
  } catch {
    return undefined
  }
}
