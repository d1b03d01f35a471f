/** The tenants of an operators' database (TEN-2, TEN-3): found, created, deleted, and what the server notes of each. */

import { tenantsCollection } from 'resourced-contract/model/names'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { isTenantName, type TenantState } from 'resourced-contract/model/tenants'
import { timestamp } from 'resourced-contract/model/time'
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { retainedSince } from '../../plan/check-record.ts'
import { takenIssue } from '../../plan/decide.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Create, Delete, Restore } from '../../plan/plan.ts'
import { beginMaintenance, endMaintenance, readTenantMaintenance } from '../maintenance-switch.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import type { SqlContext } from '../sql/context.ts'
import type { ListedTenant, NewTenant, TenantEntry, TenantStore } from '../storage.ts'
import { firstRow, ignoringRows, type Row, type Runner, type Transaction } from '../transaction.ts'
import { createRecord } from './create.ts'
import { purgeBegan } from './delete/purge.ts'
import { writeRecord } from './rows/record-row.ts'

/** How an engine remembers tenants by their names. */
interface Remembering {
  /** What is remembered counts as long as this stays the same. */
  state(): unknown
  /** Whether an entry is remembered; left out: each is. */
  keeps?(entry: TenantEntry | undefined): boolean
}

/** The tenants of an open database; `undefined`: it is not that of operators. */
export function tenantStore(
  context: SqlContext,
  { read, write }: Runner,
  { state, keeps = () => true }: Remembering,
): TenantStore | undefined {
  const resource = tenantsIn(context.catalog)
  if (resource === undefined) return undefined
  const ids = (rows: readonly Row[]) => rows.map(({ id }) => String(id))
  const names = new BoundedMap<{ readonly entry: TenantEntry | undefined; readonly state: unknown }>(10_000)
  return {
    async find(name) {
      const now = state()
      const known = names.get(name)
      if (known?.state === now) return known?.entry
      const entry = await read(() => findTenant(name))
      if (keeps(entry)) names.set(name, { entry, state: now })
      return entry
    },
    get: (id) => read(() => getTenant(id)),
    list: () =>
      read(function* () {
        const rows = yield sql`select ${columns}, "bytes", created_at from "tenants" order by "name", id`
        return rows.map(listedOf)
      }),
    activate: (id, now) => write(() => activate(context, resource, id, now)),
    beginMove: (id, now, until) => write(() => beginMove(context, resource, id, { now, until }), Boolean),
    hold: (id, held, until) => write(() => hold(context, id, held, until), Boolean),
    create: (tenant) =>
      write(
        () => createFirst(context, resource, tenant),
        (created) => created !== undefined,
      ),
    keepHash: (id, hash) => write(() => note(sql`update "tenants" set "schema_hash" = ${hash} where id = ${id}`)),
    outdated: (hash, after, most) =>
      read(function* () {
        const others = sql`deleted_at is null and "schema_hash" is not null and "schema_hash" <> ${hash}`
        return ids(yield sql`select id from "tenants" where ${others} and id > ${after} order by id limit ${most}`)
      }),
    // Otherwise a command may hold it.
    keepWake: (id, at) =>
      write(() => note(sql`update "tenants" set "wakes_at" = ${at} where id = ${id} and "state" = 'active'`)),
    due: (now, most) =>
      read(function* () {
        const which = sql`deleted_at is null and "wakes_at" <= ${now}`
        return ids(yield sql`select id from "tenants" where ${which} order by "wakes_at" limit ${most}`)
      }),
    keepSize: (id, bytes, now) => write(() => keepSize(context, resource, { id, bytes, now })),
    async inactive(asked) {
      if (asked.length === 0) return []
      const among = context.dialect.isAnyOf(raw('id'), asked)
      const active = await read(function* () {
        return ids(yield sql`select id from "tenants" where ${among} and deleted_at is null and "state" = 'active'`)
      })
      return asked.filter((id) => !active.includes(id))
    },
    purged: () =>
      read(function* () {
        const due = yield* purgeBegan(context)
        if (due === undefined) return []
        return ids(yield sql`select id from "tenants" where deleted_at <= ${retainedSince(resource, due)}`)
      }),
    maintenance: () => read(readTenantMaintenance),
    beginMaintenance: (id, maintenance) => write(() => beginMaintenance(maintenance, id)),
    endMaintenance: (id) => write(() => endMaintenance(id)),
    dropKeys: (id) => write(() => note(sql`delete from resourced_tenant_keys where tenant = ${id}`)),
    tenantOfKey: (hash) =>
      read(function* () {
        const row = yield* firstRow(sql`select tenant from resourced_tenant_keys where hash = ${hash}`)
        return row === undefined ? undefined : yield* getTenant(String(row['tenant']))
      }),
    addKey: (hash, tenant) =>
      write(() => note(sql`insert into resourced_tenant_keys (hash, tenant) values (${hash}, ${tenant})`)),
    dropKey: (hash) => write(() => note(sql`delete from resourced_tenant_keys where hash = ${hash}`)),
  }
}

/** The resource of tenants, if a catalog is that of operators: a declaration without tenants may have the name. */
export function tenantsIn({ resources }: Catalog): Resource | undefined {
  const resource = resources.get(tenantsCollection)
  return resource?.made === 'for-clients' ? resource : undefined
}

