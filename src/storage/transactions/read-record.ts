/** Reading one record. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { checkRecord, type Found, isConditional } from '../../plan/check-record.ts'
import type { Outcome, ReadRecord } from '../../plan/plan.ts'
import { subject, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { revisionColumn } from '../sql/epoch.ts'
import { predicateDigest } from '../sql/predicate.ts'
import { filled, slot } from '../sql/prepared.ts'
import { representationSql, versionedName } from '../sql/records.ts'
import { firstRow, prebuilt, type Statement, type Transaction } from '../transaction.ts'
import type { Memory } from './memory.ts'
import { foundOf, holdsSql } from './rows/select-record.ts'

/** Runs a ReadRecord: the record, or 304, 403, 404 as a value. */
export function* readRecord(
  context: SqlContext,
  memory: Pick<Memory, 'record' | 'keep'>,
  plan: ReadRecord,
): Transaction<Outcome> {
  const known = memory.record(plan)
  if (known !== undefined) return checkRecord(plan, { ...known, permitted: true }) ?? known
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
  memory.keep(plan, record)
  return record
}

/** The statement that reads a record; its text is built once for each version, permission and choice of fields. */
function recordStatement(context: SqlContext, plan: ReadRecord): Statement {
  const { resource, versionResource = resource, permitted, fields } = plan
  const key = `read ${versionedName(versionResource)} ${predicateDigest(permitted)} ${fields?.join() ?? '*'}`
  const slots = context.statements.of(key, () => {
    const id = slot(({ id }: ReadRecord) => id)
    return prebuilt(
      sql`select ${representationSql(context, versionResource, fields)} as json, ${revisionColumn(context, resource.name)}, updated_at, ${holdsSql(context, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where deleted_at is null and id = ${id}`,
    )
  })
  return filled(slots, plan)
}

function stateSql(context: SqlContext, { resource, id, permitted }: ReadRecord): Sql {
  return sql`select ${revisionColumn(context, resource.name)}, updated_at, ${holdsSql(context, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null`
}
