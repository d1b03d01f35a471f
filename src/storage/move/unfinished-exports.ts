/** Exports that are being written: what there is of their files stays behind, and they begin again. What is shown of them stays. */
import sql from 'sql-template-tag'
import type { MovedTable } from './moved-tables.ts'
import type { MovedRow } from './parts.ts'

/** Which there are. */
export const unfinishedExports = sql`select job from resourced_work where task = 'export'`

/** The rows of a table as they move: an export has written nothing yet. */
export function beginAgain({ name, columns }: MovedTable, rows: readonly MovedRow[]): readonly MovedRow[] {
  if (name !== 'resourced_work') return rows
  const [task, state] = ['task', 'state'].map((each) => columns.findIndex((column) => column.name === each))
  return rows.map((row) =>
    row[task!] === 'export'
      ? row.with(state!, JSON.stringify({ ...JSON.parse(String(row[state!])), count: 0, bytes: 0, after: null }))
      : row,
  )
}
