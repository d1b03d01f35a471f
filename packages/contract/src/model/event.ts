/**
 * What an event says about its record (EVT-1); its deliveries to webhooks and functions (EVT-9, EVT-11), and the
 * secrets that sign them (EVT-8).
 */

export const eventKinds = ['created', 'updated', 'deleted', 'restored', 'purged'] as const
export type EventKind = (typeof eventKinds)[number]

/** The kinds of revisions (HIS-1). A purge leaves none. */
export const revisionKinds = eventKinds.filter((kind) => kind !== 'purged')

/**
 * A position in the order of events. A database that has lost its last changes gives positions again, so the mark tells
 * which event was the newest one up to there.
 */
export interface EventPosition {
  readonly position: number
  /** See `eventMark`. */
  readonly mark: number
}

/** A number of 24 bits from the random part of the id of an event; 0: there is no event. */
export function eventMark(id: unknown): number {
  return typeof id === 'string' ? Number.parseInt(id.slice(-6), 16) : 0
}

/** The states of a delivery. All but the first are final. */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'discarded'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** The name by which a webhook consumes events, among functions. */
export function consumerOfWebhook(id: string): string {
  return `webhook:${id}`
}

/** What secrets begin with. */
export const webhookSecretPrefix = 'whsec_'

/** How long a former secret signs together with the new one, in milliseconds. */
export const secretOverlap = 86_400_000

/** The name by which the functions of a resource consume events: their place in the declaration (EVT-12). */
export function consumerOfFunctions(collection: string): string {
  return `resources.${collection}.on`
}
