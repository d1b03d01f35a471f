/** Opens the database that an application serves: that of the operators, with those of tenants beside it (TEN-2). */
import type { Catalog } from 'resourced-contract/model/resource'
import { operatorsOf } from 'resourced-contract/model/tenants'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { Host, OpenOptions } from '../storage/administration/administration.ts'
import { MigrationRefused } from '../storage/migration/migration-step.ts'
import type { Storage } from '../storage/storage.ts'
import { isInMemory } from './database-address.ts'
import { type DatabaseOptions, openHost, openStorage } from './open-database.ts'
import type { ServedTenants } from './open-tenants.ts'
import { TenantDatabases } from './tenants/databases.ts'

/** An open database. */
export interface ServedDatabase {
  /** With tenants, that of the operators. */
  readonly storage: Storage
  /** `undefined`: there are no tenants. */
  readonly tenants: ServedTenants | undefined
}

/** How such a database is opened. */
export interface ServedOptions extends OpenOptions {
  /** Milliseconds since 1970; the system's clock by default. */
  readonly now?: (() => number) | undefined
  /** Called with failures of what nobody waits for. */
  readonly failed: (error: unknown) => void
  /** Whether this thread opens tenants that have something to do, and migrates them; `true` by default. */
  readonly wakes?: boolean | undefined
  /** How long a tenant stays open that nobody uses, in milliseconds; a minute by default. */
  readonly idle?: number | undefined
}

/**
 * Opens a database for a catalog, and the databases of its tenants when they are needed; synchronously if it is a file.
 *
 * @throws as `openStorage`
 */
export function openServed(
  database: DatabaseOptions,
  catalog: Catalog,
  { now = Date.now, failed, wakes = true, idle, ...opening }: ServedOptions,
): ServedDatabase | Promise<ServedDatabase> {
  const operators = operatorsOf(catalog)
  if (operators === undefined) {
    return after(openStorage(database, catalog, opening), (storage) => ({ storage, tenants: undefined }))
  }
  return after(openHost(database), (host: Host) =>
    after(openOperators(host, operators, opening), (storage) => {
      // A database in memory would be lost.
      const longest = isInMemory(database.database) ? Number.POSITIVE_INFINITY : idle
      const common = { openEmpty: () => openEmpty(catalog), idle: longest, wakes }
      const { writer } = opening
      if (writer !== undefined) {
        writer.watch(failed)
        const open = async (id: string) => {
          const own = writer.ofTenant(id)
          await own.opened()
          return host.administer(id).open(catalog, { writer: own })
        }
        return { storage, tenants: { ...common, open, close: () => host.close() } }
      }
      const made = { host, operators: storage, catalog, opening, now, failed, idle: longest }
      const databases = new TenantDatabases(made)
      return {
        storage: databases.operators,
        tenants: {
          ...common,
          open: (id: string) => databases.open(id),
          migrate: () => databases.migrate(),
          close: () => databases.close(),
        },
      }
    }),
  )
}

/** The error for a database of operators that cannot be migrated: it may have records of another declaration. */
export function refusalOfTenants(error: unknown): unknown {
  const lost = error instanceof MigrationRefused ? error.steps.filter(({ loses }) => loses !== 'nothing') : []
  if (lost.length === 0) return error
  const tables = [...new Set(lost.map(({ table }) => table))].join(', ')
  return new ConfigurationError(
    `The declaration has tenants, and the database has records of one without: ${tables}. Name another database, ` +
      'and bring the records into a tenant of it with: resourced tenants import NAME FILE. FILE is a backup of ' +
      'this one.',
  )
}

/** @throws ConfigurationError where the database has records of a declaration without tenants */
function openOperators(host: Host, catalog: Catalog, opening: OpenOptions): Storage | Promise<Storage> {
  const refuse = (error: unknown): never => {
    throw refusalOfTenants(error)
  }
  try {
    const storage = host.administer().open(catalog, opening)
    return storage instanceof Promise ? storage.catch(refuse) : storage
  } catch (error) {
    return refuse(error)
  }
}

function openEmpty(catalog: Catalog): Storage {
  return openStorage({ database: 'sqlite::memory:', tenant: 'none' }, catalog) as Storage
}

function after<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
