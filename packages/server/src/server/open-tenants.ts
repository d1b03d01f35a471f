/**
 * The tenants that a server serves (TEN-2): for each that is in use an application of its own on its own database. It
 * is closed when nobody has used it for a minute and it has nothing to do, and opened again when somebody asks for it,
 * or when a job, a delivery or the removal of old data is due.
 */
import { memberAt } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import { isTenantName } from 'resourced-contract/model/tenants'
import { Fault, fault } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import { type Authenticate, type KnownKey, refusedCredential } from '../policy/authenticate.ts'
import type { Caller } from '../policy/caller.ts'
import type { AuthenticateOwn } from '../policy/own-credentials.ts'
import type { Storage, TenantEntry, TenantStore } from '../storage/storage.ts'
import { type DatabaseParts, openParts, type SharedParts } from './database-parts.ts'
import { maintenanceFault } from './maintenance.ts'
import type { Observe } from './observe/observe.ts'
import type { AppServices, Tenants } from './stages.ts'
import { TenantMaintenance } from './tenant-maintenance.ts'
import { movingTenant, requireActive, unknownTenant } from './tenants/databases.ts'
import { KeptOpen, type Lease } from './tenants/kept-open.ts'

/** The databases of tenants, as a thread that serves them has them. */
export interface ServedTenants {
  /**
   * Opens the database of a tenant.
   *
   * @throws Fault UNKNOWN_TENANT, TENANT_MIGRATING
   */
  open(id: string): Promise<Storage>
  /** Opens an empty database that nobody writes. */
  openEmpty(): Storage
  /** Begins to migrate the tenants; left out: another thread does. */
  migrate?(): void
  /** Whether this thread opens tenants that have something to do. */
  readonly wakes: boolean
  /** How long a tenant stays open that nobody uses, in milliseconds; a minute by default. */
  readonly idle?: number | undefined
  close(): Promise<void>
}

/** What serving tenants needs. */
interface OpenTenantsOptions {
  readonly tenants: ServedTenants
  readonly registry: TenantStore
  /** The catalog of every tenant. */
  readonly catalog: Catalog
  /** Begins to serve the database of a tenant. */
  readonly serve: (catalog: Catalog, storage: Storage, tenant: AppServices['tenant']) => DatabaseParts
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly paused: () => boolean
  readonly failed: (error: unknown) => void
  readonly observe: Observe
}

/** A tenant that is open. */
interface OpenTenant {
  readonly parts: DatabaseParts
  /** When old data was to be removed, as it was planned before it was opened. */
  readonly plannedAt: number
  /** When a request last changed something, and when old data was last removed; 0: not since it was opened. */
  changedAt: number
  maintainedAt: number
  /** Requests that began before it was deleted or moved change nothing more. */
  isInactive: boolean
}

const second = 1_000
const hour = 3_600_000
const day = 24 * hour
/** A tenant with something to do within this time stays open, in milliseconds. */
const soon = 60_000
/** How often tenants that have something to do are looked for, in milliseconds. */
const wakeInterval = 5 * second
/** How many of them are opened at the same time. */
const mostWoken = 4

/** The open tenants of a server. */
export class OpenTenants implements Tenants {
  readonly #options: OpenTenantsOptions
  readonly #settings: NonNullable<Catalog['tenants']>
  readonly #open: KeptOpen<OpenTenant>
  readonly #maintenance: TenantMaintenance
  readonly #timers: NodeJS.Timeout[]
  #empty: DatabaseParts | undefined
  #waking: Promise<void> | undefined
  #isStopping = false

