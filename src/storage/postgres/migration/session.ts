/** One PostgreSQL session, as migrations use it: statements one after the other, and transactions. */
import type { ClientBase } from 'pg'
import type { Row } from '../../transaction.ts'
import { rowTypes } from '../types.ts'

/** Runs a statement. */
export async function query(client: ClientBase, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const { rows } = await client.query({ text, values: [...values], types: rowTypes })
  return rows as Row[]
}

/** How many rows a statement changed. */
export async function change(client: ClientBase, text: string, values: readonly unknown[] = []): Promise<number> {
  const { rowCount } = await client.query({ text, values: [...values] })
  return rowCount ?? 0
}

/** Runs work in a transaction, which is rolled back where it throws. */
export async function inTransaction<T>(client: ClientBase, begin: string, work: () => Promise<T>): Promise<T> {
  await query(client, begin)
  try {
    const result = await work()
    await query(client, 'commit')
    return result
  } catch (error) {
    // Where the connection is lost the server does it, and the first error is the one to tell.
    await query(client, 'rollback').catch(() => undefined)
    throw error
  }
}

/** The SQLSTATE of an error of PostgreSQL. */
export function stateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/**
 * Gives settings of the session other values for as long as work takes; those that the server does not know are left out.
 */
export async function withSettings<T>(
  client: ClientBase,
  settings: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  const before = await query(
    client,
    'select name, current_setting(name) as value from pg_settings where name = any($1)',
    [Object.keys(settings)],
  )
  for (const { name } of before) await set(client, String(name), settings[String(name)]!)
  try {
    return await work()
  } finally {
    for (const { name, value } of before) await set(client, String(name), String(value))
  }
}

/** A setting may not be possible everywhere: `client_connection_check_interval` needs a system that can tell. */
async function set(client: ClientBase, name: string, value: string): Promise<void> {
  await query(client, 'select set_config($1, $2, false)', [name, value]).catch(() => undefined)
}
