/** Plans to read events in their order: for a stream, for a webhook, and for the server's own functions. */
import type { CallerView } from 'resourced-contract/model/declared-functions'
import type { EventKind, EventPosition } from 'resourced-contract/model/event'
import { always, never, type Predicate } from 'resourced-contract/model/predicate'
import { type Catalog, isMapped, type Resource, resourceOfStored } from 'resourced-contract/model/resource'
import { permit, permitFields } from '../policy/permit.ts'
import { jsonFromStored } from '../versions/translate-record.ts'
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

/** A permission without the events of collections that a version does not have. */
export function eventsIn(versionCatalog: Catalog, permitted: Predicate): Predicate {
  if (permitted.kind !== 'event') return permitted
  const grants = permitted.grants.filter(({ collection }) => resourceOfStored(versionCatalog, collection) !== undefined)
  if (grants.length === permitted.grants.length) return permitted
  return grants.length === 0 ? never : { kind: 'event', grants }
}

export interface EventReader {
  /** The catalog in whose terms records are stored. */
  readonly catalog: Catalog
  /** The catalog of the version that names collections and represents records. */
  readonly versionCatalog: Catalog
  /** `everyone`: the server itself, which reads every event. */
  readonly caller: CallerView | 'everyone'
  /** In stored terms; left out: no filter. */
  readonly filter?: Predicate
}

/**
 * Plans to read events. The grants of a caller are those of the moment: plan each read anew, with a caller whose
 * credential was just checked.
 *
 * @param after the position after which events are read; 0: from the first
 * @returns `undefined` if no resource is declared with events. The plan permits `never` if the caller may read none.
 */
export function planEvents(
  { catalog, versionCatalog, caller, filter = always }: EventReader,
  after: number,
  limit: number,
): ReadEvents | undefined {
  const resource = catalog.system.get('events')
  if (resource === undefined) return undefined
  const permitted = caller === 'everyone' ? always : permit(catalog, caller, 'read', resource)
  const { readable } = caller === 'everyone' ? {} : permitFields(catalog, caller, resource)
  const own = versionCatalog.system.get('events')
  return {
    kind: 'read-events',
    resource,
    version: versionCatalog.version,
    ...(own !== undefined && isMapped(own) && { versionResource: own }),
    ...(readable && { readableFields: readable }),
    after,
    limit,
    filter,
    permitted: eventsIn(versionCatalog, permitted),
  }
}

/** The result of a plan in terms of its version. */
export function eventsFromStored({ versionResource }: ReadEvents, outcome: EventsOutcome): EventsOutcome {
  if (versionResource === undefined) return outcome
  const events = outcome.events.map((event) => {
    const json = jsonFromStored(versionResource, event.json)
    const older = versionResource.mapping.conversions.get('collection')?.older
    return { ...event, json, collection: String(older?.(event.collection) ?? event.collection) }
  })
  return { ...outcome, events }
}
