/** The triggers that keep sums of children (`sumOf`), once for each statement. */
import { identifier } from '../sql/columns.ts'
import type { TableTrigger } from '../sql/dialect.ts'
import { nextClockSql, nextRevisionSql } from '../sql/marks.ts'
import { boundOfTotal, type TotalSpec } from '../sql/totals.ts'
import { slots } from './summary-triggers.ts'
import { forEachStatement, triggerFunction } from './trigger-function.ts'

/** The code of the error of a sum that is too large; its message is the name of the field that is added up. */
export const totalTooLargeCode = 'RS001'

/** The triggers of a table whose sums other tables hold. */
export function totalTriggers(table: string, specs: readonly TotalSpec[]): TableTrigger[] {
  if (specs.length === 0) return []
  const rows = (from: string, factor: 1 | -1, { reference, amount }: TotalSpec) =>
    `select ${identifier(reference)} as _parent, ${factor} * ${identifier(amount)}::numeric as _amount from ${from}
        where deleted_at is null and ${identifier(reference)} is not null and ${identifier(amount)} is not null`
  const trigger = (name: keyof typeof forEachStatement, changed: (spec: TotalSpec) => readonly string[]) =>
    triggerFunction(table, `total_${name}`, forEachStatement[name], {
      declared: `_now text := to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  _large boolean;`,
      body: (schema) => `
${specs.map((spec) => changeOf(schema, spec, changed(spec))).join('\n')}`,
    })
  return [
    trigger('added', (spec) => [rows('new_rows', 1, spec)]),
    trigger('changed', (spec) => [rows('old_rows', -1, spec), rows('new_rows', 1, spec)]),
    trigger('removed', (spec) => [rows('old_rows', -1, spec)]),
  ]
}

/** The statement that changes the sums of the records that changed rows refer to, in the order of their ids. */
function changeOf(schema: string, spec: TotalSpec, changed: readonly string[]): string {
  const { parent, column, key, scale, amount } = spec
  const [table, total] = [`${schema}.${identifier(parent)}`, `held.${identifier(column)}`]
  const sum = `${total}::numeric + locked._amount`
  const type = scale === null ? 'bigint' : 'text'
  const keySum = `(${sum})`
  const digits = `ltrim(split_part(trim_scale(abs(${keySum}))::text, '.', 1), '0')`
  const plain = `lpad(length(${digits})::text, 2, '0') || ${digits}
        || split_part(trim_scale(abs(${keySum}))::text, '.', 2)`
  const keyText = `case when ${keySum} < 0 then '0' || translate(${plain}, '0123456789', '9876543210') || '~'
        else '1' || ${plain} end`
  const filled = (text: string, value: string) => text.replace('?', value)
  const next = filled(
    nextRevisionSql('?' as never).strings.join('?'),
    '(1 + floor(random() * 4294967295)::bigint) * 1048576',
  ).replaceAll('_revision', 'held._revision')
  const stride = filled(nextClockSql('?' as never).strings.join('?'), '(1 + floor(random() * 1099511627774)::bigint)')
  const bound = boundOfTotal(spec)
  const limit = scale === null ? String(bound) : `${bound}::numeric / 1${'0'.repeat(scale)}`
  return `  with changed as (${changed.join('\n      union all ')}),
    delta as (select _parent, sum(_amount) as _amount from changed group by _parent having sum(_amount) <> 0),
    locked as materialized (select found.id, delta._amount from ${table} found join delta on delta._parent = found.id
      order by found.id for no key update of found),
    written as (update ${table} held set ${identifier(column)} = (${sum})::${type},
        ${key === null ? '' : `${identifier(key)} = ${keyText},`}
        _revision = ${next},
        updated_at = case when held.deleted_at is null then _now else held.updated_at end
      from locked where held.id = locked.id returning ${total}::numeric as total),
    ticked as (update ${schema}.resourced_clocks set revision = ${stride}
      where collection = '${parent}' and slot = (pg_backend_pid() & ${slots - 1}) and exists (select 1 from written))
    select bool_or(abs(total) >= ${limit}) into _large from written;
  if _large then
    raise exception using errcode = '${totalTooLargeCode}', message = '${amount}';
  end if;`
}
