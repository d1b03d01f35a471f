/** Opens the database of operators for a command, while servers use it (TEN-3). */
import type { Catalog } from 'resourced-contract/model/resource'
import { anyOperators, type TenantState } from 'resourced-contract/model/tenants'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { isInMemory } from '../server/database-address.ts'
import { type DatabaseOptions, noDatabase, openHost, openStorage, placeOf } from '../server/open-database.ts'
import type { Host } from '../storage/administration/administration.ts'
import { MigrationRefused } from '../storage/migration/migration-step.ts'
import type { Storage, TenantEntry, TenantStore } from '../storage/storage.ts'

/** The tenants of a database. */
export interface Operators {
  readonly database: DatabaseOptions
  readonly host: Host
  readonly registry: TenantStore
}

/**
 * Works on the tenants of a database.
 *
 * @param catalog of operators, for which a database that is new is made; left out: it must be there
 * @throws ConfigurationError where the database has no tenants
 */
export async function withOperators<T>(
  database: DatabaseOptions,
  use: (operators: Operators) => Promise<T>,
  catalog?: Catalog,
): Promise<T> {
  if (isInMemory(database.database)) {
    throw new UsageError('A database in memory ends with its process: name sqlite:FILE or postgres://… instead.')
  }
  // Servers refuse a database that may lose changes: commands work beside them.
  const host = await openHost({ ...database, databaseUnsafe: true })
  try {
    const administration = host.administer()
    if (catalog === undefined && !(await administration.hasTables())) throw noDatabase(database)
    const opening = { migrate: catalog === undefined ? 'never' : 'additive' } as const
    const storage = await refusing(database, async () => administration.open(catalog ?? anyOperators(), opening))
    try {
      return await use({ database, host, registry: storage.tenants as TenantStore })
    } finally {
      await storage.close()
    }
  } finally {
    await host.close()
  }
}

/**
 * A tenant by its name, whose callers are served.
 *
 * @param states those that it may have
 * @throws ConfigurationError if there is none
 */
export async function tenantNamed(
  { registry }: Pick<Operators, 'registry'>,
  name: string,
  states: readonly TenantState[] = ['active'],
): Promise<TenantEntry> {
  const found = await registry.find(name)
  const named = JSON.stringify(name)
  if (found === undefined)
    throw new ConfigurationError(`There is no tenant ${named}: resourced tenants list shows them.`)
  if (states.includes(found.state)) return found
  throw new ConfigurationError(`The tenant ${named} is ${found.state}. ${remedies[found.state] ?? ''}`)
}

const remedies: Readonly<Partial<Record<TenantState, string>>> = {
  deleted: 'Restore it first.',
  importing: 'Repeat the command that imports or moves it here.',
  moving: 'Use the database that it was moved to; if the move was interrupted, repeat resourced tenants move.',
}

/** The database of a tenant, by its name; without one the same database. */
export async function databaseOfTenant(database: DatabaseOptions, name: string | undefined): Promise<DatabaseOptions> {
  if (name === undefined) return database
  return withOperators(database, async (operators) => ({
    ...database,
    tenant: (await tenantNamed(operators, name)).id,
  }))
}

/** How often an import asks whether its tenant is still served, in milliseconds: a move waits for longer. */
const askedAgain = 1_000

/**
 * Opens a database to import records. That of a tenant takes none once the tenant is moved or deleted: a copy of it
 * would lack them.
 */
export async function openToImport(database: DatabaseOptions, catalog: Catalog): Promise<Storage> {
  const { tenant, ...ofOperators } = database
  const storage = await openStorage(database, catalog)
  if (tenant === undefined) return storage
  const host = await openHost({ ...ofOperators, databaseUnsafe: true })
  const operators = await host.administer().open(anyOperators(), { migrate: 'never' })
  let askedAt = Number.NEGATIVE_INFINITY
  const requireServed = async () => {
    if (performance.now() - askedAt < askedAgain) return
    const { state = 'deleted' } = (await operators.tenants?.get(tenant)) ?? {}
    if (state !== 'active') throw new ConfigurationError(`The tenant is ${state} by now. ${remedies[state]}`)
    askedAt = performance.now()
  }
  return {
    ...storage,
    async load(...given) {
      await requireServed()
      return storage.load(...given)
    },
    async loadAll(whole) {
      await requireServed()
      const refusals = await storage.loadAll(whole)
      await requireServed()
      return refusals
    },
    async close() {
      await storage.close()
      await operators.close()
      await host.close()
    },
  }
}

async function refusing<T>(database: DatabaseOptions, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof MigrationRefused)) throw error
    const found = `The database at ${placeOf(database)} has no tenants`
    const remedy = 'Name the one whose servers have a declaration with tenants, or start a server on it once.'
    throw new ConfigurationError(`${found}. ${remedy}`)
  }
}
