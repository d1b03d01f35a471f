/** Creating and changing one record: decided and written in the same transaction (CON-5). */
import { always, type Predicate } from '../../model/predicate.ts'
import type { RecordValues } from '../../model/resource.ts'
import { admit, decidable } from '../../plan/admit.ts'
import { judge, type Transition } from '../../plan/decide.ts'
import { draftCreate, draftUpdate } from '../../plan/older-version.ts'
import type { Create, Outcome, Update, Write } from '../../plan/plan.ts'
import { withCheck } from '../../plan/with-check.ts'
import type { SqlContext } from '../sql/context.ts'
import { committing, firstRow, ignoringRows, type Transaction } from '../transaction.ts'
import { checkParent } from './read-page.ts'
import { type Moves, noteMove, tick, tickAll } from './rows/clock.ts'
import { admitDraft, ask, questionsOf } from './rows/other-records.ts'
import { beingDeletedIssue, isBeingDeleted, isPendingDeletion } from './rows/pending-deletion.ts'
import { holdRules, ruledAmong } from './rows/rules-lock.ts'
import { type Answered, answeredOf, answerSql, currentRecord, represent } from './rows/select-record.ts'
import { carryOut, change, insertion, insertRecord, type RecordChange } from './rows/write-row.ts'
import { createAtOnce, updateAtOnce } from './write-at-once.ts'

/** Runs a Create. */
export function* createRecord(context: SqlContext, plan: Create): Transaction<Outcome> {
  const atOnce = yield* createAtOnce(context, plan)
  if (atOnce !== undefined) return atOnce
  const { id } = plan
  const admitted = yield* admitCreate(context, plan)
  if (admitted.kind !== 'admitted') return admitted
  const write = insertion(context, plan.resource, admitted.values)
  const isLast = plan.idempotency === undefined
  const { json, revision, updatedAt } = yield* writeAndRepresent(context, plan, write, { live: 1, isLast })
  return { kind: 'created', id, json, revision, updatedAt }
}

/** Runs many Creates of whichever resources, in order (see `Storage.load`): nobody asks for their representations. */
export function* createRecords(
  context: SqlContext,
  plans: readonly Create[],
  whenRefused: 'stop' | 'skip',
): Transaction<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = []
  const created: Moves = new Map()
  const collections = plans.map(({ resource }) => resource.name)
  if (ruledAmong(context.catalog, collections) === 'some') yield* holdRules(context)
  for (const plan of plans) {
    const { resource } = plan
    const admitted = yield* admitCreate(context, plan)
    if (admitted.kind === 'admitted') {
      yield* insertRecord(context, resource, admitted.values)
      noteMove(created, resource.name, 1, 0)
      outcomes.push(undefined)
    } else {
      outcomes.push(admitted)
      if (whenRefused === 'stop') break
    }
  }
  yield* tickAll(context, created)
  return outcomes
}

/** The record that a Create makes, or its refusal. */
function* admitCreate(
  context: SqlContext,
  plan: Create,
): Transaction<Outcome | { readonly kind: 'admitted'; readonly values: RecordValues }> {
  const { resource } = plan
  if (plan.parent !== undefined) {
    const { resource: above, id } = plan.parent
    const refused = yield* checkParent({ ...context, locksReferenced: true }, plan.parent)
    if (refused?.kind === 'parent-missing' && (yield* isBeingDeleted(context, above.name, id))) {
      return { kind: 'conflict', issues: [beingDeletedIssue] }
    }
    if (refused !== undefined) return refused
  }
  const draft = draftCreate(plan)
  const barred = yield* admitDraft(context, resource, plan.permitted, draft)
  if (barred !== undefined) return barred
  const transition: Transition = { resource, trigger: 'create', current: undefined, next: draft.values }
  const answers = yield* ask(context, resource, questionsOf(context, plan, transition, draft))
  const refused = judge(plan, transition, draft, answers)
  return refused ?? { kind: 'admitted', values: draft.values }
}

/** Runs an Update. */
export function* updateRecord(context: SqlContext, plan: Update): Transaction<Outcome> {
  const { resource } = plan
  const permitted = decidable(plan, plan.mayRead)
  const atOnce = yield* updateAtOnce(context, plan, permitted)
  if (atOnce !== undefined) return atOnce
  const { found, record, isReadable } = yield* currentRecord(context, { ...plan, permitted })
  const ended = admit(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  const drafted = draftUpdate(plan, record, isReadable)
  if (drafted.kind !== 'draft') return drafted
  const { draft } = drafted
  for (const permission of withCheck(plan, draft)) {
    const barred = yield* admitDraft(context, resource, permission, draft)
    if (barred !== undefined) return barred
  }
  const transition: Transition = { resource, trigger: 'update', current: record, next: draft.values }
  const answers = yield* ask(context, resource, questionsOf(context, plan, transition, draft))
  const refused = judge(plan, transition, draft, answers)
  if (refused?.kind !== 'invalid' && (yield* isPendingDeletion(context, resource, record))) {
    return { kind: 'conflict', issues: [beingDeletedIssue] }
  }
  if (refused !== undefined) return refused
  const { json, revision, updatedAt, readable } =
    draft.changed.length === 0
      ? yield* represent(context, plan, plan.id, plan.mayRead)
      : yield* writeAndRepresent(context, plan, change(context, resource, draft), { isLast: true }, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, revision, updatedAt }
}

/**
 * Changes a record, moves the clock on, and gives the record as it is answered.
 *
 * @param live how many live records there are more
 * @param isLast nothing follows in this transaction, and it is not to be undone
 */
function* writeAndRepresent(
  context: SqlContext,
  plan: Pick<Write, 'resource' | 'versionResource'>,
  write: RecordChange,
  { live = 0, isLast }: { readonly live?: number; readonly isLast: boolean },
  mayRead: Predicate = always,
): Transaction<Answered> {
  const { resource } = plan
  const ticked = tick(context, resource.name, live, 0)
  const { writeReturning } = context.engine
  if (writeReturning === undefined) {
    yield* carryOut(context, resource, write)
    yield ignoringRows(ticked)
    return yield* represent(context, plan, write.id, mayRead)
  }
  const statement = writeReturning(write.change, ticked, answerSql(context, plan, mayRead))
  return answeredOf(yield* firstRow(isLast ? committing(statement) : statement))
}
