/**
 * Which tenants are under maintenance (ERR-6). As for the whole database, every server polls the switches in the
 * operators' database, and no request waits for that.
 */
import type { Maintenance, TenantStore } from '../storage/storage.ts'
import { isSame, pollSwitches } from './maintenance.ts'
import type { Observe } from './observe/observe.ts'

/** What polling needs. */
interface TenantMaintenanceOptions {
  readonly registry: Pick<TenantStore, 'maintenance'>
  readonly observe: Observe
}

/** Polls the switches of tenants until it is closed. While they cannot be read, the last state holds. */
export class TenantMaintenance {
  readonly #options: TenantMaintenanceOptions
  // A database that cannot be read is reported by the other polls of tenants.
  readonly #polling = pollSwitches(() => this.#read())
  #found: ReadonlyMap<string, Maintenance> = new Map()
  #known: Promise<void> | undefined

  constructor(options: TenantMaintenanceOptions) {
    this.#options = options
  }

  /** The maintenance of a tenant; `undefined`: it is off. */
  of(id: string): Maintenance | undefined {
    return this.#found.get(id)
  }

  /**
   * Resolves once the switches were read: a server needs them before the first request of a tenant.
   *
   * @throws StorageFault if they cannot be read
   */
  known(): Promise<void> {
    this.#known ??= this.#polling.poll().catch((error: unknown) => {
      this.#known = undefined
      throw error
    })
    return this.#known
  }

  /** Ends polling. */
  close(): Promise<void> {
    return this.#polling.close()
  }

  async #read(): Promise<void> {
    const before = this.#found
    const found = await this.#options.registry.maintenance()
    this.#found = found
    const { observe } = this.#options
    for (const [tenant, current] of found) {
      if (!isSame(current, before.get(tenant))) observe({ kind: 'maintenance', state: 'on', tenant, ...current })
    }
    for (const tenant of before.keys()) {
      if (!found.has(tenant)) observe({ kind: 'maintenance', state: 'off', tenant })
    }
  }
}
