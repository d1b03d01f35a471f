/** Whether PostgreSQL keeps what it has acknowledged through a power cut. */
import type { ClientBase } from 'pg'
import { StorageFault } from '../storage.ts'
import { query } from './session.ts'

const meanings: Readonly<Record<string, string>> = {
  fsync: 'it does not wait for the disk, and a power cut can destroy the whole database',
  full_page_writes: 'a power cut while it writes can destroy the whole database',
  synchronous_commit: 'it acknowledges changes before they are on the disk, and a power cut loses them',
}

const remedies: Readonly<Record<string, string>> = {
  fsync: 'Set fsync = on in postgresql.conf and reload it',
  full_page_writes: 'Set full_page_writes = on in postgresql.conf and reload it',
  // It may also be set for a role, a database or in the address.
  synchronous_commit: 'Set synchronous_commit = on where it was turned off (postgresql.conf, the role or the database)',
}

/**
 * Refuses a server that may lose what was acknowledged.
 *
 * @throws StorageFault with what to do
 */
export async function checkDurability(client: ClientBase): Promise<void> {
  const found = await query(client, "select name from pg_settings where name = any($1) and setting = 'off'", [
    Object.keys(meanings),
  ])
  const [first] = found.map(({ name }) => String(name)).sort()
  if (first === undefined) return
  const others = found.length > 1 ? ` (and so are ${found.length - 1} others of its kind)` : ''
  throw new StorageFault(
    'failed',
    `This PostgreSQL server has ${first} off${others}: ${meanings[first]}. ${remedies[first]}, or give --database-unsafe (in a program: databaseUnsafe: true) where what is stored may be lost.`,
  )
}
