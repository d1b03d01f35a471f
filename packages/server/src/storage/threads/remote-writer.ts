/**
 * The writer thread of a database, and what other threads ask of it. Only the writer changes the database: it runs all
 * transactions, with the functions of the declaration, and commits together what arrived together.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Outcome } from '../../plan/outcome.ts'
import type { Write } from '../../plan/plan.ts'
import { type Commit, type OnCommit, type Storage, StorageFault, type TenantStore } from '../storage.ts'
import { inBatches } from '../transaction.ts'
import { type Channel, errorOf, openChannel, type PlainError, plainError } from './channel.ts'
import { type PlainPlan, plainPlan, planOf } from './plain-plan.ts'

/** The parts of a storage whose methods another thread may call: their arguments and results are plain data. */
const parts = ['jobs', 'deliveries', 'keys', 'tenants', 'maintenance', 'purgeClock'] as const
type Part = (typeof parts)[number]

/** What a thread may ask of the writer. */
interface WriterCalls {
  /** Resolves when the database is open. */
  opened(asked: OfTenant): Promise<void>
  run(asked: OfTenant & { readonly plan: PlainPlan }): Promise<Outcome>
  of(method: OfTenant & MethodCall): Promise<unknown>
  ping(): Promise<void>
}

/** What is asked of the database of a tenant, by its id; left out: of the operators', or of the only one. */
interface OfTenant {
  readonly tenant?: string | undefined
}

interface MethodCall {
  readonly part: Part
  readonly name: string
  readonly given: readonly unknown[]
}

/** What the writer tells a thread. */
interface ReaderCalls {
  /** The writer has made a commit; one of the threads is told. */
  committed(commit: Commit): void
  /** Something has failed that nobody waits for; one of the threads is told. */
  failed(error: PlainError): void
}

/** Tells a thread what the writer has done. */
export interface ToldThread {
  committed: OnCommit
  failed(error: unknown): void
}

/** The database of a writer. */
export interface OpenDatabase {
  readonly catalog: Catalog
  readonly storage: Storage
  /** Ends the use of a tenant's database; left out: it stays open. */
  leave?(): void
}

/**
 * Lets another thread call the storage of this thread.
 *
 * @param open opens a database, or gives it if it is open: when a thread asks, which then has found its options right
 * @returns tells that thread of commits and failures
 */
export function serveWriter(port: MessagePort, open: (tenant?: string) => Promise<OpenDatabase>): ToldThread {
  const using = async <T>({ tenant }: OfTenant, work: (opened: OpenDatabase) => Promise<T>): Promise<T> => {
    const opened = await open(tenant)
    return opened.leave === undefined ? work(opened) : work(opened).finally(opened.leave)
  }
  const calls: WriterCalls = {
    opened: (asked) => using(asked, async () => {}),
    run: (asked) => using(asked, ({ catalog, storage }) => storage.run(planOf(catalog, asked.plan))),
    of: ({ part, name, given, ...asked }) =>
      using(asked, async ({ storage }) => {
        const methods = storage[part] as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>
        return methods[name]!(...given)
      }),
    ping: () => using({}, ({ storage }) => storage.ping()),
  }
  const { tell } = openChannel<ReaderCalls>(port, calls)
  port.unref()
  return { committed: (commit) => tell('committed', commit), failed: (error) => tell('failed', plainError(error)) }
}

/** A writer as another thread reaches it. */
export interface WriterPort {
  readonly port: MessagePort
  /** One 32-bit integer: how many commits run, or are not answered yet. */
  readonly committing: SharedArrayBuffer
}

/** The writer, for another thread. */
export interface RemoteWriter extends Pick<Storage, Exclude<Part, 'tenants'> | 'ping'> {
  /** The tenants of an operators' database, which this thread reads by itself. */
  tenantsBeside(reading: TenantStore): TenantStore
  run(plan: Write): Promise<Outcome>
  /** Resolves when the writer has opened the database, and brought it up to date. */
  opened(): Promise<void>
  /** Tells of the commits that this thread is told of. */
  observe(onCommit: OnCommit): void
  /** Tells of the failures that this thread is told of. */
  watch(onFailure: (error: unknown) => void): void
  /** The writer of the database of a tenant. */
  ofTenant(id: string): RemoteWriter
  /** From now on, asks another writer. */
  use(way: WriterPort): void
}

