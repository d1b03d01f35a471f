/** Creates, removes and measures the schemas of tenants (TEN-2). */
import type { ClientBase } from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import type { TenantDatabase } from '../administration/administration.ts'
import { changeSchema, migrationTo } from '../migration/apply.ts'
import { identifier } from '../sql/columns.ts'
import { StorageFault } from '../storage.ts'
import type { Statement } from '../transaction.ts'
import { distributing } from './citus.ts'
import { toStorageFault } from './errors.ts'
import { usualWaits, withRetries } from './migrate.ts'
import { migrationDialect } from './migration-dialect.ts'
import { checkTenants } from './requirements.ts'
import { inTransaction, query } from './session.ts'
import { deletedSuffix, lockName, schemaPattern } from './tenant-schema.ts'

/**
 * Creates the schema of a tenant with the tables of a catalog, in one transaction: what is interrupted leaves nothing.
 *
 * @param client of any schema
 * @returns whether it did; otherwise the schema was there
 * @throws StorageFault `missing` where the tenant is deleted
 */
export async function createSchema(client: ClientBase, catalog: Catalog, schema: string): Promise<boolean> {
  // Most find it there: that needs no right to create.
  if ((await existing(client, schema)) === schema) return false
  const statements = creationOf(catalog, schema)
  const create = () =>
    inTransaction(client, 'begin', async () => {
      await query(client, `select ${lockName('$1')}`, [schema])
      const found = await existing(client, schema)
      if (found === schema) return false
      if (found !== undefined) throw new StorageFault('missing', 'The tenant is deleted.')
      await checkTenants(client)
      await query(client, distributing.text)
      await query(client, `create schema ${schema}`)
      await query(client, `set local search_path to ${schema}`)
      await sendAll(client, statements)
      return true
    })
  return withRetries(usualWaits, create).catch((error: unknown) => {
    throw toStorageFault(error)
  })
}

/** Creates the schema of a tenant without tables, unless it is there. */
export async function createEmptySchema(client: ClientBase, schema: string): Promise<void> {
  if ((await existing(client, schema)) === undefined) await query(client, `create schema if not exists ${schema}`)
}

async function existing(client: ClientBase, schema: string): Promise<string | undefined> {
  const names = [schema, schema + deletedSuffix]
  const [row] = await query(client, 'select nspname as name from pg_namespace where nspname = any($1)', [names])
  return row?.['name'] as string | undefined
}

/** The schemas of tenants that there are, deleted ones too. */
export async function listSchemas(client: ClientBase): Promise<readonly TenantDatabase[]> {
  const found = await inTransaction(client, 'begin read only', () =>
    query(client, 'select nspname as name from pg_namespace where nspname ~ $1 order by 1', [schemaPattern]),
  )
  return found.map(({ name }) => {
    const place = String(name)
    const [, ...parts] = new RegExp(schemaPattern).exec(place) ?? []
    return { tenant: parts.slice(0, 5).join('-'), place, removal: `drop schema ${place} cascade` }
  })
}

/** Sends statements without waiting for answers between them. */
async function sendAll(client: ClientBase, statements: readonly Statement[]): Promise<void> {
  const answers = await Promise.allSettled(statements.map(({ text, values }) => query(client, text, values)))
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
}

/**
 * The statements that create the tables of a catalog. A migration of an empty database is run by hand: what it reads is
 * known, so only the other statements are sent.
 */
function creationOf(catalog: Catalog, schema: string): readonly Statement[] {
  const dialect = migrationDialect(usualWaits.lock)
  const migration = changeSchema(migrationTo(catalog, dialect, { apply: 'additive', now: Date.now() }))
  const statements: Statement[] = []
  let step = migration.next([])
  while (step.done !== true) {
    const { value } = step
    const isReading = /^\s*select\b/.test(value.text) && value !== dialect.silence
    if (!isReading) statements.push(value)
    const isAggregate = value === dialect.eventTriggersFound || aggregate.test(value.text)
    step = migration.next(isAggregate ? [{ schema, name: null, live: 0, deleted: 0, count: 0 }] : [])
  }
  return statements
}

/** A statement that gives a row where there are none. */
const aggregate = /^\s*(?:with changed as .* )?select (?:count|sum)\(/s

/** How many relations or functions a transaction drops: each of them takes several locks. */
const mostDropped = 20

/**
 * Removes the schema of a tenant, under both of its names, in short transactions. An interrupted removal is repeated.
 *
 * @param client of any schema
 */
export async function removeSchema(client: ClientBase, schema: string): Promise<void> {
  for (const name of [schema, schema + deletedSuffix]) {
    for (const [kind, select] of dropped) {
      for (;;) {
        const found = await query(client, select, [name])
        if (found.length === 0) break
        const all = found.map((row) => `${name}.${identifier(String(row['name']))}`)
        await withRetries(usualWaits, () => query(client, `drop ${kind} if exists ${all.join(', ')} cascade`))
      }
    }
    await withRetries(usualWaits, () => query(client, `drop schema if exists ${name} cascade`))
  }
}

/** What is dropped, and how to find it in a schema. A trigger goes with its table. */
const dropped = [
  [
    'table',
    `select relname as name from pg_class join pg_depend on classid = 'pg_class'::regclass and objid = pg_class.oid
      where refclassid = 'pg_namespace'::regclass and refobjid = (select oid from pg_namespace where nspname = $1)
        and relkind = 'r' limit ${mostDropped}`,
  ],
  [
    'function',
    `select proname as name from pg_proc where pronamespace = (select oid from pg_namespace where nspname = $1)
      limit ${mostDropped * 5}`,
  ],
] as const

/** How many bytes the tables of a schema take, with their indexes. */
export async function sizeOf(client: ClientBase, schema: string): Promise<number> {
  const [row] = await query(
    client,
    `select coalesce(sum(pg_total_relation_size(objid)), 0)::float8 as bytes
      from pg_depend where classid = 'pg_class'::regclass and refclassid = 'pg_namespace'::regclass
        and refobjid = (select oid from pg_namespace where nspname = any($1) limit 1)`,
    [[schema, schema + deletedSuffix]],
  )
  return Number(row?.['bytes'] ?? 0)
}
