/** Whether another process is writing rows at the moment, so that a test can kill it in the middle. */
import { DatabaseSync } from 'node:sqlite'
import { query } from '../postgres/query.ts'

/**
 * Whether a transaction that is not committed yet has written to a table. On SQLite any transaction that writes counts.
 *
 * @param address as `--database` takes it
 */
export async function isWriting(address: string, table: string): Promise<boolean> {
  if (!address.startsWith('sqlite:')) {
    const text = `select 1 from pg_locks join pg_class c on c.oid = relation
      where c.relname = '${table}' and mode = 'RowExclusiveLock'`
    return (await query(address, text)).length > 0
  }
  const database = new DatabaseSync(address.slice('sqlite:'.length))
  try {
    database.exec('begin immediate; rollback')
    return false
  } catch {
    return true
  } finally {
    database.close()
  }
}
