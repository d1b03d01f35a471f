/**
 * The databases of tenants on the thread that writes them (TEN-2): each is created, opened, brought up to the current
 * declaration and closed when it is needed, and removed when its grace period has ended.
 */
import type { Catalog } from 'resourced-contract/model/resource'
import { fault } from 'resourced-contract/spec/faults'
import type { Host, OpenOptions } from '../../storage/administration/administration.ts'
import { MigrationRefused } from '../../storage/migration/migration-step.ts'
import type { OpenJob, Storage, TenantEntry, TenantStore } from '../../storage/storage.ts'
import { KeptOpen, type Lease } from './kept-open.ts'

/** What the databases need. */
export interface TenantDatabasesOptions {
  readonly host: Host
  /** The operators' database. */
  readonly operators: Storage
  /** The catalog of every tenant. */
  readonly catalog: Catalog
  readonly opening: OpenOptions
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly failed: (error: unknown) => void
  /** How long a database stays open that nobody uses, in milliseconds: infinity if it would be lost. */
  readonly idle: number | undefined
}

/** How long a database stays open by default, in milliseconds: servers that have a tenant open ask every second. */
const usualIdle = 10_000
/** How often tenants are looked for that are no longer served, in milliseconds: a move waits until they are closed. */
const closingInterval = 1_000
/** How many tenants are migrated at the same time. */
const mostMigrations = 2
/** How many tenants that are to be migrated are read at a time. */
const batch = 100

/** The databases of tenants. */
export class TenantDatabases {
  /** The operators' database, as servers use it. */
  readonly operators: Storage
  readonly #options: TenantDatabasesOptions
  readonly #registry: TenantStore
  readonly #hash: string
  readonly #kept: KeptOpen<Storage>
  /** When tenants have something to do, as servers have noted it: stored once the tenant is closed. */
  readonly #wakes = new Map<string, number>()
  /** The tenants that are migrated first, because somebody asks for them. */
  readonly #urgent = new Set<string>()
  /** The tenants whose migration was refused. */
  readonly #refused = new Set<string>()
  /** The tenants whose databases this process has removed. */
  readonly #removed = new Set<string>()
  readonly #timer: NodeJS.Timeout | undefined
  #migrating: Promise<void> | undefined
  #isClosed = false

