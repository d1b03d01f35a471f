/**
 * Functions of the declaration that run after a change (EVT-12). The functions of a resource are one consumer, so that
 * they run in the order of the changes of a record.
 */
import { AbandonedFunction, awaitDeclared, FunctionFault } from 'resourced-contract/model/declared-function'
import type { EventContext, EventFunction, FunctionClient } from 'resourced-contract/model/declared-functions'
import { consumerOfFunctions, type EventKind } from 'resourced-contract/model/event'
import { deepFreeze } from 'resourced-contract/model/plain-copy'
import { allOf, always, type Predicate } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { planEvents, type ReadEvent, type ReadEvents } from '../plan/plan-events.ts'
import type { ClaimedDelivery, DeliveryStore, FunctionKinds } from '../storage/delivery-store.ts'
import type { EventStore } from '../storage/storage.ts'
import { type AttemptResult, answerOf, type Consumer, readDelivered, readWanted, withoutRecords } from './consumer.ts'

/** What the functions of an application need. */
interface FunctionOptions {
  /** The catalog of the current version. */
  readonly catalog: Catalog
  readonly events: EventStore
  readonly deliveries: Pick<DeliveryStore, 'removeKind'>
  /** The client that functions get. */
  readonly client: FunctionClient
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called with each failure of a function, for the log. */
  readonly failed: (error: unknown) => void
}

/** The functions of a catalog. The name of a consumer is the place of its functions in the declaration. */
export function kindsOfFunctions({ resources }: Catalog): FunctionKinds[] {
  return [...resources.values()].flatMap(({ name, on }) => {
    const kinds = Object.keys(on) as EventKind[]
    return kinds.length > 0 ? [{ name: consumerOfFunctions(name), kinds }] : []
  })
}

/** The consumers of the resources that have functions, by name. */
export function functionConsumers(options: FunctionOptions): ReadonlyMap<string, Consumer> {
  const resources = [...options.catalog.resources.values()].filter(({ on }) => Object.keys(on).length > 0)
  return new Map(resources.map((resource) => [consumerOfFunctions(resource.name), functionConsumer(options, resource)]))
}

/**
 * The consumer of functions that this declaration does not have. Servers of another declaration may have them: it reads
 * no events, so that none is lost to them, and lets go of deliveries only after a while.
 */
export function removedFunctions(options: Pick<FunctionOptions, 'deliveries' | 'now'>): Consumer {
  return {
    read: undefined,
    deliver: async (delivery) => withoutFunction(options, delivery),
  }
}

function functionConsumer(options: FunctionOptions, resource: Resource): Consumer {
  const { events } = options
  return {
    // All kinds that servers have functions for: another one may have functions that this one lacks.
    read: (after, limit, kinds = {}) =>
      readWanted(
        events,
        withoutRecords(planOf(options, resource, Object.keys(kinds) as EventKind[], after.position, limit)),
        after,
        ({ kind, position }) => position > (kinds[kind] ?? 0),
      ),
    async deliver(delivery, signal) {
      const call = resource.on[delivery.kind] as EventFunction | undefined
      if (call === undefined) return withoutFunction(options, delivery)
      const planAfter = (position: number) => planOf(options, resource, undefined, position, 1)
      const event = await readDelivered(events, delivery, planAfter)
      if (event === undefined) return { kind: 'discarded', reason: 'The event is no longer kept.' }
      return run(options, { place: `${consumerOfFunctions(resource.name)}.${delivery.kind}`, call, event, signal })
    },
  }
}

/** Servers of an earlier or later declaration may have the function: a rolling deployment ends within this time. */
const deploymentTime = 600_000

/** The result of a delivery that this server has no function for. */
async function withoutFunction(
  { deliveries, now }: Pick<FunctionOptions, 'deliveries' | 'now'>,
  { kind, collection, firstAt }: ClaimedDelivery,
): Promise<AttemptResult> {
  if (now() - firstAt < deploymentTime) return { kind: 'stopped' }
  // A server that has the function after all adds the kind again.
  await deliveries.removeKind(consumerOfFunctions(collection), kind)
  return { kind: 'discarded', reason: `The declaration has no function for ${kind} any more.` }
}

function planOf(
  { catalog }: FunctionOptions,
  { name }: Resource,
  kinds: readonly EventKind[] | undefined,
  after: number,
  limit: number,
): ReadEvents | undefined {
  const ofCollection: Predicate = { kind: 'in', field: 'collection', values: [name] }
  const ofKinds: Predicate = kinds === undefined ? always : { kind: 'in', field: 'kind', values: kinds }
  const filter = allOf([ofCollection, ofKinds])
  return planEvents({ catalog, versionCatalog: catalog, caller: 'everyone', filter }, after, limit)
}

/** What a function gets of an event as it is shown. */
interface Shown extends Partial<Pick<EventContext['event'], 'request_id'>> {
  readonly data?: EventContext['record']
}

/** One run of a function. */
interface Run {
  readonly place: string
  readonly call: EventFunction
  readonly event: ReadEvent
  /** Aborts when the server stops. */
  readonly signal: AbortSignal
}

async function run({ client, catalog, failed }: FunctionOptions, { place, call, event, signal }: Run) {
  const began = performance.now()
  const { id, kind, collection, record, createdAt: created_at } = event
  const { data = null, request_id = null } = JSON.parse(event.json) as Shown
  const given = deepFreeze({ event: { id, kind, collection, record, request_id, created_at }, record: data })
  const bounds = { limit: catalog.limits.functionTime, abandoned: signal }
  const duration = () => Math.round(performance.now() - began)
  try {
    // What a function returns has no meaning.
    // The log names the event: only the values of the record's fields are removed from messages.
    await awaitDeclared(place, { ...given.record, id: null }, bounds, (ending) =>
      call(Object.freeze({ ...given, client, signal: ending })),
    )
    return { kind: 'succeeded', answer: answerOf(null, duration()) } as const
  } catch (error) {
    if (!(error instanceof AbandonedFunction)) failed(error)
    const words = error instanceof FunctionFault ? error.message : 'The server stopped while the function ran.'
    return { kind: 'failed', answer: answerOf(words, duration()) } as const
  }
}