/**
 * Asks a writer for changes. If it ends, they wait for the next one.
 *
 * @param patience for how long they wait, in milliseconds: as long as for the lock of another process
 */
export function remoteWriter(first: WriterPort, patience = 5_000): RemoteWriter {
  let writer: Promise<Channel<WriterCalls>>
  let found: (channel: Channel<WriterCalls>) => void
  let onCommit: OnCommit = () => {}
  // The writer begins to migrate tenants before this thread has opened its database.
  const unheard: unknown[] = []
  let onFailure: (error: unknown) => void = (error) => void unheard.push(error)
  const calls: ReaderCalls = {
    committed: (commit) => onCommit(commit),
    failed: (error) => onFailure(errorOf(error)),
  }
  const lose = () => {
    const next = Promise.withResolvers<Channel<WriterCalls>>()
    writer = next.promise
    found = next.resolve
    const late = new StorageFault('busy', 'The thread that writes has ended, and none has taken its place yet.')
    setTimeout(() => next.reject(late), patience).unref()
    writer.catch(() => {})
  }
  const use = ({ port, committing }: WriterPort) => {
    const count = new Int32Array(committing)
    const isCommitting = () => Atomics.load(count, 0) > 0
    const ended = () =>
      isCommitting()
        ? new StorageFault('uncertain', 'The thread that writes ended during a commit.')
        : new StorageFault('busy', 'The thread that writes ended, and another one takes its place.')
    const channel = openChannel<WriterCalls>(port, calls, ended)
    const current = Promise.resolve(channel)
    // The next writer may be known before the end of this one is.
    port.once('close', () => writer === current && lose())
    port.unref()
    found(channel)
    writer = current
  }
  lose()
  use(first)
  const opened = async (asked: OfTenant): Promise<void> => {
    const current = writer
    try {
      await (await current).call('opened', asked)
    } catch (error) {
      if (writer === current) throw error
      await opened(asked)
    }
  }
  const of = (asked: OfTenant): RemoteWriter => {
    /** Methods that the writer has; `own` are those of this thread. What is awaited must not look like a promise. */
    const part = <P extends Part>(name: P, own: object = {}): NonNullable<Storage[P]> => {
      const call =
        (method: string | symbol) =>
        async (...given: readonly unknown[]) =>
          (await writer).call('of', { ...asked, part: name, name: String(method), given })
      const get = (_: unknown, method: string | symbol) => {
        if (method in own) return Reflect.get(own, method)
        return method === 'then' ? undefined : call(method)
      }
      return new Proxy(own, { get }) as NonNullable<Storage[P]>
    }
    const jobs = part('jobs', {
      deleteExpired: (now: number, goesOn = () => true) => inBatches(() => jobs.deleteSomeExpired(now), goesOn),
    })
    return {
      opened: () => opened(asked),
      run: async (plan) => (await writer).call('run', { ...asked, plan: plainPlan(plan) }),
      ping: async () => {
        const late = new StorageFault('busy', 'The thread that writes does not answer.')
        const isLate = sleep(patience, undefined, { ref: false }).then(() => Promise.reject(late))
        await Promise.race([(await writer).call('ping'), isLate])
      },
      observe(given) {
        if (asked.tenant === undefined) onCommit = given
      },
      watch(given) {
        onFailure = given
        for (const error of unheard.splice(0)) given(error)
      },
      ofTenant: (tenant) => of({ tenant }),
      use,
      jobs,
      deliveries: part('deliveries'),
      keys: part('keys'),
      tenantsBeside: ({ find, get, inactive, maintenance, tenantOfKey }) =>
        part('tenants', { find, get, inactive, maintenance, tenantOfKey }),
      maintenance: part('maintenance'),
      purgeClock: part('purgeClock'),
    }
  }
  return of({})
}
