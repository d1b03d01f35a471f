/** Deliveries of events to webhooks and functions (EVT-9, EVT-11), and the secrets that sign them (EVT-8). */

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
