/** The deliveries of an open database, as the port has them. */

import type { DeliveryStore } from '../delivery-store.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Runner } from '../transaction.ts'
import {
  addConsumer,
  claimDeliveries,
  deleteOldDeliveries,
  discardRemoved,
  endAttempt,
  fanOut,
  listConsumers,
  releaseDeliveries,
  removeKind,
} from './deliveries.ts'
import { disableWebhook, findWebhook } from './webhooks.ts'

/** Makes the store; `undefined` if no resource is declared with events. */
export function deliveryStore(context: SqlContext, { read, write }: Runner): DeliveryStore | undefined {
  const { system, limits } = context.catalog
  if (!system.has('deliveries')) return undefined
  const repeat = async (batch: () => ReturnType<typeof deleteOldDeliveries>) => {
    while ((await write(batch, (count) => count > 0)) > 0);
  }
  return {
    consumers: () => read(listConsumers),
    addConsumer: (consumer) => write(() => addConsumer(context, consumer)),
    removeKind: (consumer, kind) => write(() => removeKind(context, consumer, kind)),
    fanOut: (asked) =>
      write(
        () => fanOut(context, asked),
        (isFirst) => isFirst,
      ),
    claim: (asked) =>
      write(
        () => claimDeliveries(context, asked),
        (claimed) => claimed.length > 0,
      ),
    end: (ending) =>
      write(
        () => endAttempt(context, ending),
        (isKept) => isKept,
      ),
    release: async (server, now) => {
      await write(
        () => releaseDeliveries(server, now),
        (count) => count > 0,
      )
    },
    async sweep(now) {
      await repeat(() => discardRemoved(context, now))
      await repeat(() => deleteOldDeliveries(context, { before: now - limits.events.retention, now }))
    },
    webhook: (id, now) => read(() => findWebhook(context, id, now)),
    disable: (id, reason, now) => write(() => disableWebhook(context, id, reason, now)),
  }
}
