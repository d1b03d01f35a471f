/**
 * The history of records (HIS-1 to HIS-4): the state of a record at a time, and its erasure. The order of a record's
 * states is that of their times, which never go back, and then that of their positions.
 */
import { historyCollection } from 'resourced-contract/model/names'
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { checkRecord, type Found } from '../../plan/check-record.ts'
import type { Memento, Outcome } from '../../plan/outcome.ts'
import type { EraseHistory, Former, Parent, ReadRecord } from '../../plan/plan.ts'
import { columnSql, recordedRow, subject, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { predicateSql } from '../sql/predicate.ts'
import { representationSql, revisionColumn, shownSql, withheldOfStateSql } from '../sql/records.ts'
import { firstRow, type Row, type Transaction } from '../transaction.ts'
import { tick } from './rows/clock.ts'
import { eraseEvents, mostErased } from './rows/erase-states.ts'
import { eraseAnswers } from './rows/kept-answers.ts'
import { isMarkOfChange, pendingIssue, pendingMark } from './rows/other-records.ts'
import { foundOf, hiddenColumn, holdsSql } from './rows/record-row.ts'

/** The revisions of a record, under the alias of the main table. */
function revisionsOf(collection: string, id: string): Sql {
  const [ofRecord, ofCollection] = [columnSql(subject, 'record_id'), columnSql(subject, 'collection')]
  return sql`${subjectSql('revisions')} where ${ofRecord} = ${id} and ${ofCollection} = ${collection}`
}

const newestFirst = raw(`order by ${subject}.created_at desc, ${subject}._row desc limit 1`)
const oldestFirst = raw(`order by ${subject}.created_at, ${subject}._row limit 1`)

/** The state that a row of a revision shows. */
export function mementoOf(row: Row): Memento {
  const text = (name: string) => String(row[name])
  return { collection: text('collection'), id: text('record_id'), at: text('created_at'), revision: text('id') }
}

/** A record in any state in which its history may be asked for, and whether it may be. */
function recordSql(
  context: SqlContext,
  { resource, id, permitted, deleted }: Pick<Parent, 'resource' | 'id' | 'permitted' | 'deleted'>,
  columns: Sql,
): Sql {
  const live = raw(`${subject}.deleted_at is null`)
  const isPermitted = holdsSql(context, resource, permitted)
  if (deleted === undefined) {
    return sql`select ${columns}, ${isPermitted} as _permitted from ${subjectSql(resource.name)}
      where ${columnSql(subject, 'id')} = ${id} and ${live}`
  }
  // A record that was deleted with its own parent is still permitted by that.
  const whenDeleted = holdsSql({ ...context, countsDeleted: true } as SqlContext, resource, deleted.permitted)
  return sql`select ${columns}, case when ${live} then ${isPermitted} else ${whenDeleted} end as _permitted
    from ${subjectSql(resource.name)}
    where ${columnSql(subject, 'id')} = ${id} and (${live} or ${columnSql(subject, 'deleted_at')} > ${deleted.since})`
}

/** Reads the state of a record at a time, or 304, 403, 404 as a value. */
export function* readFormer(context: SqlContext, plan: ReadRecord, former: Former): Transaction<Outcome> {
  const { resource, id, versionResource = resource, fields, readableFields } = plan
  const last = sql`(select _revision from (select * from ${revisionsOf(resource.name, id)} ${newestFirst}) newest)`
  const json = representationSql(context, { resource: versionResource, fields, readableFields })
  const stored = sql`deleted_at, updated_at, ${revisionColumn(context, resource.name)}`
  const isKept = sql`case when _revision = ${last} then 1 else 0 end as _kept`
  const columns = sql`${json} as json, ${stored}, ${isKept}${hiddenColumn(context, resource, readableFields)}`
  const present = yield* firstRow(recordSql(context, { resource, id, ...former }, columns))
  if (present === undefined) return { kind: 'missing' }
  if (present['_permitted'] !== 1) return { kind: 'forbidden' }
  // A record that has not changed since its resource has a history is in no revision.
  const isUnkept = present['_kept'] !== 1 && String(present['deleted_at'] ?? present['updated_at']) <= former.until
  if (isUnkept && present['deleted_at'] !== null) return { kind: 'missing' }
  const row = isUnkept ? present : yield* firstRow(stateSql(context, plan, former))
  if (row === undefined || row['kind'] === 'deleted' || row['_shown'] === 0) return { kind: 'missing' }
  const found = foundOf({ ...row, _permitted: 1 }) as Found
  const ended = checkRecord(plan, found)
  if (ended !== undefined) return ended
  const { permitted: _, ...validators } = found
  const state = isUnkept ? { collection: resource.name, id, at: validators.updatedAt, revision: null } : mementoOf(row)
  const memento = { ...state, bounds: yield* readBounds(context, plan, former) }
  return { kind: 'record', json: String(row['json']), ...validators, memento }
}

/** Selects the revision of a record at a time, with the record as it shows it. */
function stateSql(context: SqlContext, plan: ReadRecord, { revisions, until, shown }: Former): Sql {
  const { resource, id, versionResource = resource, fields, readableFields } = plan
  const row = recordedRow(revisions, subject)
  const json = representationSql(context, { resource: versionResource, fields, readableFields, isSnapshot: true })
  const source = shownSql(context, row, resource)
  const hidden =
    readableFields === undefined
      ? empty
      : sql`, ${withheldOfStateSql(context, row, resource, readableFields)} as _hidden`
  const isShown = sql`case when ${predicateSql(context, revisions, shown)} then 1 else 0 end as _shown`
  const own = sql`id, kind, collection, record_id, created_at, ${revisionColumn(context, resource.name)}`
  return sql`select ${own}, (select ${json} from ${source}) as json, ${isShown},
    (select updated_at from ${source}) as updated_at${hidden}
    from ${revisionsOf(resource.name, id)} and ${columnSql(subject, 'created_at')} <= ${until} ${newestFirst}`
}

/** The first and the last state of a record that the caller may read. */
function* readBounds(
  context: SqlContext,
  { resource, id }: ReadRecord,
  { revisions, shown }: Former,
): Transaction<NonNullable<Memento['bounds']>> {
  const isShown = predicateSql(context, revisions, shown)
  const found: { readonly id: string; readonly at: string }[] = []
  for (const order of [oldestFirst, newestFirst]) {
    const states = sql`${revisionsOf(resource.name, id)} and kind <> 'deleted' and ${isShown} ${order}`
    const row = yield* firstRow(sql`select id, created_at from ${states}`)
    if (row !== undefined) found.push({ id: String(row['id']), at: String(row['created_at']) })
  }
  return found
}

/** An erasure of which a part is done. */
export interface Erasing {
  readonly kind: 'erasing'
}

/**
 * Erases the oldest former states of a record, and, once there are none, what else holds them.
 *
 * @param continues whether a transaction before has decided that it may
 */
export function* eraseHistory(
  context: SqlContext,
  plan: EraseHistory,
  continues = false,
): Transaction<Outcome | Erasing> {
  const { resource, id } = plan
  const { name } = resource
  const columns = sql`${revisionColumn(context, name)}, _revision as _stored, updated_at, deleted_at`
  const row = yield* firstRow(sql`${recordSql(context, plan, columns)}${context.dialect.lock.update}`)
  const ended = continues && row !== undefined ? undefined : checkRecord(plan, foundOf(row))
  if (ended !== undefined) return ended
  // A job keeps the states that it would restore.
  const mark = continues ? undefined : yield* pendingMark(context, resource, { id })
  if (mark !== undefined && isMarkOfChange(mark)) return { kind: 'conflict', issues: [pendingIssue(mark)] }
  const newest = yield* firstRow(sql`select _row, _revision, kind from ${revisionsOf(name, id)} ${newestFirst}`)
  // The present state stays. A sum of children changes a deleted record, too, which stays in the same state.
  const isDeletion = newest?.['kind'] === 'deleted' && row?.['deleted_at'] !== null
  const isPresent = isDeletion || newest?.['_revision'] === row?.['_stored']
  const present = isPresent ? Number(newest?.['_row'] ?? 0) : 0
  const former = sql`select _row from ${revisionsOf(name, id)} and _row <> ${present} limit ${mostErased}`
  const erased = yield sql`delete from "revisions" where _row in (${former}) returning id`
  if (erased.length > 0) yield tick(context, historyCollection, 0, 0)
  const isPart = erased.length === mostErased || (yield* eraseEvents(context, resource, [id]))
  return { kind: isPart || (yield* eraseAnswers(context, [id])) ? 'erasing' : 'erased' }
}
