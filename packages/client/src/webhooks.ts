/** Webhooks and their deliveries, as the client's types know them (EVT-8, EVT-11). */
import type { DeliveryStatus, EventKind } from 'resourced-contract/model/event'
import type { Collection, CreateOptions, NestedCollection, Target } from './collection.ts'
import type { ChangeOptions } from './conflicts.ts'
import type { CollectionTypes, JsonObject, UntypedCollection } from './interface-types.ts'

/** What a request sets of a webhook. */
export interface WebhookSettings {
  /** Where events are sent. */
  readonly url: string
  /** The kinds of events that are sent; all by default. */
  readonly events?: readonly EventKind[]
  /** The collections whose events are sent; all that its maker may read by default. */
  readonly collections?: readonly string[] | null
  /** Conditions on records by collection, such as `{ tasks: { status: 'open' } }`. */
  readonly filter?: JsonObject | null
  readonly description?: string | null
  /** While it is `false`, events wait. */
  readonly active?: boolean
}

/** A webhook. */
export interface Webhook extends Required<WebhookSettings> {
  readonly id: string
  /** The version in whose terms it gets events. */
  readonly version: string
  /** Who made it, with which roles: it may read what they may. */
  readonly subject: string
  readonly roles: readonly string[]
  readonly made_by: string
  /** When it ends with the credential that made it; `null`: not by itself. */
  readonly expires_at: string | null
  /** When and why the server turned it off; `null`: it has not. */
  readonly disabled_at: string | null
  readonly disabled_reason: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** A delivery of an event to a webhook, or to a function of the server. */
export interface Delivery {
  readonly id: string
  readonly webhook_id: string | null
  readonly function: string | null
  readonly event_id: string
  readonly collection: string
  /** The id of the record. */
  readonly record: string
  readonly kind: EventKind
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly finished_at: string | null
  /** The last answer, or why there was none. */
  readonly answer: {
    readonly status: number | null
    readonly duration_ms: number | null
    readonly body: string | null
    readonly error: string | null
  } | null
  readonly subject: string | null
  readonly created_at: string
  readonly updated_at: string
}

interface TypesOfRecord<Data extends object> extends CollectionTypes {
  readonly record: Data
  readonly filter: UntypedCollection['filter']
}

/** The webhooks of an interface. */
export interface Webhooks extends Pick<Collection<TypesOfRecord<Webhook>>, 'list' | 'all' | 'get' | 'delete'> {
  /** @returns the webhook with its secret, which no other response has */
  create(webhook: WebhookSettings, options?: CreateOptions): Promise<Webhook & { readonly secret: string }>
  /**
   * Changes the given settings.
   *
   * @returns the webhook, and its new secret where `rotate_secret` asks for one
   * @example
   * const { secret } = await client.webhooks.update(webhook, { rotate_secret: true })
   */
  update<Changes extends Partial<WebhookSettings> & { readonly rotate_secret?: true }>(
    target: Target<TypesOfRecord<Webhook>>,
    changes: Changes,
    options?: ChangeOptions<Changes, Webhook>,
  ): Promise<Changes extends { readonly rotate_secret: true } ? Webhook & { readonly secret: string } : Webhook>
  /** The deliveries of a webhook. */
  within(target: Target<TypesOfRecord<Webhook>>): {
    readonly deliveries: Pick<NestedCollection<TypesOfRecord<Delivery>>, 'list' | 'all'>
  }
}

/** The deliveries of an interface. */
export interface Deliveries extends Pick<Collection<TypesOfRecord<Delivery>>, 'list' | 'all' | 'get'> {
  /**
   * Sends an event again: to a webhook, or to the functions of a resource.
   *
   * @example
   * await client.deliveries.create({ webhook_id: webhook.id, event_id: event.id })
   */
  create(
    delivery: { readonly event_id: string } & ({ readonly webhook_id: string } | { readonly function: string }),
    options?: CreateOptions,
  ): Promise<Delivery>
}
