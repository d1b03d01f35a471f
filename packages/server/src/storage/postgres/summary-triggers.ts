/**
 * The triggers that keep summaries (SUM-3), once for each statement. A transaction changes the rows of one slot, which
 * no other running transaction has: so writers of one group never wait for each other.
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
import { forEachStatement, triggerFunction } from './trigger-function.ts'

/** A transaction begins with one of so many slots, by its connection. */
export const slots = 16

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
      declared: `_slot integer := pg_backend_pid() & ${slots - 1};`,
      body: (schema) => `
  while not pg_try_advisory_xact_lock(${slotLock(`${schema}.${summariesTable}`, '_slot')}) loop
    -- There are fewer transactions than slots, however many have the first ones.
    _slot := _slot + ${slots};
  end loop;
  insert into ${schema}.${summariesTable} as kept (${figureKey.join(', ')}, count, total)
    with changed as materialized (${changed.join(' union all ')})
    select summary, ${groupColumns.join(', ')}, figure, _slot, count, total::text
      from (${specs.flatMap((spec) => figuresOf(table, spec)).join(' union all ')}) figures
      where count <> 0 or total <> 0
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
