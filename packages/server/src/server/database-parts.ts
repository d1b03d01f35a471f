/** What serves the requests about one database: its jobs, deliveries, streams and noted uses of keys. */
import type { AddressPolicy } from 'resourced-contract/model/address-policy'
import type { FunctionClient } from 'resourced-contract/model/declared-functions'
import type { Catalog } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import type { FindConsumer } from '../events/consumer.ts'
import { functionConsumers, kindsOfFunctions, removedFunctions } from '../events/function-consumer.ts'
import { createSender } from '../events/send.ts'
import { webhookConsumer } from '../events/webhook-consumer.ts'
import { type DeliveryWorker, startDeliveries } from '../events/worker.ts'
import { type ExportFiles, exportFiles } from '../jobs/export-files.ts'
import { type Runner, startRunner } from '../jobs/runner.ts'
import type { Authenticate } from '../policy/authenticate.ts'
import type { Storage } from '../storage/storage.ts'
import { clientOfFunctions } from './client-as.ts'
import { type KeyUses, noteUses } from './key-uses.ts'
import { respond } from './respond.ts'
import type { AppServices } from './stages.ts'
import { EventStreams } from './streams/event-streams.ts'
import type { StreamPlaces } from './streams/stream-places.ts'

/** What the databases of an application share. */
export interface SharedParts {
  /** What their requests share. */
  readonly services: Omit<AppServices, 'catalog' | 'storage' | 'runner' | 'files' | 'streams' | 'tenant' | 'tenants'>
  /** The name by which the server claims jobs and deliveries. */
  readonly server: string
  readonly paused: () => boolean
  readonly addressPolicy: AddressPolicy
  readonly streamPlaces: StreamPlaces | undefined
}

/** What serves one database. */
export interface DatabaseParts {
  readonly app: AppServices
  readonly runner: Runner
  readonly files: ExportFiles
  readonly keyUses: KeyUses
  readonly streams: EventStreams | undefined
  /** Delivers events to webhooks and functions; `undefined`: no resource is declared with events. */
  readonly deliveries: DeliveryWorker | undefined
  /** Finishes what runs, and closes the storage. */
  close(): Promise<void>
}

/** What one database has apart from the others. */
interface Own extends Pick<AppServices, 'tenant' | 'tenants'> {
  readonly catalog: Catalog
  readonly storage: Storage
  /** Authenticates the callers of streams. */
  readonly authenticate: Authenticate
  readonly authenticateOwn: AppServices['authenticateOwn']
}

/** Begins to run the jobs and to make the deliveries of a database. */
export function openParts(shared: SharedParts, own: Own): DatabaseParts {
  const { services, server } = shared
  const { now, observe, versions } = services
  const { catalog, storage, authenticate, authenticateOwn, tenant, tenants } = own
  // During maintenance of a tenant nothing of it changes, and everything is read.
  const paused = () => shared.paused() || tenant?.maintenance() !== undefined
  const files = exportFiles({ catalog, storage, server })
  const runner = startRunner({
    storage,
    files,
    now,
    paused,
    newJobId: uuidv7,
    statusUrlOf: (job) => `${versions.current.basePath}/jobs/${job}`,
    ended: ({ id, task }, status) => observe({ kind: 'job', job: id, task, status }),
    doubted: (doubt) =>
      observe(
        doubt === undefined ? { kind: 'purge', state: 'resumed' } : { kind: 'purge', state: 'stopped', ...doubt },
      ),
    failed: (error, job) =>
      observe({ kind: 'failure', requestId: job?.id ?? 'jobs', error, task: job?.task ?? 'other' }),
  })
  const client = clientOfFunctions(versions.current.basePath, (request, caller) => respond(app, request, caller))
  const deliveries = openDeliveries({ ...shared, paused }, own, client)
  const failed = (error: unknown) => observe({ kind: 'failure', requestId: 'keys', error })
  const keyUses = noteUses(storage.keys, now, failed, paused)
  const streams =
    storage.events &&
    new EventStreams({
      ...{ authenticate, authenticateOwn, now, observe, store: storage.events, secret: storage.cursorSecret },
      paused: shared.paused,
      failed: (error) => observe({ kind: 'failure', requestId: 'events', error, task: 'other' }),
      perCaller: catalog.limits.events.streams,
      places: shared.streamPlaces,
    })
  const app: AppServices = { ...services, catalog, storage, runner, files, streams, tenant, tenants }
  return {
    ...{ app, runner, files, keyUses, streams, deliveries: deliveries?.worker },
    async close() {
      streams?.close()
      await deliveries?.close()
      await runner.close()
      await keyUses.close()
      await storage.close()
    },
  }
}

/**
 * Begins to deliver events to webhooks and functions (EVT-9, EVT-12); `undefined` if no resource is declared with
 * events.
 */
function openDeliveries(
  { services: { now, observe, versions }, server, paused, addressPolicy }: SharedParts,
  { catalog, storage: { events, deliveries } }: Own,
  client: FunctionClient,
) {
  if (events === undefined || deliveries === undefined) return undefined
  const sender = createSender({ policy: addressPolicy })
  const webhooks = {
    ...{ catalog, events, deliveries, sender, now },
    disabled: (webhook: string, reason: string) => observe({ kind: 'webhook-disabled', webhook, reason }),
    sourceOf: (version: string, collection: string) => `${versions.all.get(version)?.basePath ?? ''}/${collection}`,
  }
  const failed = (error: unknown) => observe({ kind: 'failure', requestId: 'deliveries', error })
  const functions = functionConsumers({ catalog, events, deliveries, client, now, failed })
  const removed = removedFunctions({ deliveries, now })
  const findConsumer: FindConsumer = ({ name, webhook }) =>
    webhook === undefined ? (functions.get(name) ?? removed) : webhookConsumer(webhooks, webhook)
  const worker = startDeliveries({
    ...{ events, deliveries, findConsumer, server, now, paused, failed },
    functions: kindsOfFunctions(catalog),
    ended({ name, webhook }, { id: delivery }, { status, answer }) {
      const to = webhook === undefined ? 'function' : 'webhook'
      const outcome = status === 'pending' ? 'repeated' : status
      observe({ kind: 'delivery', delivery, to, consumer: webhook ?? name, outcome, reason: answer?.error ?? null })
    },
  })
  return {
    worker,
    async close() {
      await worker.close()
      sender.close()
    },
  }
}
