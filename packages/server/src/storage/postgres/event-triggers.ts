/**
 * The triggers that write events (EVT-1) and revisions (HIS-1), what they wrote read as a row again, and the horizon:
 * the position up to which no event can appear any more.
 */
import sql, { raw, type Sql } from 'sql-template-tag'
import { identifier, type RecordedRow, type SnapshotColumn } from '../sql/columns.ts'
import type { Attribution, TableTrigger } from '../sql/dialect.ts'
import { changeKind, type EventSpec, formerKind, goesOnSql, liveKind, timeOf } from '../sql/event-columns.ts'
import { newMark } from '../sql/marks.ts'
import { known, knownMark, origin, triggerFunction } from './triggers.ts'

/** The code of the error of a change that another node of Citus has passed on, because it had the schema before. */
export const movedCode = 'RS002'

/** The setting of a transaction: empty, `locked` once its first position is announced, or `silent`. */
const state = 'resourced.events'

const goesOn = goesOnSql(`coalesce(${knownMark}, -1)`)

/** The call that sets it. */
export function attributed(attribution: Attribution): Sql {
  return sql`set_config(${raw(`'${origin}'`)}, ${JSON.stringify({ mark: newMark(), ...attribution })}, true)`
}

/** See `Dialect.attribute`. */
export function attribute(attribution: Attribution): Sql {
  return sql`select ${attributed(attribution)}`
}

/** Lets a transaction change records without events: migrations only bring them into another form. */
export const silence = raw(`set local ${state} = 'silent'`)

const sequence = 'events__row_seq'

/** The last value that was given; the sequence begins with 1. */
const lastValue = 'case when is_called then last_value else last_value - 1 end'

/** The lower 32 bits of a position as the second number of an advisory lock. The first is the id of the sequence. */
const low = (position: string) => `(((${position}) << 32) >> 32)::int`

/**
 * Before its first position, a transaction announces that it takes positions after the present one: by a shared lock,
 * which nobody waits for. A transaction has one lock, however many records it changes.
 */
const sequenceOf = (schema: string) => `'${schema}.${sequence}'::regclass`

const announce = (schema: string) => `
  if _state is null or _state = '' then
    -- One expression, for which PL/pgSQL starts no query.
    _state := set_config('${state}', 'locked' || pg_advisory_xact_lock_shared(${sequenceOf(schema)}::oid::int,
      ${low(`coalesce(pg_sequence_last_value(${sequenceOf(schema)}), 0)`)})::text, true);
  end if;`

/**
 * The horizon. The sequence is read first, then the locks: a transaction whose lock is not seen here has ended, or
 * takes positions after this value. To read the locks, the value must be there.
 */
export const horizon: Sql = raw(`select least(s.last, (
    select min(case when l.position > s.last then l.position - 4294967296 else l.position end)
      from (select ((s.last >> 32) << 32) | objid::bigint as position from pg_locks
        where locktype = 'advisory' and objsubid = 2 and classid = '${sequence}'::regclass::oid
          and database = (select oid from pg_database where datname = current_database())) l)) as horizon, s.last
  from (select ${lastValue} as last from ${sequence} offset 0) s`)

/** The hexadecimal digits of the time: there are twelve until the year 2527, the first of them 0. */
const time = `'0' || to_hex((date_part('epoch', clock_timestamp()) * 1000)::bigint)`
/** A random UUIDv7. */
const id = `substr(_made, 1, 8) || '-' || substr(_made, 9, 4) || '-7' || substr(gen_random_uuid()::text, 16)`
/** The id of a revision ends with its position (`idAt`). */
const revisionId = `substr(_made, 1, 8) || '-' || substr(_made, 9, 4) || '-7' ||
  substr(gen_random_uuid()::text, 16, 9) || lpad(to_hex(_position), 12, '0')`
const now = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A row whose JSON gives the values back exactly: texts of JSON columns are strings. */
function snapshot(row: string, columns: readonly SnapshotColumn[]): string {
  const values = columns.map(({ name, type }) => {
    const column = identifier(name)
    return type === 'json' ? `${row}.${column}::text as ${column}` : `${row}.${column}`
  })
  return `(select ${values.join(', ')}) as _snapshot`
}

/** The triggers of a table. */
export function eventTriggers(table: string, spec: EventSpec): TableTrigger[] {
  return [...(spec.hasEvents ? ofEvents(table, spec) : []), ...(spec.hasHistory ? ofHistory(table, spec) : [])]
}