  constructor(options: TenantDatabasesOptions) {
    const { operators, host, catalog, failed, idle = usualIdle } = options
    this.#options = options
    this.#registry = operators.tenants as TenantStore
    this.#hash = host.hashOf(catalog)
    this.#kept = new KeptOpen<Storage>({
      open: (id) => this.#open(id),
      close: (storage, id) => this.#close(storage, id),
      mayClose: async () => true,
      failed,
      idle,
      ...(idle === Number.POSITIVE_INFINITY && { most: idle }),
    })
    if (idle !== Number.POSITIVE_INFINITY) {
      this.#timer = setInterval(() => void this.#closeInactive().catch(failed), closingInterval).unref()
    }
    const { jobs } = operators
    this.operators = {
      ...operators,
      tenants: {
        ...this.#registry,
        keepWake: async (id, at) => void this.#wakes.set(id, at),
        due: (now, most) => this.#due(now, most),
      },
      jobs: { ...jobs, step: (job, now) => this.#step(job, now) },
    }
  }

  /**
   * Uses the database of a tenant.
   *
   * @throws Fault UNKNOWN_TENANT, TENANT_MIGRATING
   */
  use(id: string): Promise<Lease<Storage>> {
    return this.#kept.use(id)
  }

  /** The database of a tenant, kept open until it is closed. */
  async open(id: string): Promise<Storage> {
    const { value, leave } = await this.use(id)
    return { ...value, close: async () => leave() }
  }

  /** Brings all tenants up to the current declaration, a few at a time. */
  migrate(): void {
    this.#migrating ??= this.#migrateAll()
      .catch(this.#options.failed)
      .finally(() => {
        this.#migrating = undefined
        if (this.#urgent.size > 0) this.migrate()
      })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#urgent.clear()
    await this.#migrating
    await this.#kept.close()
    await this.#options.host.close()
  }

  async #open(id: string): Promise<Storage> {
    const { host, catalog, opening, now } = this.#options
    const entry = await this.#registry.get(id)
    requireActive(entry)
    const isCurrent = entry.schemaHash === this.#hash
    if (!isCurrent && entry.schemaHash !== null) {
      this.#hasten(id)
      throw fault('TENANT_MIGRATING', {
        detail: 'Its database is being brought up to the declaration. Try again shortly.',
      })
    }
    // Before anything is done with it: after a crash it is opened again.
    await this.#registry.keepWake(id, now())
    const storage = await host.administer(id).open(catalog, { ...opening, isCurrent })
    if (!isCurrent) await this.#registry.keepHash(id, this.#hash)
    return storage
  }

  async #close(storage: Storage, id: string): Promise<void> {
    const { host, now } = this.#options
    await storage.close()
    const at = this.#wakes.get(id)
    this.#wakes.delete(id)
    if (at === undefined) return
    await this.#registry.keepSize(id, await host.size(id), now())
    await this.#registry.keepWake(id, at)
  }

  /** Closes the databases of tenants that were deleted, or are being moved. */
  async #closeInactive(): Promise<void> {
    const open = Array.from(this.#kept.open(), ([id]) => id)
    for (const id of await this.#registry.inactive(open)) void this.#kept.drop(id).catch(this.#options.failed)
  }

  /** Those that are open are due too, since they were opened. */
  async #due(now: number, most: number): Promise<readonly string[]> {
    const open = new Map(this.#kept.open())
    const due = await this.#registry.due(now, most + open.size)
    return due.filter((id) => !open.has(id)).slice(0, most)
  }

  #hasten(id: string): void {
    if (this.#isClosed || this.#refused.has(id)) return
    this.#urgent.add(id)
    this.migrate()
  }

  async #migrateAll(): Promise<void> {
    let after = ''
    let found: string[] = []
    const next = async (): Promise<string | undefined> => {
      if (this.#isClosed) return undefined
      for (const id of this.#urgent) {
        this.#urgent.delete(id)
        return id
      }
      if (found.length === 0) found = [...(await this.#registry.outdated(this.#hash, after, batch))]
      const id = found.shift()
      after = id ?? after
      return id
    }
    let asking: Promise<string | undefined> = Promise.resolve(undefined)
    const work = async () => {
      for (;;) {
        asking = asking.then(next)
        const id = await asking
        if (id === undefined) return
        await this.#migrateOne(id)
      }
    }
    await Promise.all(Array.from({ length: mostMigrations }, work))
  }

  async #migrateOne(id: string): Promise<void> {
    const { host, catalog, opening, failed } = this.#options
    if (this.#refused.has(id)) return
    try {
      const entry = await this.#registry.get(id)
      if (entry?.state !== 'active' || entry.schemaHash === this.#hash) return
      const storage = await host.administer(id).open(catalog, opening)
      await storage.close()
      await this.#registry.keepHash(id, this.#hash)
    } catch (error) {
      if (error instanceof MigrationRefused) this.#refused.add(id)
      failed(new Error(`The tenant ${id} could not be migrated. Run: resourced tenants migrate`, { cause: error }))
    }
  }

  /** Removes databases before a purge removes the records of their tenants, so that a crash leaves none behind. */
  async #step(job: OpenJob, now: number): ReturnType<Storage['jobs']['step']> {
    if (job.task === 'purge') {
      const gone = (await this.#registry.purged()).filter((id) => !this.#removed.has(id))
      for (const id of gone) await this.#remove(id)
    }
    return this.#options.operators.jobs.step(job, now)
  }

  async #remove(id: string): Promise<void> {
    await this.#kept.drop(id)
    await this.#options.host.remove(id)
    await this.#registry.dropKeys(id)
    await this.#registry.endMaintenance(id)
    this.#removed.add(id)
  }
}

/** @throws Fault UNKNOWN_TENANT, TENANT_MIGRATING */
export function requireActive(entry: TenantEntry | undefined): asserts entry is TenantEntry {
  if (entry?.state === 'moving') throw movingTenant()
  if (entry?.state !== 'active') throw unknownTenant()
}

/** The refusal of a tenant that is not there. */
export function unknownTenant(): Error {
  const detail =
    'The tenant that your credential names does not exist, or was deleted. Ask the operator of the service.'
  return fault('UNKNOWN_TENANT', { detail })
}

/** The refusal of a tenant that is being moved. */
export function movingTenant(): Error {
  return fault('TENANT_MIGRATING', { detail: 'The tenant is being moved to another database. Try again later.' })
}
