/** The part of the storage port that delivers events to webhooks and functions (EVT-8 to EVT-12). */
import type { Condition } from 'resourced-contract/model/declaration'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import type { EventKind } from 'resourced-contract/model/event'

export type KindPositions = { readonly [Kind in EventKind]?: number }

/** The functions of a resource. */
export interface FunctionKinds {
  /** The name of their consumer. */
  readonly name: string
  /** The kinds of events that there are functions for. */
  readonly kinds: readonly EventKind[]
}

/** A webhook or a function that gets events (EVT-9, EVT-12). */
export interface ConsumerState {
  readonly name: string
  /** The id of the webhook; `undefined`: it is a function. */
  readonly webhook: string | undefined
  /** The position up to which events have deliveries. */
  readonly position: number
  /** The kinds that functions of any server get, each with the position that they follow; `undefined`: a webhook. */
  readonly kinds: KindPositions | undefined
  /** When the next delivery is due, in milliseconds since 1970; `undefined`: none is pending. */
  readonly due: number | undefined
}

/** A delivery to be added. */
export interface NewDelivery {
  readonly id: string
  /** The id of the event. */
  readonly event: string
  readonly collection: string
  readonly record: string
  readonly kind: EventKind
  /** The position of the event. */
  readonly position: number
  /** Deliveries of a record are made in the order of their turns. */
  readonly turn: number
}

/** A delivery that a server has claimed. */
export interface ClaimedDelivery extends Omit<NewDelivery, 'turn'> {
  /** How many attempts have begun, this one included. */
  readonly attempts: number
  /** When the first attempt began, in milliseconds since 1970. */
  readonly firstAt: number
}

/** What came of an attempt, as the delivery shows it. */
export interface DeliveryAnswer {
  /** The status of the response; `null`: there was none. */
  readonly status: number | null
  /** In milliseconds. */
  readonly duration_ms: number | null
  /** The beginning of the response. */
  readonly body: string | null
  readonly error: string | null
}

/** How an attempt ends. `pending`: there is another one at `next`, in milliseconds since 1970. */
export type DeliveryEnd =
  /** Without an answer no attempt was made. */
  | { readonly status: 'pending'; readonly next: number; readonly answer?: DeliveryAnswer }
  | { readonly status: 'succeeded' | 'failed' | 'discarded'; readonly answer: DeliveryAnswer }

/** What a consumer has to be given. */
export interface FanOut {
  readonly consumer: string
  /** The kinds that the consumer had. */
  readonly kinds: KindPositions | undefined
  /** The position that the consumer had. */
  readonly from: number
  /** Its next position. */
  readonly to: number
  readonly deliveries: readonly NewDelivery[]
  readonly now: number
}

/** Which deliveries a server claims. */
export interface Claim {
  readonly consumer: string
  /** The server that claims them. */
  readonly server: string
  readonly limit: number
  readonly now: number
  /** When others may claim them. */
  readonly until: number
}

/** The end of an attempt. */
export interface Ending {
  readonly consumer: string
  readonly server: string
  readonly delivery: Pick<ClaimedDelivery, 'id' | 'collection' | 'record' | 'attempts'>
  readonly end: DeliveryEnd
  readonly now: number
}

/** Deliveries of events. Times are in milliseconds since 1970. */
export interface DeliveryStore {
  /** The active consumers. */
  consumers(): Promise<readonly ConsumerState[]>
  /** Adds the consumer of functions unless it is there, and the kinds that it lacks, from a position on. */
  addConsumer(consumer: FunctionKinds & Pick<ConsumerState, 'position'>): Promise<void>
  /** Removes a kind that no server has a function for any more. */
  removeKind(consumer: string, kind: EventKind): Promise<void>
  /**
   * Adds deliveries and advances the position of a consumer, in one transaction.
   *
   * @returns `false` if the consumer has another position or other kinds by now: nothing is changed then
   */
  fanOut(fanOut: FanOut): Promise<boolean>
  /** Claims deliveries that are due for a server, until a time. */
  claim(claim: Claim): Promise<readonly ClaimedDelivery[]>
  /** Keeps the result of an attempt; `false`: another server has claimed the delivery since. */
  end(ending: Ending): Promise<boolean>
  /** Gives back what a server has claimed, because it stops. */
  release(server: string, now: number): Promise<void>
  /** Ends pending deliveries of deleted webhooks, and deletes deliveries that are older than events are kept. */
  sweep(now: number): Promise<void>
  /** A webhook with its secrets; `undefined`: there is none. */
  webhook(id: string, now: number): Promise<StoredWebhook | undefined>
  /** Turns a webhook off. */
  disable(id: string, reason: string, now: number): Promise<void>
}

/** A webhook as the server uses it. It is never logged. */
export interface StoredWebhook {
  readonly id: string
  readonly url: string
  readonly kinds: readonly EventKind[]
  /** The collections, as its version names them; `undefined`: all that it may read. */
  readonly collections: readonly string[] | undefined
  /** Conditions on records, by collection. */
  readonly filter: Readonly<Record<string, Condition>>
  readonly version: string
  /** Who made it: it reads as this caller. */
  readonly caller: CallerView
  /** Whether the credential that made it is still valid. */
  readonly isCredentialValid: boolean
  /** The secrets that sign: the newest first. */
  readonly secrets: readonly string[]
}
