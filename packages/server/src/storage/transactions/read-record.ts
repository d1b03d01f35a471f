/** Reading one record. */

import { predicatesOf } from 'resourced-contract/model/field-grants'
import { collectionsOf } from 'resourced-contract/model/predicate'
import { isHistory } from 'resourced-contract/model/resource'
import sql, { empty, raw } from 'sql-template-tag'
import { checkConditions, checkRecord, type Found, isConditional } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { ReadRecord } from '../../plan/plan.ts'
import { hasIdSql, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { grantsDigest, predicateDigest, representationSql, versionedName } from '../sql/records.ts'
import { filled, firstRow, prebuilt, type Row, type Statement, slot, type Transaction } from '../transaction.ts'
import { mementoOf, readFormer } from './history.ts'
import type { Memory, RecordState } from './memory.ts'
import { knownClock, readClock } from './rows/clock.ts'
import { foundOf, stateSql } from './rows/record-row.ts'

/** Runs a ReadRecord: the record, or 304, 403, 404 as a value. */
export function* readRecord(
  context: SqlContext,
  memory: Pick<Memory, 'clocks' | 'record' | 'keep'> | undefined,
  plan: ReadRecord,
): Transaction<Outcome> {
  if (plan.former !== undefined) return yield* readFormer(context, plan, plan.former)
  const state =
    memory === undefined ? undefined : (knownState(memory, plan) ?? (yield* readState(context, memory, plan)))
  const known = state === undefined ? undefined : memory?.record(plan, state)
  if (known !== undefined) {
    const ended = checkConditions(plan, known)
    if (ended !== undefined) return ended
    if (known.kind === 'record') return known
  } else if (isConditional(plan.conditions)) {
    // A 304 needs the revision only: no representation is built for it.
    const ended = checkRecord(plan, foundIn(plan, yield* firstRow(statementOf(context, plan, 'state'))))
    if (state !== undefined && ended?.kind === 'not-modified') memory?.keep(plan, state, ended)
    if (ended !== undefined) return ended
  }
  const row = yield* firstRow(statementOf(context, plan, 'record'))
  const found = foundIn(plan, row)
  const ended = checkRecord(plan, found)
  if (ended !== undefined) return ended
  const { permitted: _, ...validators } = found as Found
  const memento = isHistory(plan.resource) && row !== undefined && { memento: mementoOf(row) }
  const record: Outcome = { kind: 'record', json: String(row?.['json']), ...validators, ...memento }
  if (state !== undefined) memory?.keep(plan, state, record)
  return record
}

/** The state of the record. An event that the caller may not read, because of its record, is not there (EVT-4). */
function foundIn({ resource }: ReadRecord, row: Row | undefined): Found | undefined {
  const found = foundOf(row)
  return resource.order === 'by-position' && found?.permitted === false ? undefined : found
}

/** The clocks that the answer depends on, if they need not be read. */
function knownState(memory: Pick<Memory, 'clocks'>, plan: ReadRecord): RecordState | undefined {
  const clock = dependsOnOwnOnly(plan) ? knownClock(memory, plan.resource.name, none) : undefined
  return clock && { own: clock.revision, others: 0 }
}

/** The clocks that the answer depends on. */
function* readState(context: SqlContext, memory: Pick<Memory, 'clocks'>, plan: ReadRecord): Transaction<RecordState> {
  const { resource, permitted, readableFields } = plan
  const { revision: own } = yield* readClock(context, memory, resource.name, none)
  if (dependsOnOwnOnly(plan)) return { own, others: 0 }
  const others = collectionsOf(permitted)
  for (const each of predicatesOf(readableFields)) collectionsOf(each, others)
  const { revision: all } = yield* readClock(context, memory, resource.name, others)
  return { own, others: all - own }
}

function dependsOnOwnOnly({ permitted, readableFields }: ReadRecord): boolean {
  return permitted.kind === 'always' && readableFields === undefined
}

const none: ReadonlySet<string> = new Set()

/**
 * The statement that reads a record, or its validators only. Its text is built once for each version, permission and
 * choice of fields.
 */
function statementOf(context: SqlContext, plan: ReadRecord, what: 'record' | 'state'): Statement {
  const { resource, versionResource = resource, permitted, fields, readableFields } = plan
  const asked = what === 'state' ? '' : `${versionedName(versionResource)} ${fields?.join() ?? '*'}`
  const key = `read ${what} ${resource.name} ${predicateDigest(permitted)} ${asked}${grantsDigest(readableFields)}`
  const slots = context.statements.of(key, () => {
    const hasId = hasIdSql(resource, (of) => slot(({ id }: ReadRecord) => of(id)))
    const represented = { resource: versionResource, fields, readableFields }
    const json = what === 'state' ? empty : sql`${representationSql(context, represented)} as json, `
    const from = sql`${context.dialect.schema}${subjectSql(resource.name)}`
    const columns = sql`${json}${stateSql(context, plan, permitted)}${isHistory(resource) ? ofRevision : empty}`
    return prebuilt(sql`select ${columns} from ${from} where deleted_at is null and ${hasId}`)
  })
  return filled(slots, plan)
}

const ofRevision = raw(', id, collection, record_id, created_at')