/** Runs a Create of a tenant. The name of a deleted one stays taken. */
export function* createTenant(context: SqlContext, plan: Create): Transaction<Outcome> {
  const { name } = plan.body as { readonly name?: unknown }
  const isTaken = typeof name === 'string' && isTenantName(name) && (yield* findTenant(name)) !== undefined
  if (isTaken) return { kind: 'conflict', issues: [takenIssue(['name'])] }
  return yield* createRecord(context, plan)
}

/**
 * Runs a Delete or a Restore of a tenant, whose state follows. What was being imported or moved is no whole tenant
 * after a restoration either. A refusal rolls back everything.
 */
export function* moveTenant<T>({ kind, id }: Delete | Restore, change: Transaction<T>): Transaction<T> {
  const [from, to]: TenantState[] = kind === 'delete' ? ['active', 'deleted'] : ['deleted', 'active']
  yield ignoringRows(sql`update "tenants" set "state" = ${to} where id = ${id} and "state" = ${from}`)
  return yield* change
}

function* note(statement: ReturnType<typeof sql>): Transaction<void> {
  yield ignoringRows(statement)
}

const columns = sql`id, "name", "state", "schema_hash", "wakes_at", deleted_at`

/** Each of the two conditions has an index. */
function* findTenant(name: string): Transaction<TenantEntry | undefined> {
  const named = sql`select ${columns} from "tenants" where "name" = ${name}`
  const live = yield* firstRow(sql`${named} and deleted_at is null`)
  return entryOf(live ?? (yield* firstRow(sql`${named} and deleted_at is not null`)))
}

function* getTenant(id: string, lock: Sql = empty): Transaction<TenantEntry | undefined> {
  return entryOf(yield* firstRow(sql`select ${columns} from "tenants" where id = ${id}${lock}`))
}

function listedOf(row: Row): ListedTenant {
  const { bytes, created_at, deleted_at } = row
  return {
    ...(entryOf(row) as TenantEntry),
    bytes: bytes === null ? null : Number(bytes),
    created_at: String(created_at),
    deleted_at: deleted_at as string | null,
  }
}

/** Clients see the size, so it is a change of the record: its tag and the clock move. */
function* keepSize(
  context: SqlContext,
  resource: Resource,
  { id, bytes, now }: { readonly id: string; readonly bytes: number; readonly now: number },
): Transaction<void> {
  const row = yield* firstRow(sql`select "bytes" from "tenants" where id = ${id}`)
  if (row === undefined || row['bytes'] === bytes) return
  yield* writeRecord(context, { resource, values: { id, bytes, updated_at: timestamp(now) }, changed: ['bytes'] })
}

function* activate(context: SqlContext, resource: Resource, id: string, now: number): Transaction<void> {
  // A hash that no catalog has: the database is migrated before it is used.
  const values = { id, state: 'active', schema_hash: '', wakes_at: now, updated_at: timestamp(now) }
  yield* writeRecord(context, { resource, values, changed: ['state', 'schema_hash', 'wakes_at'] })
}

function* beginMove(
  context: SqlContext,
  resource: Resource,
  id: string,
  { now, until }: { readonly now: number; readonly until: number },
): Transaction<boolean> {
  if ((yield* getTenant(id, context.dialect.lock.update))?.state !== 'active') return false
  const values = { id, state: 'moving', wakes_at: until, updated_at: timestamp(now) }
  yield* writeRecord(context, { resource, values, changed: ['state', 'wakes_at'] })
  return true
}

function* hold({ dialect }: SqlContext, id: string, held: number | null, until: number | null): Transaction<boolean> {
  const found = yield* getTenant(id, dialect.lock.update)
  if (found === undefined || !heldStates.has(found.state) || found.wakesAt !== held) return false
  yield* note(sql`update "tenants" set "wakes_at" = ${until} where id = ${id}`)
  return true
}

/** The states of tenants that a command works on. */
const heldStates: ReadonlySet<TenantState> = new Set(['importing', 'moving'])

function entryOf(row: Row | undefined): TenantEntry | undefined {
  if (row === undefined) return undefined
  const { id, name, schema_hash: schemaHash, wakes_at: wakesAt, deleted_at } = row
  const state = deleted_at === null ? (row['state'] as TenantState) : 'deleted'
  return {
    ...{ id: String(id), name: String(name), state, schemaHash: schemaHash as string | null },
    wakesAt: wakesAt === null ? null : Number(wakesAt),
  }
}

function* createFirst(
  context: SqlContext,
  resource: Resource,
  { id, name, state = 'active', wakesAt = null, most, now }: NewTenant,
): Transaction<TenantEntry | undefined> {
  // Several first uses at once must not exceed the limit.
  const { advisoryLock } = context.dialect
  if (advisoryLock !== undefined) yield sql`select ${advisoryLock('first uses')}`
  const found = yield* findTenant(name)
  if (found !== undefined) return found
  const counted = yield* firstRow(sql`select count(*) as count from "tenants"`)
  if (Number(counted?.['count']) >= most) return undefined
  const created_at = timestamp(now)
  const fields = { name, state, bytes: null, schema_hash: null, wakes_at: wakesAt }
  yield* writeRecord(context, { resource, values: { id, ...fields, created_at, updated_at: created_at } })
  return yield* getTenant(id)
}
