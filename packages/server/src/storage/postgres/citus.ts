/**
 * Tenants on Citus (TEN-5). Citus puts each schema on one node, with its triggers, sequences and locks. Servers use it
 * there, as a schema of an ordinary PostgreSQL. The coordinator creates, migrates, renames and removes schemas.
 */
import type { ClientBase } from 'pg'
import { raw } from 'sql-template-tag'
import { StorageFault } from '../storage.ts'
import type { Row } from '../transaction.ts'
import { hostsOf } from './hosts.ts'
import { inTransaction, query } from './session.ts'
import type { ConnectionOptions } from './settings.ts'
import { deletedSuffix, lockName } from './tenant-schema.ts'

/** A node of Citus. */
export interface Node {
  readonly host: string
  readonly port: number
  /** The number of its group. The positions that it gives begin with this number, in the bits above 2⁴⁸. */
  readonly group: number
}

/** The last group whose positions JavaScript has as exact numbers: they are below 2⁵³. */
const lastGroup = 31

/** Whether a server is a coordinator of Citus that can distribute schemas (Citus 12 and newer). */
export async function isCoordinator(client: ClientBase): Promise<boolean> {
  const [found] = await query(client, `select to_regclass('pg_catalog.pg_dist_schema')::text as schemas`)
  return found?.['schemas'] !== null
}

function nodeIn({ host, port, group }: Row): Node {
  return { host: String(host), port: Number(port), group: Number(group) }
}

/** The nodes of schemas, deleted or not, by schema. A schema that is not distributed has none. */
export async function nodesOf(client: ClientBase, schemas: readonly string[]): Promise<ReadonlyMap<string, Node>> {
  const found = await query(
    client,
    `select distinct replace(nspname, '${deletedSuffix}', '') as schema, nodename as host, nodeport as port,
        groupid as group
      from pg_namespace join pg_dist_schema on schemaid = pg_namespace.oid
        join pg_dist_partition using (colocationid) join pg_dist_shard using (logicalrelid)
        join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where nspname = any($1) and noderole = 'primary'`,
    [schemas.flatMap((schema) => [schema, schema + deletedSuffix])],
  )
  return new Map(found.map((row) => [String(row['schema']), nodeIn(row)]))
}

/** The nodes that new schemas are put on; `undefined`: schemas are not distributed. */
export async function nodesForTenants(client: ClientBase): Promise<readonly Node[] | undefined> {
  const [setting] = await query(
    client,
    `select current_setting('citus.enable_schema_based_sharding', true) as sharding`,
  )
  if (setting?.['sharding'] !== 'on' || !(await isCoordinator(client))) return undefined
  const found = await query(
    client,
    `select nodename as host, nodeport as port, groupid as group from pg_dist_node
      where noderole = 'primary' and isactive and shouldhaveshards and hasmetadata order by nodeid`,
  )
  return found.map(nodeIn)
}

/**
 * Checks what distributed tenants need.
 *
 * @throws StorageFault with what to do
 */
export async function checkDistribution(client: ClientBase): Promise<void> {
  const nodes = await nodesForTenants(client)
  if (nodes === undefined) return
  if (nodes.length === 0) {
    const remedy = "Run on the coordinator: select citus_add_node('HOST', 5432)"
    throw refusal(`Citus has no node for the schemas of tenants. ${remedy}`)
  }
  const late = nodes.find(({ group }) => group > lastGroup)
  if (late !== undefined) {
    const remedy = 'Make a new cluster of Citus, and move the tenants there.'
    const number = `The node ${placeOf(late)} of Citus has the group ${late.group}`
    throw refusal(`${number}. Positions of events are exact for groups up to ${lastGroup} only. ${remedy}`)
  }
  const [role] = await query(
    client,
    `select current_user as name, exists (select from pg_dist_object
      where classid = 'pg_authid'::regclass and objid = quote_ident(current_user)::regrole) as known`,
  )
  if (role?.['known'] === 1) return
  throw refusal(
    `Citus does not know the role ${role?.['name']}, which was created before its nodes were added. Create a role on ` +
      'the coordinator now, and let it own the database on every node.',
  )
}

/** The same database on a node. Locks of tables are taken on this node alone. */
export function onNode<Options extends ConnectionOptions>(options: Options, { host, port }: Node): Options {
  const url = new URL(hostsOf(options.url).servers[0] as string)
  for (const name of ['host', 'port']) url.searchParams.delete(name)
  url.hostname = host
  url.port = String(port)
  const given = url.searchParams.get('options') ?? process.env.PGOPTIONS ?? ''
  url.searchParams.set('options', `${given} -c citus.enable_ddl_propagation=off`.trim())
  return { ...options, url: url.href, session: 'on', replica: undefined }
}

/**
 * Lets the sequences of a schema go on after its rows. Each node of Citus has numbers of its own, and the last rows may
 * have those of another node: the schema was moved, or is a copy. So positions of events never go back.
 *
 * @param client of the node
 */
export async function continueNumbers(client: ClientBase, schema: string): Promise<void> {
  const tables = await query(
    client,
    `select name, pg_get_serial_sequence(name, '_row') as sequence
      from (select attrelid::regclass::text as name
        from pg_class join pg_attribute on attrelid = pg_class.oid and attname = '_row' and attidentity <> ''
        where relnamespace = (select oid from pg_namespace where nspname = $1)) numbered`,
    [schema],
  )
  const lasts = tables.map(
    ({ name, sequence }) => `select '${sequence}' as sequence, max(_row) as last, '${name}' as name from ${name}`,
  )
  const lagging = `select * from (${lasts.join(' union all ')}) rows
    where last > coalesce(pg_sequence_last_value(sequence::regclass), 0)
      and last >= (select seqmin from pg_sequence where seqrelid = sequence::regclass)`
  if (tables.length === 0 || (await query(client, lagging)).length === 0) return
  await inTransaction(client, 'begin', async () => {
    // Another server may have done it, and write already.
    await query(client, `select ${lockName('$1')}`, [schema])
    for (const { name, sequence, last } of await query(client, lagging)) {
      await query(client, `alter table ${name} alter column _row set maxvalue ${Number.MAX_SAFE_INTEGER}`)
      await query(client, `select setval('${sequence}', ${last})`)
    }
  })
}

function placeOf({ host, port }: Node): string {
  return `${host}:${port}`
}

/** The refusal of a server that cannot be used as it is. */
export function refusal(sentence: string): StorageFault {
  return new StorageFault('failed', sentence)
}

/**
 * Lets a transaction of the coordinator create the triggers of tenants. Citus calls triggers unsafe, because they may
 * use tables of other nodes; those of tenants use their own schema only. What the transaction sets is set on nodes too.
 */
export const distributing = raw(`select set_config(name, value, true)
  from (values ('citus.enable_unsafe_triggers', 'on'), ('citus.propagate_set_commands', 'local')) needed (name, value)
  where current_setting(name, true) is not null`)
