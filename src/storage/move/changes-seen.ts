/** Whether a database has changed: by what every change of it leaves behind. */
import sql from 'sql-template-tag'
import type { Row, Statement } from '../transaction.ts'
import { clockSums } from './clock-sums.ts'

const marks = [
  clockSums,
  sql`select job, state from resourced_work order by job`,
  sql`select count(*) as count, max(_row) as last from resourced_queue`,
  sql`select count(*) as count, max(created_at) as last from resourced_idempotency`,
]

/** A text that is another one after every change that servers make. */
export async function changesSeen(all: (statement: Statement) => Promise<Row[]>): Promise<string> {
  const found: Row[][] = []
  for (const mark of marks) found.push(await all(mark))
  return JSON.stringify(found)
}
