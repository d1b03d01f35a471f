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
      await stayIn(client, options)
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

/** Keeps a connection in a schema. Behind a pooler, each transaction has to choose it (`query`). */
async function stayIn(client: Client, { schema, session }: ConnectionOptions): Promise<void> {
  if (schema === undefined) return
  if (session === 'off') client.pooledSchema = schema
  else await query(client, `set search_path to ${schema}`)
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

/**
 * Runs a statement.
 *
 * @throws StorageFault where it would run in another schema: behind a pooler, and outside of a transaction
 */
export async function query(client: ClientBase, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const { pooledSchema: schema } = client as Partial<Client>
  const begins = text.startsWith('begin')
  if (schema !== undefined && !begins && client.getTransactionStatus() === 'I') throw new StorageFault('failed', needed)
  const chosen = schema !== undefined && begins ? `${text}; set local search_path to ${schema}` : text
  const { rows } = await client.query({ text: chosen, values: [...values], types: rowTypes })
  return rows as Row[]
}

const needed =
  'This cannot be done to a tenant through a pooler that shares connections among transactions. ' +
  'Give --database with the address of the PostgreSQL server itself.'

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
