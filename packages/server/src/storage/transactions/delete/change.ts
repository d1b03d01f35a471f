/**
 * The windows of a change by filter of many records (BLK-3), which change the marked records, or restore them. Records
 * keep their marks until the job ends, so nobody has changed what is restored. Every record is decided anew when it is
 * changed: its own values are as they were, but business rules and references depend on others.
 */

import { deepFreeze } from 'resourced-contract/model/plain-copy'
import { always } from 'resourced-contract/model/predicate'
import {
  type Catalog,
  isMapped,
  type RecordValues,
  type Resource,
  resourceInVersion,
} from 'resourced-contract/model/resource'
import { faults } from 'resourced-contract/spec/fault-entries'
import { type FaultCode, problemType } from 'resourced-contract/spec/faults'
import sql, { raw } from 'sql-template-tag'
import type { Outcome } from '../../../plan/outcome.ts'
import type { Update, UpdateMatching } from '../../../plan/plan.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { JobError } from '../../storage.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { changeEach, refusalOf } from '../rows/change-records.ts'
import { tickOne } from '../rows/clock.ts'
import { lockReferred } from '../rows/lock-operations.ts'
import { lockRecords, rewriteRecord } from '../rows/record-row.ts'
import type { After, Window } from './windows.ts'
import { nextQueued, type StoredChange, undoing, type WorkState } from './work-list.ts'

/**
 * The change of each record, as the state of a job keeps it.
 *
 * @param moved the reference fields that it changes
 */
export function storedChange({ update }: UpdateMatching, moved: readonly string[]): StoredChange {
  const { resource, versionResource, targets, ...rest } = update
  const holds = moved.flatMap((name) => {
    const { collection, onDelete } = resource.field.get(name)?.reference ?? {}
    return collection === undefined || onDelete === 'clear' ? [] : [collection]
  })
  return { update: rest, targets: targets && [...targets], version: versionResource?.mapping.version, holds }
}

/** The change that a job keeps; `undefined`: the declaration has no longer what it needs. */
function changeIn(catalog: Catalog, { collection, change }: WorkState): Update | undefined {
  const resource = catalog.resources.get(collection)
  if (resource === undefined || change === undefined) return undefined
  const { update, targets, version } = change
  // Functions of the declaration get the caller.
  const made = { ...update, caller: deepFreeze(update.caller), resource, ...(targets && { targets: new Map(targets) }) }
  if (version === undefined) return made
  const versionResource = resourceInVersion(catalog, version, collection)
  if (versionResource === undefined || !isMapped(versionResource)) return undefined
  return versionResource.mapping.version === version ? { ...made, versionResource } : undefined
}

/** Changes the next records. */
export function* change(context: SqlContext, { job, state, size }: Window): After {
  const rows = yield* nextQueued(job, { at: state.at, size, last: state.roots })
  if (rows.length === 0) return 'ended'
  const update = changeIn(context.catalog, state)
  if (update === undefined) return undoing(state, redeclared)
  const rowOf = new Map(rows.map(({ record, _row }) => [String(record), Number(_row)]))
  const keep = (id: string, former: RecordValues) =>
    ignoringRows(sql`update resourced_queue set record = ${id + JSON.stringify(former)} where _row = ${rowOf.get(id)}`)
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), [...rowOf.keys()])
  yield* lockReferred(context, { ...update, bodies: [update.body] }, among)
  const refused = yield* changeEach(context, update, [...rowOf.keys()], keep)
  if (refused.length > 0) return undoing(state, brokenBy(refusalOf(update, refused)))
  const done = state.done + rows.length
  return { ...state, done, taken: done, at: Number(rows.at(-1)?.['_row']) }
}

/** The length of a UUID as text: what follows the id of a record are its former values. */
const idLength = 36

function formerOf(record: string): readonly [id: string, values: RecordValues] {
  return [record.slice(0, idLength), JSON.parse(record.slice(idLength)) as RecordValues]
}

/** Restores the next records. */
export function* revert(context: SqlContext, { job, state, size }: Window): After {
  const changed = sql`job = ${job} and _row > ${state.at} and _row <= ${state.roots} and length(record) > ${idLength}`
  const rows = yield sql`select _row, record from resourced_queue where ${changed} order by _row limit ${size}`
  const resource = context.catalog.resources.get(state.collection)
  if (rows.length === 0 || resource === undefined) return 'ended'
  const former = new Map(rows.map(({ record }) => formerOf(String(record))))
  const ids = [...former.keys()]
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), ids)
  yield* lockReferred(context, { resource, bodies: [...former.values()], update: undefined }, among)
  const gone = yield* goneTargets(context, resource, [...former.values()])
  for (const [id, { record }] of yield* lockRecords(context, { resource, permitted: always }, ids)) {
    const values: Record<string, unknown> = { ...record, updated_at: former.get(id)?.['updated_at'] }
    const names = Object.keys(former.get(id) ?? {}).filter((name) => resource.field.has(name))
    for (const name of names) {
      const before = former.get(id)?.[name]
      if (!gone.has(targetKey(name, before))) values[name] = before
      else if (resource.field.get(name)?.reference?.onDelete === 'clear') values[name] = null
    }
    yield* rewriteRecord(context, resource, { values, changed: names })
  }
  yield* tickOne(context, resource.name, { live: 0, deleted: 0, ids })
  return { ...state, done: Math.max(0, state.done - rows.length), at: Number(rows.at(-1)?.['_row']) }
}

/** The records that former values refer to, and that were deleted since: a restored reference would lead nowhere. */
function* goneTargets(
  { dialect }: SqlContext,
  { fields }: Resource,
  former: readonly RecordValues[],
): Transaction<ReadonlySet<string>> {
  const gone = new Set<string>()
  for (const { name, reference } of fields) {
    const ids = new Set(former.flatMap((values) => (typeof values[name] === 'string' ? [values[name]] : [])))
    if (reference === undefined || ids.size === 0) continue
    const isLive = sql`${dialect.isAnyOf(raw('id'), [...ids])} and deleted_at is null`
    const { orderById, share } = dialect.lock
    const rows = yield sql`select id from ${tableSql(reference.collection)} where ${isLive}${orderById}${share}`
    for (const id of ids.difference(new Set(rows.map((row) => String(row['id']))))) gone.add(targetKey(name, id))
  }
  return gone
}

function targetKey(field: string, id: unknown): string {
  return `${field} ${id}`
}

const undone = 'It was undone: nothing has changed.'

const redeclared: JobError = {
  ...{ type: problemType('INTERNAL_ERROR'), title: 'The declaration has changed', status: 500, code: 'INTERNAL_ERROR' },
  detail: `The declaration has changed while the job ran. ${undone}`,
}

/** Why a job cannot go on: by a change of others, a match may no longer be changed. */
function brokenBy(outcome: Outcome): JobError {
  const [first] = 'issues' in outcome ? (outcome.issues ?? []) : []
  const code = outcome.kind === 'conflict' ? (first?.code ?? 'CONFLICT') : usualCodes[outcome.kind]
  const { status, title } = faults[code as keyof typeof faults] ?? faults.CONFLICT
  const detail = `Another request, or the change of another match, has made what refuses that of a match. ${undone}`
  return { type: problemType(code ?? 'CONFLICT'), title, status, detail, code }
}

const usualCodes: Partial<Record<Outcome['kind'], FaultCode>> = { forbidden: 'FORBIDDEN', invalid: 'VALIDATION_FAILED' }