const revisionColumns =
  '(_row, id, collection, record_id, kind, caller, request_id, version, record, created_at, updated_at, _revision)'

/** The values of a revision that keeps a state, selected from it as `_snapshot`, and from the next `_position`. */
function revisionOf(...[table, row, kind, at, from]: string[]): string {
  const own = `_position, ${revisionId}, '${table}', ${row}.id, ${kind}, ${from}`
  return `${own}, to_json(_snapshot), ${at}, ${timeOf(row as 'new' | 'old')}, ${row}._revision`
}

const nextPosition = (schema = '') => `nextval('${schema}revisions__row_seq'::regclass) as _position`

const formerTime = `greatest(${timeOf('old')}, _last.created_at)`

/** The last state is not the one before a change. A sum of children changes a deleted record, too: the same state. */
const isUnkept = `old._revision is distinct from _last._revision
  and (old.deleted_at is null or _last.kind is distinct from 'deleted')`

/** See `Dialect.keepState`. */
export function keepState(table: string, columns: readonly SnapshotColumn[], record: string): Sql {
  const last = `select _revision, kind, created_at from revisions where record_id = old.id and collection = '${table}'
    order by created_at desc, _row desc limit 1`
  const kept = `insert into revisions ${revisionColumns}
    select ${revisionOf(table, 'old', formerKind, formerTime, 'null, null, null')}
      from ${identifier(table)} as old cross join lateral (select ${time} as _made) made
        cross join lateral ${snapshot('old', columns)} cross join lateral ${nextPosition()}
        left join lateral (${last}) _last on true
      where ${isUnkept}`
  return sql`${raw(kept)} and old.id = ${record}`
}

function ofHistory(table: string, { columns }: EventSpec): TableTrigger[] {
  const insert = (...[schema, row, kind, at, from, where = '']: string[]) => `
  insert into ${schema}.revisions
    ${revisionColumns}
    select ${revisionOf(table, row!, kind!, at!, from!)}
      from ${snapshot(row!, columns)}, ${nextPosition(`${schema}.`)}${where};`
  const values = "_origin ->> 'caller', _origin ->> 'request', _origin ->> 'version'"
  const declared = `
  _origin json := ${known};`
  return [
    triggerOf(
      ...([table, 'added', 'after insert on @ for each row when (new.deleted_at is null)'] as const),
      (schema) => insert(schema, 'new', "'created'", 'new.updated_at', values),
      declared,
    ),
    triggerOf(
      ...([table, 'altered'] as const),
      'after update on @ for each row when ((new.deleted_at is null or old.deleted_at is null) and ' +
        '(old._revision <> new._revision or (new.deleted_at is null) <> (old.deleted_at is null)))',
      (schema) => `
  select _row, _revision, kind, created_at from ${schema}.revisions where record_id = old.id and collection = '${table}'
    order by created_at desc, _row desc limit 1 into _last;
  if ${goesOn} then
    update ${schema}.revisions set record = to_json(_snapshot), created_at = greatest(new.updated_at, _last.created_at),
        updated_at = new.updated_at, _revision = new._revision
      from ${snapshot('new', columns)} where _row = _last._row;
    return null;
  end if;
  -- The state before, where it was not kept: the history begins with this change.
  if ${isUnkept} then${insert(...([schema, 'old', formerKind, formerTime, 'null, null, null'] as const))}
  end if;
  -- The times of a record's states never go back.${insert(
    ...([schema, 'new', changeKind, `greatest(${timeOf('new')}, ${formerTime})`, values] as const),
  )}`,
      `${declared}
  _last record;`,
    ),
    triggerOf(
      ...([table, 'erased', 'after delete on @ referencing old table as gone for each statement'] as const),
      (schema) => `
  _ids := array(select gone.id from gone);
  delete from ${schema}.revisions where record_id = any(_ids) and collection = '${table}';`,
      `${declared}
  _ids text[] collate "C";`,
    ),
  ]
}

function triggerOf(
  table: string,
  name: string,
  on: string,
  body: (schema: string) => string,
  declared = '',
): TableTrigger {
  return triggerFunction(table, name, on, {
    declared: `_state text := current_setting('${state}', true);
  _made text := ${time};${declared}`,
    body: (schema) => `
  if _state = 'silent' then
    return null;
  end if;
  -- Of a change that another node of Citus passes on, who made it is not known here.
  if current_setting('application_name') like 'citus\\_internal%' then
    raise exception using errcode = '${movedCode}', message = 'This change came from another node.';
  end if;${body(schema)}`,
  })
}

