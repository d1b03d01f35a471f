/** One PostgreSQL connection beside the pool, for statements and transactions that may take any time. */
import type { ClientBase } from 'pg'
import { StorageFault } from '../storage.ts'
import type { Row, Transaction } from '../transaction.ts'
import { Client } from './client.ts'
import { connectionFault } from './errors.ts'
import { hostsOf } from './hosts.ts'
import { type ConnectionOptions, rowTypes, settingsOf } from './settings.ts'

/**
 * Opens a connection without limits on the time of a statement. The caller ends it.
 *
 * @throws StorageFault with what to do, where the database cannot be reached
 */
export async function connect(options: ConnectionOptions): Promise<Client> {
  let client: Client | undefined
  try {
    return await hostsOf(options.url).connected(async () => {
      client = makeClient(options)
      await client.connect()
      return client
    })
  } catch (error) {
    throw client === undefined ? error : connectionFault(error, client, options)
  }
}

function makeClient(options: ConnectionOptions): Client {
  try {
    return new Client({ ...settingsOf(options), statement_timeout: 0, lock_timeout: 0 })
  } catch (error) {
    const { path } = error as { readonly path?: string }
    if (path === undefined) throw error
    throw new StorageFault('failed', `The address of the database names the file ${path}, which cannot be read.`)
  }
}

/**
 * Does work on a connection of its own (see `connect`), and ends it.
 *
 * @throws StorageFault with what to do, where the database cannot be reached
 */
export async function withConnection<T>(options: ConnectionOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(options)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Runs a statement. */
export async function query(client: ClientBase, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const { rows } = await client.query({ text, values: [...values], types: rowTypes })
  return rows as Row[]
}

/** Runs the statements of a transaction; BEGIN and COMMIT are the caller's. */
export async function run<T>(client: ClientBase, transaction: Transaction<T>): Promise<T> {
  let step = transaction.next([])
  while (step.done !== true) step = transaction.next(await query(client, step.value.text, step.value.values))
  return step.value
}

/** Runs work in a transaction, which is rolled back where the work throws. */
export async function inTransaction<T>(client: ClientBase, begin: string, work: () => Promise<T>): Promise<T> {
  await query(client, begin)
  try {
    const result = await work()
    await query(client, 'commit')
    return result
  } catch (error) {
    // A lost connection cannot roll back: the server does it, and the first error is reported.
    await query(client, 'rollback').catch(() => undefined)
    throw error
  }
}

/** The SQLSTATE of an error of PostgreSQL. */
export function stateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Changes settings of the session while work runs. Settings that the server does not have are left out. */
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

/** Some systems do not support each setting: `client_connection_check_interval` is one. */
async function set(client: ClientBase, name: string, value: string): Promise<void> {
  await query(client, 'select set_config($1, $2, false)', [name, value]).catch(() => undefined)
}
