/**
 * Events and revisions as an older version has them (VER-2): its names of collections, and its representations of
 * records.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import { isRecordedIn, recordedNames } from 'resourced-contract/model/recorded'
import {
  type Catalog,
  type Conversion,
  type Field,
  type Resource,
  resourceOfStored,
  type VersionMapping,
} from 'resourced-contract/model/resource'
import { recordedShape } from 'resourced-contract/model/shape'
import { shownFromStored } from './translate-record.ts'

/** A version, without its events and revisions. */
interface VersionParts extends Pick<VersionMapping, 'version' | 'collections'> {
  readonly resources: ReadonlyMap<string, Resource>
  readonly stored: Catalog
}

/**
 * The resource of events, or of revisions, of a version; `undefined`: the version has none of the collections that have
 * them. Those of collections that the version lacks are not shown.
 *
 * @param events the stored resource
 */
export function eventsOfVersion(
  events: Resource,
  { version, collections, resources, stored: catalog }: VersionParts,
): Resource | undefined {
  const recorded = [...catalog.resources.values()].filter((each) => isRecordedIn(events, each))
  const stored = recorded.map(({ name }) => name)
  const shown = new Map(stored.flatMap((name) => withName(name, resourceOfStored({ resources }, name))))
  if (shown.size === 0) return undefined
  if (stored.every((name) => shown.get(name)?.mapping === undefined && shown.has(name))) return events
  const names = [...shown.values()].map(({ name }) => name)
  const fields = events.fields.map((each) => (each.enum && each.name === 'collection' ? enumOf(each, names) : each))
  const own = new Map(events.fields.map(({ name }) => [name, name]))
  const conversions = new Map([
    ['collection', namesOf(shown)],
    [recordedNames(events).shown, dataOf(shown)],
  ])
  const field = new Map(fields.map((each) => [each.name, each]))
  const filterables = events.filterables.map((each) => ({ ...each, field: each.field && field.get(each.name) }))
  const mapping = {
    version,
    stored: events,
    toStored: own,
    fromStored: own,
    constants: new Map(),
    conversions,
    collections,
  }
  const shape = recordedShape({ ...events, fields }, [...shown.values()])
  return { ...events, fields, field, filterables, mapping, shape }
}

function withName(name: string, resource: Resource | undefined): [string, Resource][] {
  return resource === undefined ? [] : [[name, resource]]
}

function enumOf(field: Field, names: readonly string[]): Field {
  return { ...field, enum: names, schema: { ...field.schema, enum: names } }
}

function namesOf(shown: ReadonlyMap<string, Resource>): Conversion {
  const stored = new Map([...shown].map(([name, resource]) => [resource.name, name]))
  return {
    older: (name) => shown.get(String(name))?.name ?? name,
    newer: (name) => stored.get(String(name)) ?? name,
  }
}

/** The database writes the record together with the stored name of its collection. */
function dataOf(shown: ReadonlyMap<string, Resource>): Conversion {
  return {
    older: (data) => (isObject(data) ? shownFromStored(shown.get(String(data['collection'])), data['record']) : data),
    newer: (data) => data,
  }
}
