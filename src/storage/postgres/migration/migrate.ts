/**
 * Brings a PostgreSQL schema to what a catalog needs: in one transaction, save for the indexes of tables that hold records,
 * which are made afterwards. Killed half way, the next start goes on. See docs/decisions/026-migrations-on-postgresql.md.
 */
import type { ClientBase } from 'pg'
import type { Catalog } from '../../../model/resource.ts'
import { planCatchUp } from '../../migration/catch-up.ts'
import { lackedByFormer, standingOf } from '../../migration/lineage.ts'
import type { Migrated, MigrateOptions } from '../../migration/migrated.ts'
import { planMigration } from '../../migration/migration.ts'
import { isAllowed, MigrationRefused } from '../../migration/migration-refused.ts'
import type { MigrationStep } from '../../migration/migration-step.ts'
import { formerKeys } from '../../sql/system-tables.ts'
import { searchTable, type TableSpec, tablesFor } from '../../sql/tables.ts'
import { StorageFault } from '../../storage.ts'
import { keysAlone } from '../../transactions/keys.ts'
import { postgres } from '../engine.ts'
import { buildIndexes } from './build-indexes.ts'
import { patiently, underLock, usualWaits, type Waits } from './migration-lock.ts'
import { addDefaults } from './older-servers.ts'
import { keepLineage, keepShape, keepVersion, storedVersion } from './remembered.ts'
import { checkRights, checkServer } from './requirements.ts'
import { type FoundSchema, readSchema } from './schema.ts'
import { inTransaction, stateOf, withSettings } from './session.ts'
import { isCreated, type Taken, takeSteps } from './take-steps.ts'

/** What a migration is about. */
interface Migration extends MigrateOptions {
  readonly client: ClientBase
  readonly catalog: Catalog
  readonly desired: readonly TableSpec[]
  /** The tables that it may change. */
  readonly concerned: ReadonlySet<string> | undefined
  readonly waits: Waits
}

/** How to migrate, and whether on a connection that a pooler gives to others after each transaction: it keeps no lock and no setting. */
interface PooledOptions extends MigrateOptions {
  readonly isPooled?: boolean
}

const needsSession =
  'The database lacks something, which cannot be added through a pooler that shares connections among transactions. Run once: resourced migrate --apply --database with the address of the PostgreSQL server itself; then start again.'

/**
 * Adds what a database lacks for a catalog, and changes what differs, as `migrate` of SQLite does.
 *
 * @param client a connection to the server itself or to a pool that keeps sessions; nobody else uses it meanwhile
 * @throws MigrationRefused where `apply` does not allow it, or it is impossible; nothing is changed then, unless duplicates
 *   have come while indexes were made
 * @throws StorageFault where PostgreSQL fails, is too old, or others are in the way for a minute
 */
export async function migratePostgres(
  client: ClientBase,
  catalog: Catalog,
  options: PooledOptions,
  waits: Waits = usualWaits,
): Promise<Migrated> {
  const desired = tablesFor(catalog, postgres.layout)
  const names = new Set([...desired.map((table) => table.name), formerKeys])
  const concerned = options.others === 'kept' ? names : undefined
  const migration = { ...options, client, catalog, desired, concerned, waits }
  try {
    await checkServer(client)
    // Most starts end here, without ever asking for the right to write.
    if (await isDone(migration)) return { steps: [], applied: false }
    if (options.isPooled === true) throw new StorageFault('failed', needsSession)
    await checkRights(client)
    return await undisturbed(client, waits, () => underLock(client, waits, () => migrateLocked(migration)))
  } catch (error) {
    throw stateOf(error) === undefined ? error : new StorageFault('failed', 'The database cannot be migrated:', error)
  }
}

/** Brings a schema to what API keys alone need: what else is there belongs to a declaration that nobody has read. */
export async function migrateForKeys(client: ClientBase, isPooled = false): Promise<void> {
  await migratePostgres(client, keysAlone(), { apply: 'additive', now: Date.now(), others: 'kept', isPooled })
}

async function isDone(migration: Migration): Promise<boolean> {
  return await inTransaction(migration.client, 'begin isolation level repeatable read read only', async () => {
    const { catalog, concerned, apply } = migration
    const schema = await readSchema(migration.client)
    if (isLeft(migration, schema)) return true
    const isKnown = apply === 'never' || standingOf(schema.lineage, catalog) === 'current'
    const isCurrent = concerned !== undefined || (isKnown && storedVersion(schema, catalog) === catalog.version)
    return isCurrent && plan(migration, schema).length === 0
  })
}

