/** Reading one record: a single statement. */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Predicate } from '../../model/predicate.ts'
import { admit, type Found, isConditional } from '../../plan/admit.ts'
import type { Outcome, ReadRecord } from '../../plan/plan.ts'
import { subject, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { revisionColumn } from '../sql/epoch.ts'
import { representationSql } from '../sql/represent.ts'
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
  if (known !== undefined) return admit(plan, { ...known, permitted: true }) ?? known
  if (isConditional(plan.conditions)) {
    // A 304 needs the revision only: no representation is built for it.
    const ended = admit(plan, foundOf(yield* firstRow(stateSql(context, plan))))
    if (ended !== undefined) return ended
  }
  const row = yield* firstRow(recordStatement(context, plan))
  const found = foundOf(row)
  const ended = admit(plan, found)
  if (ended !== undefined) return ended
  const { revision, updatedAt } = found as Found
  const record = { kind: 'record', json: String(row?.['json']), revision, updatedAt } as const
  memory.keep(plan, record)
  return record
}

// By what may be read: the same few predicates come with every request.
const statements = new WeakMap<SqlContext, WeakMap<Predicate, Map<string, Statement>>>()

/** The statement of a record: of each shape its text is put together once. */
function recordStatement(context: SqlContext, plan: ReadRecord): Statement {
  const { resource, versionResource, id, permitted, fields } = plan
  const ofCompiler = statements.get(context) ?? new WeakMap<Predicate, Map<string, Statement>>()
  const ofPredicate = ofCompiler.get(permitted) ?? new Map<string, Statement>()
  const represented = versionResource ?? resource
  const key = `${versionResource?.mapping.version ?? ''}/${represented.name}/${fields?.join() ?? '*'}`
  let known = ofPredicate.get(key)
  if (known === undefined) {
    statements.set(context, ofCompiler.set(permitted, ofPredicate))
    // Field lists come from callers: keep a bounded number of them.
    if (ofPredicate.size >= 200) ofPredicate.clear()
    known = prebuilt(
      sql`select ${representationSql(context, represented, fields)} as json, ${revisionColumn(context, resource.name)}, updated_at, ${holdsSql(context, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where deleted_at is null and id = ${id}`,
    )
    ofPredicate.set(key, known)
    return known
  }
  return { sql: known.sql, text: known.text, values: [...known.values.slice(0, -1), id] }
}

function stateSql(context: SqlContext, { resource, id, permitted }: ReadRecord): Sql {
  return sql`select ${revisionColumn(context, resource.name)}, updated_at, ${holdsSql(context, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null`
}
