/** Reading one record. */
import sql, { type Sql } from 'sql-template-tag'
import { collectionsOf } from '../../model/predicate.ts'
import { checkConditions, checkRecord, type Found, isConditional } from '../../plan/check-record.ts'
import type { Outcome, ReadRecord } from '../../plan/plan.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { predicateDigest } from '../sql/predicate.ts'
import { filled, slot } from '../sql/prepared.ts'
import { representationSql, revisionColumn, versionedName } from '../sql/records.ts'
import { firstRow, prebuilt, type Statement, type Transaction } from '../transaction.ts'
import type { Memory, RecordState } from './memory.ts'
import { readClock } from './rows/clock.ts'
import { foundOf, holdsSql } from './rows/record-row.ts'

/** Runs a ReadRecord: the record, or 304, 403, 404 as a value. */
export function* readRecord(
  context: SqlContext,
  memory: Pick<Memory, 'clocks' | 'record' | 'keep'> | undefined,
  plan: ReadRecord,
): Transaction<Outcome> {
  const state = memory === undefined ? undefined : yield* readState(context, memory, plan)
  const known = state === undefined ? undefined : memory?.record(plan, state)
  if (known !== undefined) return checkConditions(plan, known) ?? known
  if (isConditional(plan.conditions)) {
    // A 304 needs the revision only: no representation is built for it.
    const ended = checkRecord(plan, foundOf(yield* firstRow(stateSql(context, plan))))
    if (ended !== undefined) return ended
  }
  const row = yield* firstRow(recordStatement(context, plan))
  const found = foundOf(row)
  const ended = checkRecord(plan, found)
  if (ended !== undefined) return ended
  const { revision, updatedAt } = found as Found
  const record = { kind: 'record', json: String(row?.['json']), revision, updatedAt } as const
  if (state !== undefined) memory?.keep(plan, state, record)
  return record
}

/** The clocks that the answer depends on. */
function* readState(
  context: SqlContext,
  memory: Pick<Memory, 'clocks'>,
  { resource, permitted }: ReadRecord,
): Transaction<RecordState> {
  const { revision: own } = yield* readClock(context, memory, resource.name, none)
  if (permitted.kind === 'always') return { own, others: 0 }
  const { revision: all } = yield* readClock(context, memory, resource.name, collectionsOf(permitted))
  return { own, others: all - own }
}

const none: ReadonlySet<string> = new Set()

/** The statement that reads a record; its text is built once for each version, permission and choice of fields. */
function recordStatement(context: SqlContext, plan: ReadRecord): Statement {
  const { resource, versionResource = resource, permitted, fields } = plan
  const key = `read ${versionedName(versionResource)} ${predicateDigest(permitted)} ${fields?.join() ?? '*'}`
  const slots = context.statements.of(key, () => {
    const id = slot(({ id }: ReadRecord) => id)
    const columns = sql`${representationSql(context, versionResource, fields)} as json, ${stateColumns(context, plan)}`
    const from = sql`${context.engine.schema}${subjectSql(resource.name)}`
    return prebuilt(sql`select ${columns} from ${from} where deleted_at is null and id = ${id}`)
  })
  return filled(slots, plan)
}

function stateSql(context: SqlContext, plan: ReadRecord): Sql {
  const from = subjectSql(plan.resource.name)
  return sql`select ${stateColumns(context, plan)} from ${from} where id = ${plan.id} and deleted_at is null`
}

function stateColumns(context: SqlContext, { resource, permitted }: ReadRecord): Sql {
  const revision = revisionColumn(context, resource.name)
  return sql`${revision}, updated_at, ${holdsSql(context, resource, permitted)} as _permitted`
}