/**
 * Whether a newer declaration is to be left alone, with which this one can be served.
 *
 * @throws MigrationRefused where this one cannot be
 */
function isLeft(migration: Migration, schema: FoundSchema): boolean {
  const { catalog, concerned, apply, isAsked = apply === 'all' } = migration
  if (concerned !== undefined || isAsked || standingOf(schema.lineage, catalog) !== 'former') return false
  const lacked = lackedByFormer([...planBehind(migration, schema), ...plan(migration, schema)], schema.tables)
  if (lacked.length > 0) throw new MigrationRefused(lacked, true)
  return true
}

/** From what an older version stored, where that is what there is. */
function planBehind({ catalog, concerned, desired }: Migration, found: FoundSchema): MigrationStep[] {
  const version = concerned === undefined ? storedVersion(found, catalog) : undefined
  return version === undefined
    ? []
    : planCatchUp(
        withHalfMade(found, () => true),
        desired,
        catalog,
        version,
      )
}

/** Does work without the limits that a session may have; killed, the server shall notice it within a second. */
function undisturbed<T>(client: ClientBase, waits: Waits, work: () => Promise<T>): Promise<T> {
  const none = { statement_timeout: '0', idle_in_transaction_session_timeout: '0', transaction_timeout: '0' }
  const settings = { ...none, lock_timeout: String(waits.lock), client_connection_check_interval: '1000' }
  return withSettings(client, settings, work)
}

async function migrateLocked(migration: Migration): Promise<Migrated> {
  const { client, waits } = migration
  const { steps, later } = await patiently(waits, () =>
    inTransaction(client, 'begin isolation level read committed', () => changeTables(migration)),
  )
  await buildIndexes(client, later)
  return { steps, applied: steps.length > 0 }
}

function plan({ desired, concerned }: Migration, schema: FoundSchema): MigrationStep[] {
  const wanted = new Set(desired.flatMap((table) => table.indexes.map((index) => index.name)))
  // Those that are wanted are made anew, and are dropped only then.
  const { tables, foreign } = withHalfMade(schema, (name) => !wanted.has(name))
  const current = tables.filter((table) => concerned === undefined || concerned.has(table.name))
  return planMigration({ tables: current, foreign }, desired)
}

/** The schema with those indexes, of all that were left half made, that are to be dropped. */
function withHalfMade(schema: FoundSchema, isDropped: (index: string) => boolean): FoundSchema {
  const left = schema.halfMade.filter(({ name, table }) => name !== searchTable(table) && isDropped(name))
  const tables = schema.tables.map((table) => {
    const more = left.filter((each) => each.table === table.name).map((each) => each.name)
    return { ...table, indexes: [...table.indexes, ...more] }
  })
  return { ...schema, tables }
}

/** Changes all but the indexes of tables that are there, and gives those that are to be made. */
async function changeTables(migration: Migration): Promise<Taken> {
  const { client, catalog, desired, concerned, apply, now, waits } = migration
  // Another process may have done it meanwhile, or more.
  const found = await readSchema(client)
  if (isLeft(migration, found)) return { steps: [], later: [] }
  const version = concerned === undefined ? storedVersion(found, catalog) : undefined
  const behind = planBehind(migration, found)
  const caughtUp = await takeSteps(client, behind, { schema: found, now, lockWait: waits.lock })
  const schema = behind.length === 0 ? found : await readSchema(client)
  const planned = plan(migration, schema)
  if (
    apply === 'never' &&
    behind.length === 0 &&
    planned.length > 0 &&
    planned.every((step) => isCertain(step, planned))
  ) {
    throw new MigrationRefused(planned)
  }
  const taken = await takeSteps(client, planned, { schema, now, lockWait: waits.lock })
  const steps = [...caughtUp.steps, ...taken.steps]
  if (!isAllowed(steps, apply)) throw new MigrationRefused(steps)
  await addDefaults(client, taken.steps)
  if (steps.length > 0) await keepShape(client, desired, concerned)
  if (concerned === undefined && version !== catalog.version) await keepVersion(client, catalog.version)
  if (concerned === undefined) await keepLineage(client, catalog)
  return { steps, later: taken.later }
}

/** Whether a step is as it will be told without looking at a record: to tell it, nobody has to be kept waiting. */
function isCertain({ question, table }: MigrationStep, planned: readonly MigrationStep[]): boolean {
  return question === undefined || isCreated(table, planned)
}
