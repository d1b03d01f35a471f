/**
 * The client of an interface: methods for each collection, over any way to send a request. `createClient` sends by
 * HTTP, and `app.as` calls the application in the same process.
 */
import { byName, type ClientParts, type Collection, collectionAt } from './collection.ts'
import { type Events, followEvents } from './events.ts'
import { exchange, segment } from './exchange.ts'
import type { CollectionTypes, UntypedInterface } from './interface-types.ts'
import { type Exports, exportsOf, Job } from './jobs.ts'
import { relationsOf } from './related-reads.ts'
import type { CallOptions } from './send.ts'
import { type RunTransaction, transactionsOf } from './transaction.ts'
import type { Deliveries, Webhooks } from './webhooks.ts'

/** Who calls, and what they may do. */
export interface CallerInformation {
  readonly id: string
  readonly roles: readonly string[]
  readonly credential: 'api-key' | 'jwt' | 'own'
  readonly expires_at: string | null
  /** By collection, then by action: the records on which the action is permitted. */
  readonly permissions: Readonly<
    Record<string, Readonly<Record<string, { readonly granted: 'all' | 'some' | 'none' }>>>
  >
  /** By collection, then by field: fields that not everybody may use who may use the record. */
  readonly field_permissions: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly [Use in 'read' | 'write']?: { readonly granted: 'all' | 'some' | 'none' } }>>
    >
  >
}

/** The jobs of the caller. */
export interface Jobs {
  get(id: string, options?: CallOptions): Promise<Job>
  list: Collection['list']
  all: Collection['all']
  /** Deletes a job that has ended. */
  delete(id: string, options?: CallOptions): Promise<void>
}

/** What every interface has. No collection can have these names (RES-3). */
export interface SystemCalls {
  readonly jobs: Jobs
  readonly exports: Exports
  readonly 'api-keys': Collection
  readonly caller: { get(options?: CallOptions): Promise<CallerInformation> }
}

/** What depends on the collections. */
interface Transactions<Types> {
  /**
   * Makes several changes in one request: all of them, or none. Nothing is sent before the function returns. The
   * records in what it returns are there in what the call resolves to.
   *
   * @example
   * const { box, ticket } = await client.transaction((t) => {
   *   const box = t.boxes.create({ name: 'Blue' })
   *   const ticket = t.tickets.create({ title: 'First', box_id: box.id })
   *   return { box, ticket }
   * })
   */
  readonly transaction: RunTransaction<Types>
}

/**
 * The collections of an interface by their names, such as `client.tasks.list()` and `client['line-items'].list()`, and
 * what every interface has.
 */
export type Client<Types = UntypedInterface> = SystemCalls &
  Transactions<Types> &
  EventCalls<Types> & {
    readonly [Name in keyof Types]: Types[Name] extends CollectionTypes ? Collection<Types[Name], Types> : never
  }

/** What every interface with events has. */
interface EventCollections<Types> {
  readonly events: Events<Types>
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
}

/** The events of an interface and their deliveries, unless it has collections of its own with these names. */
type EventCalls<Types> = string extends keyof Types
  ? EventCollections<Types>
  : Omit<EventCollections<Types>, keyof Types>

/** Makes a client over a way to send. */
export function makeClient(given: Omit<ClientParts, 'relations'>): Client {
  const { send } = given
  const parts: ClientParts = { ...given, relations: relationsOf(send) }
  const jobs = collectionAt(parts, '/jobs')
  const system: Readonly<Record<string, unknown>> = {
    jobs: {
      ...{ list: jobs.list, all: jobs.all },
      get: async (id: string, options?: CallOptions) => new Job(send, await jobs.get(id, options)),
      delete: async (id: string, options?: CallOptions) => void (await jobs.delete(id, options)),
    } satisfies Jobs,
    exports: exportsOf(send),
    transaction: transactionsOf(send),
    events: Object.assign(followEvents(send), collectionAt(parts, '/events')),
    caller: { get: async (options) => (await exchange(send, 'GET', '/caller', options)).body as never },
  } satisfies Omit<SystemCalls, 'api-keys'> & Readonly<Record<string, unknown>>
  return byName((name) => (Object.hasOwn(system, name) ? system[name] : collectionAt(parts, segment(name)))) as never
}
