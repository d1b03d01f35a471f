/** Webhooks as consumers of events: which events they get, and how a delivery is sent (EVT-8 to EVT-11). */
import { deepFreeze } from 'resourced-contract/model/plain-copy'
import { allOf, comparisonKeys, matches, type Predicate } from 'resourced-contract/model/predicate'
import { resolveCondition } from 'resourced-contract/model/resolve-condition'
import { type Catalog, storedResource } from 'resourced-contract/model/resource'
import type { ReadEvent, ReadEvents } from '../plan/plan-events.ts'
import { planEvents } from '../plan/plan-events.ts'
import type { DeliveryAnswer, DeliveryStore, StoredWebhook } from '../storage/delivery-store.ts'
import type { EventStore } from '../storage/storage.ts'
import { type AttemptResult, type Consumer, readDelivered, readWanted, withoutRecords } from './consumer.ts'
import { cloudEventText, cloudEventType, signatureHeaders } from './message.ts'
import { readRetryAfter } from './retry.ts'
import type { Sender, Sent } from './send.ts'

/** What webhooks need. */
export interface WebhookOptions {
  /** The catalog of the current version, with all versions. */
  readonly catalog: Catalog
  readonly events: EventStore
  readonly deliveries: Pick<DeliveryStore, 'webhook' | 'disable'>
  readonly sender: Pick<Sender, 'send'>
  /** The path of a collection in a version: `/v1/tasks`. */
  readonly sourceOf: (version: string, collection: string) => string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called when a webhook was turned off. */
  readonly disabled?: ((webhook: string, reason: string) => void) | undefined
}

const nothing = { events: [], position: 0, more: false }

/** A webhook as a consumer. Whatever it may do is read from the database each time. */
export function webhookConsumer(options: WebhookOptions, id: string): Consumer {
  const { events, now } = options
  return {
    async read(after, limit) {
      const webhook = await findActive(options, id)
      if (webhook === undefined) return nothing
      const plan = planOf(options, webhook, after.position, limit)
      const isWanted = isWantedBy(options, webhook)
      return readWanted(events, isWanted === undefined ? withoutRecords(plan) : plan, after, isWanted)
    },
    async deliver(delivery, signal) {
      const webhook = await findActive(options, id)
      if (webhook === undefined) return { kind: 'stopped' }
      const planAfter = (position: number) => planOf(options, { ...webhook, ...everything }, position, 1)
      const event = await readDelivered(events, delivery, planAfter)
      if (event === undefined) return { kind: 'discarded', reason: unreadable }
      const began = performance.now()
      const sent = await send(options, webhook, event, signal)
      return judge(options, webhook, { sent, duration: Math.round(performance.now() - began), now: now() })
    },
  }
}

const unreadable = 'The webhook may not read the event, or the event is no longer kept.'
/** A delivery by hand may be of an event that the webhook does not get by itself. */
const everything = { kinds: undefined, collections: undefined }

/** A webhook that may be used; otherwise it is turned off. */
async function findActive(options: WebhookOptions, id: string): Promise<StoredWebhook | undefined> {
  const { catalog, deliveries, now } = options
  const webhook = await deliveries.webhook(id, now())
  if (webhook === undefined) return undefined
  const isVersion = versionOf(catalog, webhook.version) !== undefined
  if (webhook.isCredentialValid && isVersion) return webhook
  const reason = isVersion
    ? 'The credential that made the webhook has expired, or was revoked.'
    : `The interface no longer has the version ${webhook.version}.`
  await disable(options, id, reason)
  return undefined
}

async function disable({ deliveries, disabled, now }: WebhookOptions, id: string, reason: string): Promise<void> {
  await deliveries.disable(id, reason, now())
  disabled?.(id, reason)
}

function versionOf(catalog: Catalog, version: string): Catalog | undefined {
  return catalog.versions.get(version) ?? (catalog.version === version ? catalog : undefined)
}

type Selection = Pick<StoredWebhook, 'version' | 'caller'> & {
  readonly kinds: StoredWebhook['kinds'] | undefined
  readonly collections: StoredWebhook['collections']
}

/** Plans to read events as the maker of a webhook may read them now. */
function planOf(
  { catalog }: Pick<WebhookOptions, 'catalog'>,
  { version, caller, kinds, collections }: Selection,
  after: number,
  limit: number,
): ReadEvents | undefined {
  const versionCatalog = versionOf(catalog, version) as Catalog
  const terms: Predicate[] = []
  if (kinds !== undefined) terms.push({ kind: 'in', field: 'kind', values: kinds })
  if (collections !== undefined) {
    const stored = collections.flatMap((name) => {
      const resource = versionCatalog.resources.get(name)
      return resource === undefined ? [] : [storedResource(resource).name]
    })
    terms.push({ kind: 'in', field: 'collection', values: stored })
  }
  // Grants are cached with the caller: another object each time, so that they are those of the moment.
  const reader = { catalog, versionCatalog, caller: deepFreeze({ ...caller }), filter: allOf(terms) }
  return planEvents(reader, after, limit)
}

/**
 * Whether the filter of a webhook holds for an event; `undefined`: it has no filter. It is applied to what the webhook
 * may read of the record.
 */
function isWantedBy(
  { catalog }: WebhookOptions,
  { filter, version, caller }: StoredWebhook,
): ((event: ReadEvent) => boolean) | undefined {
  if (Object.keys(filter).length === 0) return undefined
  const resources = (versionOf(catalog, version) as Catalog).resources
  const predicates = new Map(
    Object.entries(filter).flatMap(([name, condition]) => {
      const resource = resources.get(name)
      return resource === undefined ? [] : [[name, resolveCondition(resource, condition, { caller })] as const]
    }),
  )
  return ({ collection, json }) => {
    const [predicate, resource] = [predicates.get(collection), resources.get(collection)]
    if (predicate === undefined || resource === undefined) return true
    const { data } = JSON.parse(json) as { readonly data?: Readonly<Record<string, unknown>> | null }
    // The deletion of a record has no data.
    return data == null || matches(comparisonKeys(resource, data), predicate)
  }
}

function send(
  { sender, sourceOf, now }: WebhookOptions,
  { id, url, version, secrets }: StoredWebhook,
  event: ReadEvent,
  signal: AbortSignal,
): Promise<Sent> {
  const body = cloudEventText(event, sourceOf(version, event.collection))
  const headers = {
    'Content-Type': cloudEventType,
    'User-Agent': 'Resourced',
    ...signatureHeaders(secrets, { id: `${event.id}_${id}`, now: now(), body }),
  }
  return sender.send({ url, headers, body }, signal)
}

/** What an answer means for a delivery. 410 turns the webhook off. */
async function judge(
  options: WebhookOptions,
  { id }: StoredWebhook,
  { sent, duration, now }: { readonly sent: Sent; readonly duration: number; readonly now: number },
): Promise<AttemptResult> {
  if (sent.kind === 'failed') {
    return { kind: 'failed', answer: { status: null, duration_ms: duration, body: null, error: sent.error } }
  }
  const { status, body, retryAfter } = sent
  const answer: DeliveryAnswer = { status, duration_ms: duration, body, error: null }
  if (status >= 200 && status < 300) return { kind: 'succeeded', answer }
  const failure = { ...answer, error: `The receiver answered ${status}.` }
  if (status !== 410) return { kind: 'failed', answer: failure, retryAfter: readRetryAfter(retryAfter, now) }
  await disable(options, id, 'The receiver answered 410: it no longer wants events.')
  return { kind: 'stopped', answer: failure }
}
