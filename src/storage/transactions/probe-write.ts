/** The change by which a server finds out whether the database takes changes: a row of `resourced_meta` that nobody reads (OPS-5). */
import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { last, type Transaction } from '../transaction.ts'

/** The key of the row. */
export const probeKey = 'write_probe'

/** Writes the row anew, with so many bytes at least: by chance, so that no engine makes them fewer. */
export function* probeWrite(bytes: number): Transaction<void> {
  const value = randomBytes(Math.max(bytes, 16)).toString('base64url')
  yield last(
    sql`insert into resourced_meta (key, value) values (${probeKey}, ${value}) on conflict (key) do update set value = excluded.value`,
  )
}
