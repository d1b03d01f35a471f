/**
 * Triggers of PostgreSQL: each is a function of its own, and the trigger that calls it, once for each statement. Those
 * of summaries (SUM-3): a transaction changes the rows of one slot, which no other running transaction has, so writers
 * of one group never wait for each other. Those of sums of children (`sumOf`).
 */

import { raw } from 'sql-template-tag'
import { identifier } from '../sql/columns.ts'
import type { TableTrigger } from '../sql/dialect.ts'
import {
  figureKey,
  groupColumns,
  groupText,
  type SummaryGroup,
  type SummarySpec,
  summariesTable,
  summarizedColumns,
  summaryName,
} from '../sql/kept-summaries.ts'
import { nextClockSql, nextRevisionSql } from '../sql/marks.ts'
import { boundOfTotal, groupsOf, type TotalGroup, type TotalSpec } from '../sql/totals.ts'

/** The setting of a transaction that has the origin of its changes and their mark, as JSON. */
export const origin = 'resourced.change'

/** Its value; null: unknown. */
export const known = `nullif(current_setting('${origin}', true), '')::json`
export const knownMark = `(${known} ->> 'mark')::bigint`

/**
 * Describes the trigger of a table.
 *
 * @param when the trigger fires, with `@` in place of the table
 * @param body of the function, without what it returns
 * @param declared the variables of the function
 */
export function triggerFunction(
  table: string,
  name: string,
  when: string,
  { declared, body }: { readonly declared: string; readonly body: (schema: string) => string },
): TableTrigger {
  const full = identifier(`resourced_${name}_${table}`)
  // The comment makes a trigger that fires otherwise another one.
  const definition = (schema: string) => `
-- ${when}
declare
  ${declared}
begin${body(schema)}
  return null;
end
`
  const statements = (schema: string) => [
    `create or replace function ${schema}.${full}() returns trigger language plpgsql ` +
      `as $resourced$${definition(schema)}$resourced$`,
    `create or replace trigger ${full} ${when.replace('@', identifier(table))} execute function ${schema}.${full}()`,
  ]
  return { name: `resourced_${name}_${table}`, definition, statements }
}

/** When a trigger fires that sees the rows of a whole statement as `new_rows` and `old_rows`. */
const forEachStatement = {
  added: 'after insert on @ referencing new table as new_rows for each statement',
  changed: 'after update on @ referencing old table as old_rows new table as new_rows for each statement',
  removed: 'after delete on @ referencing old table as old_rows for each statement',
} as const

/** A transaction begins with one of so many slots, by its connection. */
export const slots = 16

/** The texts of a changed figure, and all its values. */
const changedTexts = ['summary', ...groupColumns, 'figure', 'total'] as const
const changedColumns = [...changedTexts, 'count'] as const
const variables = changedColumns.map((name) => `_all_${name}`).join(', ')

/** The advisory lock of a slot, as two numbers. */
const slotLock = (table: string, slot: string) => `'${table}'::regclass::oid::int, ${slot}`

/** See `Dialect.takeSlots`. */
export const takeSlots = raw(`select slot from (select distinct slot from ${summariesTable} offset 0) slots
  where pg_try_advisory_xact_lock(${slotLock(summariesTable, 'slot::int')})`)

/** The triggers of a table that keep its summaries. */
export function summaryTriggers(table: string, specs: readonly SummarySpec[]): TableTrigger[] {
  if (specs.length === 0) return []
  const columns = summarizedColumns(specs).map(identifier)
  const rows = (from: string, count: 1 | -1) =>
    `select ${[`${count} as _count`, ...columns].join(', ')} from ${from} where deleted_at is null`
  const trigger = (name: keyof typeof forEachStatement, changed: readonly string[]) =>
    triggerFunction(table, `kept_${name}`, forEachStatement[name], {
      declared: `_slot integer := pg_backend_pid() & ${slots - 1};
  ${changedTexts.map((name) => `_all_${name} text[];`).join(' ')}
  _all_count bigint[];`,
      // Citus takes no statement that reads the rows of a trigger and a table.
      body: (schema) => `
  with changed as materialized (${changed.join(' union all ')})
  select ${changedColumns.map((name) => `array_agg(${name})`).join(', ')} into ${variables}
    from (${specs.flatMap((spec) => figuresOf(table, spec)).join(' union all ')}) figures
    where count <> 0 or total <> 0;
  if _all_count is null then
    return null;
  end if;
  while not pg_try_advisory_xact_lock(${slotLock(`${schema}.${summariesTable}`, '_slot')}) loop
    -- There are fewer transactions than slots, however many have the first ones.
    _slot := _slot + ${slots};
  end loop;
  insert into ${schema}.${summariesTable} as kept (${figureKey.join(', ')}, count, total)
    select summary, ${groupColumns.join(', ')}, figure, _slot, count, total
      from unnest(${variables}) as figures (${changedColumns.join(', ')})
    on conflict (${figureKey.join(', ')}) do update set count = kept.count + excluded.count,
      total = (kept.total::numeric + excluded.total::numeric)::text;`,
    })
  const [added, removed] = [rows('new_rows', 1), rows('old_rows', -1)]
  return [trigger('added', [added]), trigger('changed', [removed, added]), trigger('removed', [removed])]
}

/** Selects what changed rows add to the figures of a summary. */
function figuresOf(table: string, spec: SummarySpec): string[] {
  const groups = groupColumns.map((name, index) => `${groupOf(spec.groups[index])} as ${name}`)
  const select = (figure: string, total: string, given: string) =>
    `select '${summaryName(table, spec)}' as summary, ${groups.join(', ')}, '${figure}' as figure,
        sum(_count) as count, ${total} as total from changed${given} group by 2, 3, 4`
  return [
    select('', 'null::numeric', ''),
    ...spec.sums.map(({ column }) => {
      const value = identifier(column)
      return select(column, `sum(_count * ${value}::numeric)`, ` where ${value} is not null`)
    }),
  ]
}