  constructor(options: OpenTenantsOptions) {
    const { tenants, catalog, failed, registry, observe } = options
    this.#options = options
    this.#maintenance = new TenantMaintenance({ registry, observe })
    this.#settings = catalog.tenants as NonNullable<Catalog['tenants']>
    this.#open = new KeptOpen<OpenTenant>({
      open: (id) => this.#begin(id),
      close: ({ parts }) => parts.close(),
      mayClose: (tenant, id) => this.#mayClose(tenant, id),
      failed,
      ...(tenants.idle !== undefined && { idle: tenants.idle }),
      ...(tenants.idle === Number.POSITIVE_INFINITY && { most: tenants.idle }),
    })
    this.#timers = [setInterval(() => void this.#endInactive().catch(failed), second).unref()]
    if (!tenants.wakes) return
    this.#timers.push(setInterval(() => this.#wake(), wakeInterval).unref())
    tenants.migrate?.()
    this.#wake()
  }

  /** The tenant that a caller's key or claim names; `undefined`: none, `null`: a claim that is no text. */
  nameOf(caller: Caller): string | null | undefined {
    if (caller.tenant !== undefined) return caller.tenant
    const found = memberAt(caller, this.#settings.caller.split('.'))
    if (found === undefined || found === null) return undefined
    return typeof found === 'string' ? found : null
  }

  /**
   * The application of a tenant, in use until the lease ends.
   *
   * @param creates whether a first use creates the tenant
   * @throws Fault UNKNOWN_TENANT, TENANT_MIGRATING, MAINTENANCE
   */
  async enter(name: string, creates: boolean): Promise<Lease<AppServices>> {
    const { registry, now, catalog } = this.#options
    if (!isTenantName(name)) throw unknownTenant()
    let entry = await registry.find(name)
    if (entry === undefined && this.#settings.create === 'first-use') {
      if (!creates) return { value: this.#emptyApp(), leave() {} }
      entry = await registry.create({ id: uuidv7(), name, most: catalog.limits.tenants, now: now() })
      if (entry === undefined) throw tooMany(catalog.limits.tenants)
      this.#empty?.streams?.endAll('closing')
    }
    requireActive(entry)
    const { value, leave } = await this.#open.use(entry.id)
    const maintenance = creates ? this.#maintenance.of(entry.id) : undefined
    if (maintenance !== undefined) {
      leave()
      throw maintenanceFault(maintenance)
    }
    if (creates) value.changedAt = now()
    return { value: value.parts.app, leave }
  }

  /** The API key with a hash, of whichever tenant, in its own database. */
  async findKey(hash: string): Promise<KnownKey | undefined> {
    const entry = await this.#options.registry.tenantOfKey(hash)
    if (entry?.state === 'moving') throw movingTenant()
    if (entry?.state !== 'active') return undefined
    const { value, leave } = await this.#open.use(entry.id)
    try {
      const key = await value.parts.app.storage.keys.find(hash)
      return key && { ...key, tenant: entry.name }
    } finally {
      leave()
    }
  }

  /** Notes that a key of a tenant is used. */
  noteUse(tenant: string, key: string): void {
    for (const [, { parts }] of this.#open.open()) {
      if (parts.app.tenant?.name === tenant) parts.keyUses.note(key)
    }
  }

  /** A key was revoked: streams check their credentials. */
  recheck(): void {
    for (const [, { parts }] of this.#open.open()) parts.streams?.recheck()
  }

  /** Ends all streams. */
  stop(): void {
    this.#isStopping = true
    for (const timer of this.#timers) clearInterval(timer)
    for (const [, { parts }] of this.#open.open()) parts.streams?.close()
    this.#empty?.streams?.close()
  }

  /** Closes all tenants, after all requests have ended. */
  async close(): Promise<void> {
    this.stop()
    await this.#waking
    await this.#maintenance.close()
    await this.#open.close()
    await this.#empty?.close()
    await this.#options.tenants.close()
  }

  async #begin(id: string): Promise<OpenTenant> {
    const { tenants, registry, catalog, serve, now } = this.#options
    if (this.#isStopping) throw fault('SHUTTING_DOWN')
    // Before it is opened, which makes it due.
    const { name, wakesAt } = (await registry.get(id)) as TenantEntry
    await this.#maintenance.known()
    const storage = await tenants.open(id)
    const opened = await registry.get(id)
    // That may take so long that it was deleted, or is being moved.
    if (opened?.state !== 'active') await storage.close()
    requireActive(opened)
    let tenant: OpenTenant | undefined
    const guarded: Storage = {
      ...storage,
      run(plan, requester) {
        if (tenant?.isInactive !== true) return storage.run(plan, requester)
        return registry.get(id).then((entry) => {
          requireActive(entry)
          return storage.run(plan, requester)
        })
      },
    }
    const maintenance = () => this.#maintenance.of(id)
    const addKey = (hash: string) => registry.addKey(hash, id)
    const parts = serve(catalog, guarded, { id, name, addKey, dropKey: registry.dropKey, maintenance })
    // The request that opens a tenant may be its first change.
    await parts.deliveries?.begun
    const times = { plannedAt: wakesAt ?? now() + day, changedAt: 0, maintainedAt: 0 }
    tenant = { parts, ...times, isInactive: false }
    if (tenant.plannedAt <= now()) void this.#maintain(tenant)
    return tenant
  }

  /** Removes old data. The runner reports failures. */
  async #maintain(tenant: OpenTenant): Promise<void> {
    tenant.maintainedAt = this.#options.now()
    await tenant.parts.runner.maintain()
  }

  /** Whether a caller, who reads an empty database so far, still names no tenant that there is. */
  async isUnknown(caller: Caller): Promise<boolean> {
    const name = this.nameOf(caller)
    return typeof name === 'string' && (await this.#options.registry.find(name)) === undefined
  }

  #emptyApp(): AppServices {
    const { tenants, catalog, serve } = this.#options
    this.#empty ??= serve(catalog, tenants.openEmpty(), undefined)
    return this.#empty.app
  }

  /** Notes when a tenant has something to do next, and lets it be closed if that is not soon. */
  async #mayClose(tenant: OpenTenant, id: string): Promise<boolean> {
    const { registry, now } = this.#options
    const { streams } = tenant.parts
    if (streams !== undefined && streams.size > 0) return false
    if (this.#maintenance.of(id) !== undefined) {
      // What waits for the end of its maintenance is due then.
      await registry.keepWake(id, now())
      return true
    }
    const due = await this.#nextDue(tenant)
    if (due < now() + soon) return false
    await registry.keepWake(id, due)
    return true
  }

  async #nextDue(tenant: OpenTenant): Promise<number> {
    const { parts } = tenant
    const now = this.#options.now()
    if (this.#removalOf(tenant, now) < now + soon) await this.#maintain(tenant)
    if ((await parts.app.storage.jobs.open()).length > 0) return now
    return Math.min(this.#removalOf(tenant, now), (await parts.deliveries?.nextDue()) ?? Number.POSITIVE_INFINITY)
  }

  /** When old data is removed next: an hour after a change, or as it was planned; else in a day. */
  #removalOf({ plannedAt, changedAt, maintainedAt }: OpenTenant, now: number): number {
    const afterChange = changedAt > maintainedAt ? changedAt + hour : now + day
    return maintainedAt > 0 ? afterChange : Math.min(afterChange, plannedAt)
  }

  /** Ends the streams of tenants that were deleted, and closes their databases. */
  async #endInactive(): Promise<void> {
    const { registry } = this.#options
    const open = new Map(this.#open.open())
    for (const id of await registry.inactive([...open.keys()])) {
      const tenant = open.get(id)
      if (tenant !== undefined) tenant.isInactive = true
      tenant?.parts.streams?.endAll('closing')
      void this.#open.drop(id)
    }
  }

  #wake(): void {
    this.#waking ??= this.#wakeDue()
      .catch(this.#options.failed)
      .finally(() => {
        this.#waking = undefined
      })
  }

  /** Opens the tenants that have something to do, a few at a time. */
  async #wakeDue(): Promise<void> {
    const { registry, now, paused } = this.#options
    const tried = new Set<string>()
    await this.#maintenance.known()
    const work = async () => {
      while (!this.#isStopping && !paused()) {
        const id = (await registry.due(now(), tried.size + 1)).find((each) => !tried.has(each))
        if (id === undefined) return
        tried.add(id)
        if (this.#maintenance.of(id) === undefined) await this.#wakeOne(id)
      }
    }
    await Promise.all(Array.from({ length: mostWoken }, work))
  }

  async #wakeOne(id: string): Promise<void> {
    try {
      // Old data is removed when it is opened, since that is due.
      const { leave } = await this.#open.use(id)
      leave()
    } catch (error) {
      // It was deleted, or is being migrated.
      if (!(error instanceof Fault)) this.#options.failed(error)
    }
  }
}

/** What `serveTenants` needs besides: the parts that all databases share. */
interface ServingOptions extends Omit<OpenTenantsOptions, 'serve' | 'registry' | 'observe'> {
  readonly registry: TenantStore | undefined
  readonly shared: SharedParts
}

/** Begins to serve tenants. Each has its own callers: those of another are refused in its streams. */
export function serveTenants({ shared, registry, ...options }: ServingOptions): OpenTenants {
  if (registry === undefined) throw new Error('The database is not that of operators.')
  const open: OpenTenants = new OpenTenants({
    ...options,
    registry,
    observe: shared.services.observe,
    serve(catalog, storage, tenant) {
      const belongs = (caller: Caller) =>
        tenant === undefined ? open.isUnknown(caller) : open.nameOf(caller) === tenant.name
      const authentication = authenticationOf(shared.services, belongs)
      return openParts(shared, { catalog, storage, tenant, tenants: undefined, ...authentication })
    },
  })
  return open
}

/** How the callers of an application are authenticated. */
interface Authentication {
  readonly authenticate: Authenticate
  readonly authenticateOwn: AuthenticateOwn | undefined
}

/**
 * The same authentication for callers of one tenant alone.
 *
 * @param belongs whether a caller belongs to it
 */
function authenticationOf(
  { authenticate, authenticateOwn }: Authentication,
  belongs: (caller: Caller) => boolean | Promise<boolean>,
): Authentication {
  const required = async <C extends Caller | undefined>(caller: C): Promise<C> => {
    if (caller === undefined || (await belongs(caller))) return caller
    throw refusedCredential({ credential: 'own', reason: 'refused' })
  }
  const checked = async (authorization: string | undefined) => required(await authenticate(authorization))
  return {
    authenticate: Object.assign(checked, {
      // Whether the caller belongs to the tenant may have to be read.
      remembered(authorization: string | undefined) {
        const caller = authenticate.remembered(authorization)
        return caller !== undefined && belongs(caller) === true ? caller : undefined
      },
      forget: () => authenticate.forget(),
    }),
    authenticateOwn: authenticateOwn && (async (request) => required(await authenticateOwn(request))),
  }
}

function tooMany(most: number): Error {
  const detail = `There are ${most.toLocaleString('en')} tenants, which is as many as first uses create.`
  return fault('UNKNOWN_TENANT', { detail })
}
