/** What the delivery worker gives events to: webhooks, and functions that run after a change (EVT-9, EVT-12). */
import type { ReadEvent, ReadEvents } from '../plan/plan-events.ts'
import type { ClaimedDelivery, ConsumerState, DeliveryAnswer, KindPositions } from '../storage/delivery-store.ts'
import type { EventStore } from '../storage/storage.ts'

/** The next events of a consumer. */
export interface NextEvents {
  /** The events that it gets, in their order. */
  readonly events: readonly ReadEvent[]
  /** The position up to which events were examined. */
  readonly position: number
  /** Its mark (`EventPosition`); left out if nothing was examined. */
  readonly mark?: number
  /** Whether there may be more events now. */
  readonly more: boolean
  /** Whether the database has lost the event at the position before (`EventPosition`). There are no events then. */
  readonly isLost?: boolean
}

/** Where a read continues: a position, and its mark if its event must still be the same (`EventPosition`). */
export interface ReadAfter {
  readonly position: number
  readonly mark?: number | undefined
}

/** What came of an attempt. */
export type AttemptResult =
  | { readonly kind: 'succeeded'; readonly answer: DeliveryAnswer }
  /** The attempt is repeated later; `retryAfter`: not before so many milliseconds. */
  | { readonly kind: 'failed'; readonly answer: DeliveryAnswer; readonly retryAfter?: number | undefined }
  /** The delivery is not made any more. */
  | { readonly kind: 'discarded'; readonly reason: string }
  /** No attempt can be made on this server now. The delivery fails if there is an answer, and waits otherwise. */
  | { readonly kind: 'stopped'; readonly answer?: DeliveryAnswer }

/** A webhook or a function that gets events. */
export interface Consumer {
  /**
   * Reads the next events. Each event that is returned becomes one delivery, exactly once. `undefined`: this server
   * leaves the events to others.
   *
   * @param kinds see `ConsumerState`
   */
  readonly read:
    | ((after: ReadAfter, limit: number, kinds: KindPositions | undefined) => Promise<NextEvents>)
    | undefined
  /**
   * Makes one attempt at a delivery, within 30 seconds. An event may be delivered more than once, and deliveries of one
   * record come in their order. An error that is thrown counts as a failed attempt.
   *
   * @param signal aborts when the server stops
   */
  deliver(delivery: ClaimedDelivery, signal: AbortSignal): Promise<AttemptResult>
}

/** Finds a consumer by its state; `undefined`: this server has no such consumer, and leaves it to others. */
export type FindConsumer = (state: ConsumerState) => Promise<Consumer | undefined> | Consumer | undefined

/** A plan without the records of the events, which may be large: each delivery reads its own again. */
export function withoutRecords(plan: ReadEvents | undefined): ReadEvents | undefined {
  return plan && { ...plan, fields: [] }
}

/** Reads events, and leaves out those that are not wanted. */
export async function readWanted(
  events: EventStore,
  plan: ReadEvents | undefined,
  { mark }: ReadAfter,
  isWanted: (event: ReadEvent) => boolean = () => true,
): Promise<NextEvents> {
  if (plan === undefined) return { events: [], position: 0, more: false }
  const read = await events.read(mark === undefined ? plan : { ...plan, mark })
  return { ...read, events: read.events.filter(isWanted) }
}

/**
 * Reads the event of a delivery again; `undefined`: it may not be read any more, or is not kept any more.
 *
 * @param planAfter plans to read one event after a position
 */
export async function readDelivered(
  events: EventStore,
  { event, position }: Pick<ClaimedDelivery, 'event' | 'position'>,
  planAfter: (position: number) => ReadEvents | undefined,
): Promise<ReadEvent | undefined> {
  const plan = planAfter(position - 1)
  if (plan === undefined) return undefined
  const [found] = (await events.read({ ...plan, limit: 1 })).events
  return found?.id === event ? found : undefined
}

/** An answer without a response. */
export function answerOf(error: string | null, duration: number | null = null): DeliveryAnswer {
  return { status: null, duration_ms: duration, body: null, error }
}
