/** The delivery worker of an application, with its webhooks and functions (EVT-9, EVT-12). */

import type { AddressPolicy } from 'resourced-contract/model/address-policy'
import type { FunctionClient } from 'resourced-contract/model/declared-functions'
import type { Catalog } from 'resourced-contract/model/resource'
import type { FindConsumer } from '../events/consumer.ts'
import { functionConsumers, kindsOfFunctions, removedFunctions } from '../events/function-consumer.ts'
import { createSender } from '../events/send.ts'
import { webhookConsumer } from '../events/webhook-consumer.ts'
import { type DeliveryWorker, startDeliveries } from '../events/worker.ts'
import type { Storage } from '../storage/storage.ts'
import type { Versions } from '../versions/versions.ts'
import type { Observe } from './observe/observe.ts'

/** The application that delivers. */
interface Delivering {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'events' | 'deliveries'>
  readonly versions: Versions
  /** The name by which the server claims deliveries. */
  readonly server: string
  readonly now: () => number
  readonly paused: () => boolean
  readonly observe: Observe
  /** The client of functions that run after a change (EVT-12). */
  readonly client: FunctionClient
}

/** A worker and its connections. */
interface Deliveries {
  readonly worker: DeliveryWorker
  close(): Promise<void>
}

/**
 * Begins to deliver events; `undefined` if no resource is declared with events.
 *
 * @param policy which addresses webhooks may be sent to
 */
export function openDeliveries(app: Delivering, policy: AddressPolicy): Deliveries | undefined {
  const { catalog, storage, versions, server, now, paused, observe, client } = app
  const { events, deliveries } = storage
  if (events === undefined || deliveries === undefined) return undefined
  const sender = createSender({ policy })
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
