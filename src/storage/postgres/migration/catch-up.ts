/** What an older version stored, under the names and in the form of the current one. */
import type { ClientBase } from 'pg'
import type { MigrationStep } from '../../migration/migration-step.ts'
import { renameEpoch } from '../../sql/epoch.ts'
import { postgres } from '../engine.ts'
import { type BatchRow, rewrite } from './batches.ts'
import { replaceColumn, storedColumn } from './records.ts'
import { keepNames } from './remembered.ts'
import { query } from './session.ts'
import { storedText, storedValue } from './stored-values.ts'

const quote = postgres.identifier

/** Gives a table another name, and with it all that goes by its name. */
export async function renameTable(client: ClientBase, from: string, to: string): Promise<void> {
  await query(client, `alter table ${quote(from)} rename to ${quote(to)}`)
  await query(client, 'update resourced_clocks set collection = $2 where collection = $1', [from, to])
  await query(client, 'update resourced_queue set collection = $2 where collection = $1', [from, to])
  for (const row of await query(client, 'select job, state from resourced_work')) {
    const state = JSON.parse(String(row['state']))
    if (state?.collection !== from) continue
    const renamed = JSON.stringify({ ...state, collection: to })
    await query(client, 'update resourced_work set state = $2 where job = $1', [row['job'], renamed])
  }
  await query(client, renameEpoch(from, to))
  await keepNames(client, from, { name: to })
}

/** @param columns new names by the old ones, which may be each other's */
export async function renameColumns(
  client: ClientBase,
  table: string,
  columns: ReadonlyMap<string, string>,
): Promise<void> {
  const rename = (from: string, to: string) =>
    query(client, `alter table ${quote(table)} rename column ${quote(from)} to ${quote(to)}`)
  for (const from of columns.keys()) await rename(from, `_renamed_${from}`)
  for (const [from, to] of columns) await rename(`_renamed_${from}`, to)
  await keepNames(client, table, { column: (each) => ({ ...each, name: columns.get(each.name) ?? each.name }) })
}

/**
 * Gives values the form that a declared change says. Records keep their revision: older clients see what they saw, and to
 * newer ones it is new.
 *
 * @throws Error with the record whose value cannot be converted
 */
export async function convertColumn(
  client: ClientBase,
  { table, column, from, conversion, field }: Extract<MigrationStep, { kind: 'convert-column' }>,
): Promise<void> {
  const newer = ({ id, texts }: BatchRow) => {
    const converted = conversion.newer(storedValue(texts[0]!, from)) ?? null
    if (converted === null || field.validate(converted).length === 0) return storedText(converted, column.holds)
    throw new Error(
      `The record ${id} of ${table} cannot be brought to the current version: the conversion of ${column.name} makes a value that its schema does not allow.`,
    )
  }
  await replaceColumn(client, table, column, async (to) => {
    await rewrite(client, {
      table,
      from: [column.name],
      condition: `${quote(column.name)} is not null`,
      to: [storedColumn(to, column, newer)],
    })
  })
  await keepNames(client, table, {
    column: (each) => (each.name === column.name ? { ...each, holds: column.holds } : each),
  })
}
