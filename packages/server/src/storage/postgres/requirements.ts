/** Checks the requirements on a PostgreSQL server, and reports missing ones with a remedy. */
import type { ClientBase } from 'pg'
import { StorageFault } from '../storage.ts'
import { checkDistribution, refusal } from './citus.ts'
import { query } from './session.ts'
import { schemaPattern } from './tenant-schema.ts'

/** The oldest version served, as `server_version_num` has it. */
const oldest = 150_000

/**
 * Checks what every start needs.
 *
 * @throws StorageFault with what to do
 */
export async function checkServer(client: ClientBase): Promise<void> {
  const [found] = await query(
    client,
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
       current_setting('server_encoding') as encoding, current_schema() as schema,
       current_setting('search_path') as path, current_database() as database`,
  )
  if (Number(found?.['number']) < oldest) {
    throw refusal(`PostgreSQL ${found?.['version']} is too old. Use PostgreSQL 15 or newer.`)
  }
  if (found?.['encoding'] !== 'UTF8') {
    const made = "Create one with: create database NAME encoding 'UTF8' template template0"
    throw refusal(
      `The database ${found?.['database']} has the encoding ${found?.['encoding']}, and needs UTF8. ${made}`,
    )
  }
  if (found?.['schema'] === null) {
    const remedy = 'Create the schema, or name another in the search_path of the connection.'
    throw refusal(`The search_path of the connection (${found?.['path']}) names no schema that exists. ${remedy}`)
  }
}

/**
 * Checks what a migration needs in addition.
 *
 * @throws StorageFault with what to do
 */
export async function checkRights(client: ClientBase): Promise<void> {
  const [found] = await query(
    client,
    `select pg_is_in_recovery() as standby, has_schema_privilege(current_schema(), 'create') as may,
       current_schema() as schema, current_user as role, current_database() as database`,
  )
  if (found?.['standby'] === 1) {
    throw refusal('This PostgreSQL server is a standby, which cannot be written. Connect to the primary.')
  }
  if (found?.['may'] !== 1) {
    const { role, schema, database } = found!
    const remedy = `Let its owner run: grant create on schema "${schema}" to "${role}"`
    throw refusal(
      `The role ${role} may not create tables in the schema ${schema} of the database ${database}. ${remedy}`,
    )
  }
}

/**
 * Checks what an interface with events needs (EVT-1). Triggers of Citus run on the nodes of the shards, where they
 * write events that nobody reads.
 *
 * @throws StorageFault with what to do
 */
export async function checkEvents(client: ClientBase): Promise<void> {
  const [citus] = await query(
    client,
    `select current_setting('citus.enable_unsafe_triggers', true) as unsafe, current_schema() ~ $1 as tenant,
       to_regclass('pg_catalog.pg_dist_partition')::text as tables,
       to_regclass('pg_catalog.pg_dist_schema')::text as schemas
       from pg_extension where extname = 'citus'`,
    [schemaPattern],
  )
  if (citus === undefined || citus['tenant'] === 1) return
  const ofSchema = 'current_schema()::regnamespace'
  const select = {
    tables: `select 1 from pg_dist_partition join pg_class on oid = logicalrelid where relnamespace = ${ofSchema}`,
    schemas: `select 1 from pg_dist_schema where schemaid = ${ofSchema}`,
  }
  const parts = (['tables', 'schemas'] as const).filter((part) => citus[part] !== null)
  const [found] = await query(client, parts.map((part) => select[part]).join(' union all ') || 'select 1 where false')
  const isUnsafe = citus['unsafe'] === 'on'
  if (found === undefined && !isUnsafe) return
  const what = found === undefined ? 'allows triggers on distributed tables' : 'distributes the tables of this schema'
  throw refusal(
    `Citus ${what}, where events would be lost. Use a schema that is not distributed and ` +
      'citus.enable_unsafe_triggers = off, or declare no events.',
  )
}

/**
 * Checks what the schemas of tenants need (TEN-2, TEN-5): the right to create them, and on Citus nodes.
 *
 * @throws StorageFault with what to do
 */
export async function checkTenants(client: ClientBase): Promise<void> {
  const [found] = await query(
    client,
    `select has_database_privilege(current_database(), 'create') as may, current_user as role,
       current_database() as database`,
  )
  const { may, role, database } = found!
  if (may !== 1) {
    const remedy = `Let its owner run: grant create on database "${database}" to "${role}"`
    throw refusal(`The role ${role} may not create schemas in the database ${database}, one for each tenant. ${remedy}`)
  }
  await checkDistribution(client)
}

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
 * Refuses a server that may lose acknowledged changes.
 *
 * @throws StorageFault with what to do
 */
export async function checkDurability(client: ClientBase): Promise<void> {
  const rows = await query(client, "select name from pg_settings where name = any($1) and setting = 'off'", [
    Object.keys(meanings),
  ])
  const found = rows.map(({ name }) => String(name)).sort()
  const [first] = found
  if (first === undefined) return
  throw new StorageFault(
    'failed',
    `This PostgreSQL server has ${found.join(' and ')} off: ${meanings[first]}. ${remedies[first]}, or give ` +
      '--database-unsafe (in a program: databaseUnsafe: true) where what is stored may be lost.',
  )
}