function groupOf(group: SummaryGroup | undefined): string {
  if (group === undefined) return "''::text"
  const column = identifier(group.column)
  return groupText(group.characters === undefined ? column : `substr(${column}, 1, ${group.characters})`, group)
}

/** The code of the error of a sum that is too large; its message is the name of the field that is added up. */
export const totalTooLargeCode = 'RS001'

/** The triggers of a table whose sums other tables hold. */
export function totalTriggers(table: string, specs: readonly TotalSpec[]): TableTrigger[] {
  if (specs.length === 0) return []
  const groups = groupsOf(specs)
  const rows = (from: string, factor: 1 | -1, group: TotalGroup) => {
    const reference = identifier(group[0].reference)
    const amounts = group.map(
      ({ amount }, index) => `${factor} * coalesce(${identifier(amount)}::numeric, 0) as _${index}`,
    )
    return `select ${reference} as _parent, ${amounts.join(', ')} from ${from}
        where deleted_at is null and ${reference} is not null`
  }
  const most = Math.max(...groups.map(({ length }) => length))
  const trigger = (name: keyof typeof forEachStatement, changed: (group: TotalGroup) => readonly string[]) =>
    triggerFunction(table, `total_${name}`, forEachStatement[name], {
      declared: `_now text := to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  _large text;
  _parents text[] collate "C";
  ${Array.from({ length: most }, (_, index) => `_amounts${index} numeric[];`).join('\n  ')}
  -- Citus refuses functions such as random() in an UPDATE.
  _mark bigint := coalesce(${knownMark}, (1 + floor(random() * 4294967295)::bigint) * 1048576);
  _stride bigint := 1 + floor(random() * 1099511627774)::bigint;
  _slot integer := pg_backend_pid() & ${slots - 1};`,
      body: (schema) => `
${groups.map((group) => changeOf(schema, group, changed(group))).join('\n')}`,
    })
  return [
    trigger('added', (group) => [rows('new_rows', 1, group)]),
    trigger('changed', (group) => [rows('old_rows', -1, group), rows('new_rows', 1, group)]),
    trigger('removed', (group) => [rows('old_rows', -1, group)]),
  ]
}

/** The statement that changes the sums of the records that changed rows refer to, in the order of their ids. */
function changeOf(schema: string, group: TotalGroup, changed: readonly string[]): string {
  const [{ parent }] = group
  const table = `${schema}.${identifier(parent)}`
  const each = (text: (index: number) => string, separator = ', ') =>
    group.map((_, index) => text(index)).join(separator)
  const next = nextRevisionSql(0).strings.join('_mark').replaceAll('_revision', 'held._revision')
  const stride = nextClockSql(0).strings.join('_stride')
  const large = group.map((spec, index) => {
    const bound = boundOfTotal(spec)
    const limit = spec.scale === null ? String(bound) : `${bound}::numeric / 1${'0'.repeat(spec.scale)}`
    return `when abs(total${index}) >= ${limit} then '${spec.amount}'`
  })
  // Citus takes no statement that reads the rows of a trigger and a table. A table may hold sums of its own rows: even
  // an update of no row calls the trigger again.
  return `  select array_agg(_parent), ${each((index) => `array_agg(_${index})`)}
      into _parents, ${each((index) => `_amounts${index}`)}
    from (select _parent, ${each((index) => `sum(_${index}) as _${index}`)}
      from (${changed.join('\n        union all ')}) changed
      group by _parent having ${each((index) => `sum(_${index}) <> 0`, ' or ')}) delta;
  if _parents is not null then
  with locked as materialized (select found.id, ${each((index) => `delta._${index}`)} from ${table} found
      join unnest(_parents, ${each((index) => `_amounts${index}`)})
        as delta (_parent, ${each((index) => `_${index}`)}) on delta._parent = found.id
      order by found.id for no key update of found),
    written as (update ${table} held set ${group.map(settingsOf).join(', ')},
        _revision = ${next},
        updated_at = case when held.deleted_at is null then greatest(held.updated_at, _now) else held.updated_at end
      from locked where held.id = locked.id
      returning ${group.map(boundedOf).join(', ')}),
    ticked as (update ${schema}.resourced_clocks set revision = ${stride}
      where collection = '${parent}' and slot = _slot and exists (select 1 from written))
    select max(case ${large.join(' ')} end) into _large from written;
  end if;
  if _large is not null then
    raise exception using errcode = '${totalTooLargeCode}', message = _large;
  end if;`
}

/** Gives a sum whose size is decided. That of a deleted record is not: a job deletes what it adds up in parts. */
function boundedOf({ column }: TotalSpec, index: number): string {
  return `case when held.deleted_at is null then held.${identifier(column)}::numeric end as total${index}`
}

/** Sets a sum and its comparison key. */
function settingsOf({ column, key, scale }: TotalSpec, index: number): string {
  const sum = `(held.${identifier(column)}::numeric + locked._${index})`
  const total = `${identifier(column)} = ${sum}::${scale === null ? 'bigint' : 'text'}`
  if (key === null) return total
  const digits = `ltrim(split_part(trim_scale(abs(${sum}))::text, '.', 1), '0')`
  const plain = `lpad(length(${digits})::text, 2, '0') || ${digits}
        || split_part(trim_scale(abs(${sum}))::text, '.', 2)`
  return `${total}, ${identifier(key)} = case when ${sum} < 0
        then '0' || translate(${plain}, '0123456789', '9876543210') || '~' else '1' || ${plain} end`
}
