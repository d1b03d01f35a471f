/** Reads of events, between the readers of events and the storage (EVT-2). */
import type { EventKind, EventPosition } from 'resourced-contract/model/event'
import type { Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import type { Presentation } from './plan.ts'

/**
 * Reads events in their order, after a position (EVT-2): for streams, deliveries and functions (`EventStore`). One
 * read examines a bounded number of events, so that a caller who may read few of them delays nobody. A reader that
 * wants more reads again, after the position of the outcome.
 */
export interface ReadEvents extends Presentation {
  readonly kind: 'read-events'
  /** The resource `events`. */
  readonly resource: Resource
  /** The version that names collections and represents records. */
  readonly version: string
  /** The position after which events are read; 0: from the first. */
  readonly after: number
  /** The mark of this position, if its event must still be the same (`EventPosition`). */
  readonly mark?: number
  /** The most events of the outcome. */
  readonly limit: number
  /** The members of the representations beside `id`; left out: all. */
  readonly fields?: readonly string[]
  /** On collection, record, kind and created_at, in stored terms. */
  readonly filter: Predicate
  /** The events that may be read (EVT-4). */
  readonly permitted: Predicate
}

/** One event, as a reader of `read-events` gets it. */
export interface ReadEvent {
  /** Never sent to clients (AUT-9). */
  readonly position: number
  readonly id: string
  /** The collection, as the version of the plan names it. */
  readonly collection: string
  /** The id of the record. */
  readonly record: string
  readonly kind: EventKind
  readonly createdAt: string
  /** The representation of the event in that version: the JSON that `GET /events/{id}` gives. */
  readonly json: string
}

/** The result of `ReadEvents`: the position up to which events were examined, and what was found. */
export interface EventsOutcome extends EventPosition {
  /** In their order. */
  readonly events: readonly ReadEvent[]
  /**
   * The position up to which all events were examined, beyond the last one of `events` perhaps. No event can appear
   * before it any more.
   */
  readonly position: number
  /** Whether there may be more events after this position now; otherwise the reader waits for new ones. */
  readonly more: boolean
  /** The plan begins after an event that the database has lost: what follows may not continue it. */
  readonly isLost?: boolean
}
