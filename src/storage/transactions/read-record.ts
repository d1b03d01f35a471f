/** Reading one record. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { collectionsOf } from '../../model/predicate.ts'
import { checkConditions, checkRecord, type Found, isConditional } from '../../plan/check-record.ts'
import type { Outcome, ReadRecord } from '../../plan/plan.ts'
import { subjectSql } from '../sql/columns.ts'
import { filled, type SqlContext, slot } from '../sql/context.ts'
import { predicateDigest } from '../sql/predicate.ts'
import { representationSql, revisionColumn, versionedName } from '../sql/records.ts'
import { firstRow, prebuilt, type Statement, type Transaction } from '../transaction.ts'
import type { Memory, RecordState } from './memory.ts'
import { knownClock, readClock } from './rows/clock.ts'
import { foundOf, holdsSql } from './rows/record-row.ts'

/** Runs a ReadRecord: the record, or 304, 403, 404 as a value. */
export function* readRecord(
  context: SqlContext,
  memory: Pick<Memory, 'clocks' | 'record' | 'keep'> | undefined,
  plan: ReadRecord,
): Transaction<Outcome> {
  const state =
    memory === undefined ? undefined : (knownState(memory, plan) ?? (yield* readState(context, memory, plan)))
  const known = state === undefined ? undefined : memory?.record(plan, state)
  if (known !== undefined) {
    const ended = checkConditions(plan, known)
    if (ended !== undefined) return ended
    if (known.kind === 'record') return known
  } else if (isConditional(plan.conditions)) {
    // A 304 needs the revision only: no representation is built for it.
    const ended = checkRecord(plan, foundOf(yield* firstRow(statementOf(context, plan, 'state'))))
    if (state !== undefined && ended?.kind === 'not-modified') memory?.keep(plan, state, ended)
    if (ended !== undefined) return ended
  }
  const row = yield* firstRow(statementOf(context, plan, 'record'))
  const found = foundOf(row)
  const ended = checkRecord(plan, found)
  if (ended !== undefined) return ended
  const { revision, updatedAt } = found as Found
  const record = { kind: 'record', json: String(row?.['json']), revision, updatedAt } as const
  if (state !== undefined) memory?.keep(plan, state, record)
  return record
}

/** The clocks that the answer depends on, if they need not be read. */
function knownState(memory: Pick<Memory, 'clocks'>, { resource, permitted }: ReadRecord): RecordState | undefined {
  const clock = permitted.kind === 'always' ? knownClock(memory, resource.name, none) : undefined
  return clock && { own: clock.revision, others: 0 }
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

/**
 * The statement that reads a record, or its validators only. Its text is built once for each version, permission and
 * choice of fields.
 */
function statementOf(context: SqlContext, plan: ReadRecord, what: 'record' | 'state'): Statement {
  const { resource, versionResource = resource, permitted, fields } = plan
  const asked = what === 'state' ? '' : `${versionedName(versionResource)} ${fields?.join() ?? '*'}`
  const key = `read ${what} ${resource.name} ${predicateDigest(permitted)} ${asked}`
  const slots = context.statements.of(key, () => {
    const id = slot(({ id }: ReadRecord) => id)
    const json = what === 'state' ? empty : sql`${representationSql(context, versionResource, fields)} as json, `
    const from = sql`${context.engine.schema}${subjectSql(resource.name)}`
    const columns = sql`${json}${stateColumns(context, plan)}`
    return prebuilt(sql`select ${columns} from ${from} where deleted_at is null and id = ${id}`)
  })
  return filled(slots, plan)
}

function stateColumns(context: SqlContext, { resource, permitted }: ReadRecord): Sql {
  const revision = revisionColumn(context, resource.name)
  return sql`${revision}, updated_at, ${holdsSql(context, resource, permitted)} as _permitted`
}
