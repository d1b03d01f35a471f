/** What a migration does to records: new values, and a new revision where anybody can see the difference. */
import type { ClientBase } from 'pg'
import { timestamp } from '../../../model/time.ts'
import { isWider } from '../../migration/convert.ts'
import { isSystemTable } from '../../sql/system-tables.ts'
import type { Held } from '../../sql/table-spec.ts'
import type { ColumnSpec } from '../../sql/tables.ts'
import { postgres } from '../engine.ts'
import { batches, type Made, type Rewriting, rewrite } from './batches.ts'
import { change, query } from './session.ts'
import { convertText, storedText } from './stored-values.ts'

const quote = postgres.identifier

/** How many values of a column have no exact counterpart in another type. */
export async function countInconvertible(
  client: ClientBase,
  { table, column, from, to }: { table: string; column: string; from: Held; to: Held },
): Promise<number> {
  let count = 0
  for await (const rows of batches(client, table, [column], `${quote(column)} is not null`)) {
    count += rows.filter(({ texts }) => convertText(texts[0]!, from, to) === null).length
  }
  return count
}

/** Gives a column another type. Values that have none in it are `null` afterwards. */
export async function changeType(
  client: ClientBase,
  table: string,
  column: ColumnSpec,
  { from, lossless, now }: { from: Held; lossless: boolean; now: number },
): Promise<void> {
  await replaceColumn(client, table, column, async (to) => {
    const rewriting = {
      table,
      from: [column.name],
      condition: `${quote(column.name)} is not null`,
      to: [storedColumn(to, column, ({ texts }) => convertText(texts[0]!, from, column.holds))],
    }
    if (lossless && isWider(from, column.holds)) await rewrite(client, rewriting)
    else await changing(client, table, now, (also) => rewrite(client, { ...rewriting, also }))
  })
}

/** A column into which texts of its values are written. */
export function storedColumn(name: string, { type }: ColumnSpec, make: Made['make']): Made {
  return { column: name, value: (text) => `${text}::${postgres.types[type]}`, make }
}

/** Makes a column anew beside itself, and puts it in its own place. */
export async function replaceColumn(
  client: ClientBase,
  table: string,
  column: ColumnSpec,
  fill: (name: string) => Promise<void>,
): Promise<void> {
  const made = { ...column, name: `_changed_${column.name}` }
  await query(client, `alter table ${quote(table)} add column ${postgres.columnDefinition(made)}`)
  await fill(made.name)
  await query(client, `alter table ${quote(table)} drop column ${quote(column.name)}`)
  await query(client, `alter table ${quote(table)} rename column ${quote(made.name)} to ${quote(column.name)}`)
}

/** Gives a column's default to the rows that have no value. */
export async function fillDefault(client: ClientBase, table: string, column: ColumnSpec, now: number): Promise<void> {
  const name = quote(column.name)
  const value = storedText(column.default, column.holds)
  await changing(client, table, now, ({ assignments, values }) => {
    const assigned = [`${name} = $1::${postgres.types[column.type]}`, assignments((index) => `$${2 + index}`)]
    const update = `update ${quote(table)} set ${assigned.filter((each) => each !== '').join(', ')}`
    return change(client, `${update} where ${name} is null`, [value, ...values])
  })
}

/** Changes values of records: they get a new revision and `updated_at` (RES-5), so that no cache keeps what they were. */
async function changing(
  client: ClientBase,
  table: string,
  now: number,
  work: (also: NonNullable<Rewriting['also']>) => Promise<number>,
): Promise<void> {
  if (isSystemTable(table)) {
    await work({ assignments: () => '', values: [] })
    return
  }
  const newest = 'select sum(revision) as revision from resourced_clocks where collection = $1'
  const [clock] = await query(client, newest, [table])
  const changed = await work({
    assignments: (parameter) =>
      `_revision = greatest(_revision + 1, ${parameter(0)}::bigint), updated_at = ${parameter(1)}`,
    values: [Number(clock?.['revision'] ?? 0) + 1, timestamp(now)],
  })
  if (changed === 0) return
  await query(client, 'update resourced_clocks set revision = revision + 1 where collection = $1 and slot = 0', [table])
}

/**
 * Counts a collection's records, all into the first slot. The sum of its revisions never goes back, even where the table was
 * lost and is made again.
 */
export async function setClock(client: ClientBase, table: string): Promise<void> {
  const known = await query(client, 'select 1 as one from resourced_clocks where collection = $1 limit 1', [table])
  await query(
    client,
    `insert into resourced_clocks (collection, slot, revision, live, deleted)
       select $1, made.slot, 0, 0, 0 from generate_series(0, $2::bigint - 1) as made (slot)
       where not exists (select 1 from resourced_clocks as c where c.collection = $1 and c.slot = made.slot)`,
    [table, postgres.layout.clockSlots],
  )
  await query(
    client,
    `update resourced_clocks as c set
       revision = case when c.slot > 0 then c.revision
         else c.revision + greatest(counted.newest - summed.revision, 0) + $2::bigint end,
       live = case when c.slot > 0 then 0 else counted.live end,
       deleted = case when c.slot > 0 then 0 else counted.deleted end
     from (select coalesce(max(_revision), 0) as newest, count(*) - count(deleted_at) as live, count(deleted_at) as deleted
             from ${quote(table)}) as counted,
          (select sum(revision)::bigint as revision from resourced_clocks where collection = $1) as summed
     where c.collection = $1`,
    [table, known.length],
  )
}
