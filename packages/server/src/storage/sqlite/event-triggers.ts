/**
 * The triggers that write events (EVT-1) and revisions (HIS-1), and what they wrote read as a row again. They call
 * aggregate functions alone: a trigger that calls another function makes SQLite keep a copy of every page that a
 * statement changes. So only this program, which has the aggregate of ids, can change these tables.
 */
import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { idAt, identifier, type RecordedRow, type SnapshotColumn } from '../sql/columns.ts'
import type { Attribution, TableTrigger } from '../sql/dialect.ts'
import { changeKind, type EventSpec, formerKind, goesOnSql, liveKind, timeOf } from '../sql/event-columns.ts'
import { newMark } from '../sql/marks.ts'

const idFunction = 'resourced_event_id'
const revisionIdFunction = 'resourced_revision_id'
const timeFunction = 'resourced_event_time'
const attributionFunctions = {
  caller: 'resourced_change_caller',
  request: 'resourced_change_request',
  version: 'resourced_change_version',
} as const
const changeMarkFunction = 'resourced_change_mark'
const attributeFunction = 'resourced_attribute'

/** The origin of the changes of the running transaction and their mark, by connection. */
const attributions = new WeakMap<DatabaseSync, Required<Attribution>>()

/** Forgets the origin of changes, when another transaction begins. */
export function forgetAttribution(database: DatabaseSync): void {
  attributions.delete(database)
}

/** The mark of what triggers change with the running transaction; `undefined`: nobody has said who makes it. */
export function markOfChange(database: DatabaseSync): number | undefined {
  return attributions.get(database)?.mark
}

/** Registers the aggregates that triggers call. They belong to a connection. */
export function addEventFunctions(database: DatabaseSync): void {
  database.aggregate(idFunction, { start: null, step: () => null, result: newId })
  const revisionId = (position: number) => idAt(newId(), position)
  database.aggregate(revisionIdFunction, { start: 0, step: (_: number, next) => Number(next), result: revisionId })
  database.aggregate(timeFunction, { start: null, step: () => null, result: () => new Date().toISOString() })
  for (const [name, own] of Object.entries(attributionFunctions)) {
    const result = () => attributions.get(database)?.[name as keyof Attribution] ?? null
    database.aggregate(own, { start: null, step: () => null, result })
  }
  const mark = () => markOfChange(database) ?? -1
  database.aggregate(changeMarkFunction, { start: null, step: () => null, result: mark })
  database.function(attributeFunction, (caller, request, version, mark) => {
    attributions.set(database, { caller, request, version, mark } as Required<Attribution>)
    return null
  })
}

/** A random UUIDv7. */
function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

const id = `(select ${idFunction}())`
/** The id of a new revision, which SQLite gives the next position. */
const revisionId = `(select ${revisionIdFunction}(next) from
  (select coalesce(max(_row), 0) + 1 as next from "revisions"))`
const now = `(select ${timeFunction}())`
const request = `(select ${attributionFunctions.request}())`
const goesOn = goesOnSql(`(select ${changeMarkFunction}())`)
const unlessItGoesOn = ` and not ${goesOn}`

/** JSON that gives the values back exactly: texts of JSON columns are strings. */
function snapshot(row: 'new' | 'old', columns: readonly SnapshotColumn[]): string {
  if (columns.length === 0) return "'{}'"
  const members = columns.map(({ name }) => `('${name}', ${row}.${identifier(name)})`)
  return `(with members (name, value) as (values ${members.join(', ')})
    select json_group_object(name, value) from members)`
}

/** See `Dialect.attribute`. */
export function attribute({ caller, request, version, mark = newMark() }: Attribution): Sql {
  return sql`select ${raw(attributeFunction)}(${caller}, ${request}, ${version}, ${mark})`
}

/** The triggers of a table. */
export function eventTriggers(table: string, spec: EventSpec): TableTrigger[] {
  return [...(spec.hasEvents ? ofEvents(table, spec) : []), ...(spec.hasHistory ? ofHistory(table, spec) : [])]
}

/** The triggers of earlier versions: no change went on, and those of 0.1.0 did not write which request has made it. */
export function earlierEventTriggers(table: string, spec: EventSpec): TableTrigger[] {
  return eventTriggers(table, spec).flatMap(({ name, definition }) => {
    const later = definition('main').replace(unlessItGoesOn, '')
    const first = later.replace(', request_id', '').replace(`, ${request}`, '')
    return [later, first].map((text) => ({ name, definition: () => text, statements: () => [text] }))
  })
}

function triggerOf(table: string, name: string, when: string, body: readonly string[]): TableTrigger {
  // SQLite keeps the first words in capital letters.
  const text = `CREATE TRIGGER "resourced_${name}_${table}" ${when} begin ${body.join('; ')}; end`
  return { name: `resourced_${name}_${table}`, definition: () => text, statements: () => [text] }
}

type Columns = EventSpec['columns']

const revise = `insert or fail into "revisions"
      (id, collection, record_id, kind, caller, request_id, version, record, created_at, updated_at, _revision)`

function revisionsOf(table: string): string {
  return `from "revisions" where record_id = old.id and collection = '${table}'`
}

const createdKind = "'created'"

