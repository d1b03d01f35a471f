/** A database with a consumer, for tests of the delivery worker without webhooks. */
import type { TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { eventMark } from 'resourced-contract/model/event'
import { uuidv7 } from 'uuidv7'
import { newDatabase } from '../../../../test/engine.ts'
import type { ReadEvent } from '../plan/plan-events.ts'
import type { ClaimedDelivery, DeliveryStore } from '../storage/delivery-store.ts'
import type { EventStore, Storage } from '../storage/storage.ts'
import type { AttemptResult, Consumer } from './consumer.ts'
import { removedFunctions } from './function-consumer.ts'
import { type DeliveryWorker, startDeliveries } from './worker.ts'

const catalog = completeCatalog({
  name: 'notes',
  resources: { notes: { fields: { text: { type: 'string' } }, events: true } },
})

/** Events that a test makes. */
export interface MadeEvents extends EventStore {
  /** Adds an event of a record. */
  add(record: string): ReadEvent
  /** Loses the last events, as a failover may. */
  lose(count: number): void
}

/** Consumers do not get the events of this record. */
export const unwanted = uuidv7()

/** Makes events that are in memory. */
export function madeEvents(): MadeEvents {
  const all: ReadEvent[] = []
  const markAt = (position: number) => eventMark(all[position - 1]?.id)
  return {
    lose: (count) => void all.splice(-count),
    add(record) {
      const known = { id: uuidv7(), collection: 'notes', record, kind: 'updated' as const }
      const event = { ...known, position: all.length + 1, createdAt: new Date().toISOString(), json: '{}' }
      all.push(event)
      return event
    },
    async read({ after, limit, mark }) {
      const isLost = mark !== undefined && mark !== markAt(after)
      const events = isLost ? [] : all.slice(after, after + limit)
      const position = after + events.length
      return { events, position, mark: markAt(position), isLost, more: position < all.length }
    },
    horizon: async () => all.length,
    mark: async (position) => markAt(position),
    floor: async () => 0,
    find: async (id) => all.find((event) => event.id === id)?.position,
  }
}

/** A database with workers on it. */
export interface Bench {
  readonly storage: Storage
  readonly deliveries: DeliveryStore
  readonly events: MadeEvents
  /** The clock: move it by setting `ahead`, in milliseconds. */
  readonly clock: { ahead: number }
  readonly failures: unknown[]
  /** Starts a worker. Its consumers do what is given by their names. `store`: the deliveries, where they may fail. */
  start(consumers: Readonly<Record<string, Deliver>>, server?: string, store?: DeliveryStore): DeliveryWorker
  /** The deliveries as records, in the order of their events. */
  // biome-ignore lint/suspicious/noExplicitAny: records have every shape
  shown(): Promise<any[]>
}

type Deliver = (delivery: ClaimedDelivery, signal: AbortSignal) => AttemptResult | Promise<AttemptResult>

/** Opens a database for a test, and closes it and its workers afterwards. */
export async function openBench(test: TestContext): Promise<Bench> {
  const database = await newDatabase()
  const storage = await database.open(catalog)
  const deliveries = storage.deliveries as DeliveryStore
  const events = madeEvents()
  const workers: DeliveryWorker[] = []
  const failures: unknown[] = []
  const clock = { ahead: 0 }
  const now = () => Date.now() + clock.ahead
  test.after(async () => {
    await Promise.all(workers.map((worker) => worker.close()))
    await storage.close()
    await database.remove()
  })
  return {
    ...{ storage, deliveries, events, failures, clock },
    start(consumers, server = uuidv7(), store = deliveries) {
      const consumerOf = (deliver: Deliver): Consumer => ({
        async read({ position, mark }, limit) {
          const read = await events.read({ after: position, limit, mark } as never)
          return { ...read, events: read.events.filter(({ record }) => record !== unwanted) }
        },
        deliver: async (delivery, signal) => deliver(delivery, signal),
      })
      const found = new Map(Object.entries(consumers).map(([name, deliver]) => [name, consumerOf(deliver)]))
      const worker = startDeliveries({
        ...{
          events,
          deliveries: store,
          server,
          now,
          interval: 20,
          functions: [...found.keys()].map((name) => ({ name, kinds: ['updated'] })),
        },
        findConsumer: ({ name }) => found.get(name) ?? removedFunctions({ deliveries, now }),
        paused: () => false,
        failed: (error) => void failures.push(error),
      })
      workers.push(worker)
      return worker
    },
    async shown() {
      const resource = catalog.system.get('deliveries') as never
      const always = { kind: 'always' } as const
      const outcome = await storage.run({
        ...{ kind: 'read-page', resource, parent: undefined, filter: always, permitted: always, search: undefined },
        ...{ deleted: undefined, sort: [], page: { style: 'offset', offset: 0, limit: 10_000 }, fields: undefined },
        conditions: {},
      })
      return JSON.parse(outcome.kind === 'page' ? `[${outcome.json}]` : '[]')
    },
  }
}

/** An attempt that succeeded. */
export const success: AttemptResult = {
  kind: 'succeeded',
  answer: { status: 204, duration_ms: 1, body: '', error: null },
}

/** An attempt that failed. */
export const failure: AttemptResult = {
  kind: 'failed',
  answer: { status: 500, duration_ms: 1, body: 'no', error: 'The receiver answered 500.' },
}