function ofEvents(table: string, { columns, kept, isSoft }: EventSpec): TableTrigger[] {
  const insert = (schema: string, kind: string, at: string, from: string, row = 'new', data = 'to_json(_snapshot)') => `
  insert into ${schema}.events (id, collection, record, kind, data, request_id, created_at, updated_at, _revision)
    select ${id}, '${table}', ${row}.id, ${kind}, ${data}, ${known} ->> 'request', ${at}, ${at}, 1
      from ${from};`
  const trigger = (name: string, on: string, body: (schema: string) => string, declared = '') =>
    triggerOf(table, name, on, body, declared)
  const [live, last] = [snapshot('new', columns), snapshot('new', kept)]
  const writing = (...[kind, at, from]: [kind: string, at: string, from: string]) => {
    return (schema: string) => `${announce(schema)}${insert(schema, kind, at, from)}`
  }
  const removedKind = "case when gone.deleted_at is null then 'deleted' else 'purged' end"
  return [
    trigger(
      'created',
      'after insert on @ for each row when (new.deleted_at is null)',
      writing("'created'", 'new.updated_at', live),
    ),
    trigger(
      'changed',
      'after update on @ for each row when (new.deleted_at is null ' +
        'and (old.deleted_at is not null or old._revision <> new._revision))',
      (schema) => `
  if ${goesOn} then
    update ${schema}.events set data = to_json(_snapshot), created_at = new.updated_at, updated_at = new.updated_at
      from ${live} where _row = (select max(_row) from ${schema}.events
        where record = new.id and collection = '${table}');
    return null;
  end if;${writing(liveKind, 'new.updated_at', live)(schema)}`,
    ),
    trigger(
      'deleted',
      'after update of deleted_at on @ for each row when (old.deleted_at is null and new.deleted_at is not null)',
      writing("'deleted'", 'new.deleted_at', last),
    ),
    // Many rows are removed by one statement.
    trigger(
      'removed',
      'after delete on @ referencing old table as gone for each statement',
      // Citus takes no statement that reads the rows of a trigger and a table.
      (schema) => `
  _ids := array(select gone.id from gone);
  if cardinality(_ids) = 0 then
    return null;
  end if;
  _live := array(select gone.id from gone where gone.deleted_at is null);
  -- Of several deletions the last one remains, unless the record was restored.
  update ${schema}.events as earlier set data = null
    where record = any(_ids) and collection = '${table}' and data is not null
      and (kind <> 'deleted' or record = any(_live)
        or exists (select 1 from ${schema}.events as later where later.record = earlier.record
          and later.collection = '${table}' and later.kind = 'deleted' and later._row > earlier._row));
  select array_agg(gone.id order by gone._row), array_agg(${removedKind} order by gone._row),
      array_agg(to_json(_snapshot) order by gone._row)
    into _ids, _kinds, _data from gone, lateral ${snapshot('gone', kept)}
    ${isSoft ? '' : 'where gone.deleted_at is null'};
  if _ids is not null then${announce(schema)}${insert(
    ...([
      schema,
      'gone.kind',
      now,
      'unnest(_ids, _kinds, _data) as gone (id, kind, data)',
      'gone',
      'gone.data',
    ] as const),
  )}
  end if;`,
      `
  _ids text[] collate "C";
  _live text[] collate "C";
  _kinds text[];
  _data json[];`,
    ),
  ]
}

/** See `Dialect.snapshotSource`. */
export function snapshotSource({ id, shown }: RecordedRow, columns: readonly SnapshotColumn[]): Sql {
  const types = {
    text: 'text collate "C"',
    integer: 'bigint',
    real: 'double precision',
    boolean: 'boolean',
    json: 'text',
  }
  const defined = columns.map(({ name, type }) => `${identifier(name)} ${types[type]}`)
  const values = columns.map(({ name, type }) => {
    const column = `d.${identifier(name)}`
    return type === 'json' ? `${column}::json as ${identifier(name)}` : column
  })
  const selected = [`${id} as id`, ...values].join(', ')
  return raw(`(select ${selected} from json_to_record(${shown}) as d (${defined.join(', ')}))`)
}