/** The values of a revision that keeps a state. Only one of a new record has none before it. */
function revisionOf(table: string, columns: Columns, row: 'new' | 'old', kind: string, origin: string): string {
  // The times of a record's states never go back. There is mostly no later one, which the index alone shows.
  const isLater = `created_at > ${timeOf(row)} order by created_at desc limit 1`
  const later = `select created_at ${revisionsOf(table)} and ${isLater}`
  const at = kind === createdKind ? timeOf(row) : `coalesce((${later}), ${timeOf(row)})`
  const state = `${snapshot(row, columns)}, ${at}, ${timeOf(row)}, ${row}._revision`
  return `${revisionId}, '${table}', ${row}.id, ${kind}, ${origin}, ${state}`
}

/** The values of the revision of a state before a change. */
function formerOf(table: string, columns: Columns): string {
  return revisionOf(table, columns, 'old', formerKind, 'null, null, null')
}

/** A sum of children changes a deleted record, too, which stays the same state. */
function isUnkept(table: string): string {
  const last = `select _revision, kind ${revisionsOf(table)} order by created_at desc, _row desc limit 1`
  return `not exists (select 1 from (${last})
    where _revision = old._revision or (old.deleted_at is not null and kind = 'deleted'))`
}

/** See `Dialect.keepState`. */
export function keepState(table: string, columns: Columns, record: string): Sql {
  const former = `select ${formerOf(table, columns)} from ${identifier(table)} as old where ${isUnkept(table)}`
  return sql`${raw(`${revise} ${former}`)} and old.id = ${record}`
}

function ofHistory(table: string, { columns }: EventSpec): TableTrigger[] {
  const { caller, version } = attributionFunctions
  const known = `(select ${caller}()), ${request}, (select ${version}())`
  // Single values: from a select that reads the same table, SQLite would first copy the row into another one.
  const kept = (kind: string) => `${revise} values (${revisionOf(table, columns, 'new', kind, known)})`
  const on = `on ${identifier(table)} for each row`
  const isChange = `(new.deleted_at is null or old.deleted_at is null) and
    (old._revision <> new._revision or (new.deleted_at is null) <> (old.deleted_at is null))`
  return [
    triggerOf(table, 'added', `after insert ${on} when new.deleted_at is null`, [kept(createdKind)]),
    // The state before, where it was not kept: the history begins with this change.
    triggerOf(table, 'begun', `before update ${on} when ${isChange} and ${isUnkept(table)}`, [
      `${revise} values (${formerOf(table, columns)})`,
    ]),
    triggerOf(table, 'altered', `after update ${on} when ${isChange}${unlessItGoesOn}`, [kept(changeKind)]),
    triggerOf(table, 'amended', `after update ${on} when ${isChange} and ${goesOn}`, [
      `update or fail "revisions" set record = ${snapshot('new', columns)}, _revision = new._revision,
        created_at = case when created_at > new.updated_at then created_at else new.updated_at end,
        updated_at = new.updated_at
        where _row = (select _row ${revisionsOf(table)} order by created_at desc, _row desc limit 1)`,
    ]),
    triggerOf(table, 'erased', `after delete ${on}`, [`delete ${revisionsOf(table)}`]),
  ]
}

function ofEvents(table: string, { columns, kept, isSoft }: EventSpec): TableTrigger[] {
  const insert = (row: 'new' | 'old', kind: string, data: string, at: string, where = '') =>
    `insert or fail into "events" (id, collection, record, kind, data, request_id, created_at, updated_at, _revision)
      select ${id}, '${table}', ${row}.id, ${kind}, ${data}, ${request}, ${at}, ${at}, 1${where}`
  const trigger = triggerOf.bind(undefined, table)
  const on = `on ${identifier(table)} for each row`
  const [live, last] = [snapshot('new', columns), snapshot('new', kept)]
  return [
    trigger('created', `after insert ${on} when new.deleted_at is null`, [
      insert('new', "'created'", live, 'new.updated_at'),
    ]),
    trigger(
      'changed',
      `after update ${on}
        when new.deleted_at is null and (old.deleted_at is not null or old._revision <> new._revision)` +
        unlessItGoesOn,
      [insert('new', liveKind, live, 'new.updated_at')],
    ),
    trigger('continued', `after update ${on} when old._revision <> new._revision and ${goesOn}`, [
      `update or fail "events" set data = ${live}, created_at = new.updated_at, updated_at = new.updated_at
        where _row = (select max(_row) from "events" where record = new.id and collection = '${table}')`,
    ]),
    trigger('deleted', `after update of deleted_at ${on} when old.deleted_at is null and new.deleted_at is not null`, [
      insert('new', "'deleted'", last, 'new.deleted_at'),
    ]),
    trigger('removed', `after delete ${on}`, [
      // Of several deletions the last one remains, unless the record was restored.
      `update or fail "events" set data = null
        where record = old.id and collection = '${table}' and data is not null
          and (kind <> 'deleted' or old.deleted_at is null or _row < (select max(_row) from "events"
            where record = old.id and collection = '${table}' and kind = 'deleted'))`,
      insert(
        ...(['old', "case when old.deleted_at is null then 'deleted' else 'purged' end"] as const),
        ...([snapshot('old', kept), now, isSoft ? '' : ' where old.deleted_at is null'] as const),
      ),
    ]),
  ]
}

/** See `Dialect.snapshotSource`. */
export function snapshotSource({ id, shown }: RecordedRow, columns: readonly SnapshotColumn[]): Sql {
  const values = columns.map(({ name }) => raw(`json_extract(${shown}, '$."${name}"') as ${identifier(name)}`))
  return raw(`(select ${id} as id, ${join(values, ', ').sql})`)
}
