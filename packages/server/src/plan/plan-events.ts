/** Plans to read events in their order: for a stream, for a webhook, and for the server's own functions. */
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { always, never, type Predicate } from 'resourced-contract/model/predicate'
import { type Catalog, isMapped, resourceOfStored } from 'resourced-contract/model/resource'
import { permit, permitFields } from '../policy/permit.ts'
import { jsonFromStored } from '../versions/translate-record.ts'
import type { EventsOutcome, ReadEvents } from './read-events.ts'

/** A permission without the events of collections that a version does not have. */
export function eventsIn(versionCatalog: Catalog, permitted: Predicate): Predicate {
  if (permitted.kind !== 'event') return permitted
  const grants = permitted.grants.filter(({ collection }) => resourceOfStored(versionCatalog, collection) !== undefined)
  if (grants.length === permitted.grants.length) return permitted
  return grants.length === 0 ? never : { kind: 'event', grants }
}

/** The reader of events. */
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
