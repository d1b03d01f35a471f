/**
 * The catalogs of older versions (VER-2). Each declared change is undone, from the newest version back to the oldest.
 * The result for each version is a catalog whose resources say, by their mapping, how they differ from the stored ones.
 * Events and revisions have the version's names of collections, and its representations of records.
 */

import { recordedShape, shapeHash } from 'resourced-contract/model/catalog'
import { canonicalValue } from 'resourced-contract/model/decimal'
import type { ChangeDeclaration, FieldDeclaration, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { callDeclared, frozenCopy } from 'resourced-contract/model/declared-function'
import { completeField, shapeOf } from 'resourced-contract/model/field'
import { isObject } from 'resourced-contract/model/plain-copy'
import {
  type Catalog,
  type Conversion,
  type Field,
  isRecordedIn,
  type Resource,
  recordedNames,
  resourceOfStored,
  type VersionMapping,
  withIndexes,
} from 'resourced-contract/model/resource'
import { shownFromStored } from './translate-record.ts'

/** A field as an older version has it. */
interface OlderField {
  readonly name: string
  readonly declared: FieldDeclaration
  /** The stored field; `undefined`: only older versions have the field. */
  readonly stored: string | undefined
  /** The value in every record, if the field is not stored. */
  readonly value: unknown
  readonly conversion: Conversion | undefined
}

/** A collection as an older version has it. */
interface OlderCollection {
  readonly stored: Resource
  readonly name: string
  readonly fields: readonly OlderField[]
  /** Whether the version has the collection at all. */
  readonly exists: boolean
}

/**
 * The catalog of every version, the oldest first.
 *
 * @param catalog that of the current version
 * @param declared without mistakes, copied by `plainCopy`
 */
export function catalogsOfVersions(catalog: Catalog, declared: InterfaceDeclaration): Map<string, Catalog> {
  const names = Object.keys(declared.versions ?? { [catalog.version]: {} })
  const changes = declared.changes ?? []
  let collections = [...catalog.resources.values()].map((resource): OlderCollection => {
    const exists = !changes.some((each) => each.resource === resource.name && each.collection === 'removed')
    return { stored: resource, name: resource.name, fields: declaredFields(resource, declared), exists }
  })
  const versions: [string, Catalog][] = []
  for (const version of names.toReversed()) {
    versions.unshift([version, catalogOf(catalog, version, collections)])
    collections = collections.map((collection) => {
      const own = changes.filter((each) => each.version === version && each.resource === collection.name)
      // Several changes of one version are undone in reverse order.
      return own.reduceRight(undo, collection)
    })
  }
  return new Map(versions)
}

function declaredFields({ name }: Resource, declared: InterfaceDeclaration): OlderField[] {
  const fields = Object.entries(declared.resources[name]?.fields ?? {})
  return fields.map(([field, declaration]) => ({
    ...{ name: field, declared: declaration as FieldDeclaration, stored: field },
    ...{ value: undefined, conversion: undefined },
  }))
}

/** A collection as it was before a change. */
function undo(
  newer: OlderCollection,
  { version, resource, was, collection, rename = {}, add = [], remove = {}, convert = {} }: ChangeDeclaration,
): OlderCollection {
  const olderNames = new Map(Object.entries(rename).map(([older, current]) => [current, older]))
  const fields = newer.fields
    .filter(({ name }) => !add.includes(name))
    .map((field): OlderField => {
      const converted = Object.hasOwn(convert, field.name) ? convert[field.name] : undefined
      const name = olderNames.get(field.name) ?? field.name
      if (converted === undefined) return { ...field, name }
      const { schema, ...functions } = converted as { schema: FieldDeclaration } & Conversion
      const conversion = guarded(`${version}: ${resource}.convert.${field.name}`, functions, schema, field.declared)
      const value = field.stored === undefined ? conversion.older(field.value) : undefined
      return { ...field, name, declared: schema, value, conversion: joined(field.conversion, conversion) }
    })
  for (const [name, { schema, value, before }] of Object.entries(remove)) {
    const place = fields.findIndex((each) => each.name === before)
    const removed: OlderField = {
      name,
      declared: schema as FieldDeclaration,
      stored: undefined,
      value: canonicalValue(shapeOf(schema as FieldDeclaration), value),
      conversion: undefined,
    }
    fields.splice(place === -1 ? fields.length : place, 0, removed)
  }
  const exists = collection === 'removed' || (newer.exists && collection !== 'added')
  return { ...newer, name: was ?? newer.name, fields, exists }
}

/** The functions of a conversion. They get copies that cannot change, and the log names the one that fails. */
function guarded(
  place: string,
  { older, newer }: Conversion,
  olderField: FieldDeclaration,
  newerField: FieldDeclaration,
): Conversion {
  const call = (name: string, convert: (value: unknown) => unknown, field: FieldDeclaration) => {
    const shape = shapeOf(field)
    return (value: unknown) => {
      const given = frozenCopy(value)
      const made = callDeclared(`changes of ${place}.${name}`, given, () => convert(given))
      return canonicalValue(shape, made)
    }
  }
  return { older: call('older', older, olderField), newer: call('newer', newer, newerField) }
}

/** Two conversions in one: from the newest version to the oldest, and back. */
function joined(newest: Conversion | undefined, { older, newer }: Conversion): Conversion {
  // `null` is the same in every version.
  const olderOrNull = (value: unknown) => (value === null ? null : older(value))
  const newerOrNull = (value: unknown) => (value === null ? null : newer(value))
  if (newest === undefined) return { older: olderOrNull, newer: newerOrNull }
  return {
    older: (value) => olderOrNull(newest.older(value)),
    newer: (value) => newest.newer(newerOrNull(value)),
  }
}

function catalogOf(catalog: Catalog, version: string, all: readonly OlderCollection[]): Catalog {
  const existing = all.filter(({ exists }) => exists)
  const collections: VersionMapping['collections'] = new Map(
    existing.map(({ stored, name, fields }) => [stored.name, { name, fields: namesByStored(fields) }]),
  )
  const resources = existing.map((each) => resourceOf(each, version, collections))
  const named = new Map(resources.map((each) => [each.name, each]))
  const parts = { version, collections, stored: catalog }
  const system = [...catalog.system.values()].flatMap((each): [string, Resource][] => {
    const own = each.order === 'by-position' ? eventsOfVersion(each, { ...parts, resources: named }) : each
    return own === undefined ? [] : [[own.name, own]]
  })
  return { ...catalog, version, resources: named, system: new Map(system), versions: new Map() }
}

/** The names of fields by those of the stored ones. */
function namesByStored(fields: readonly OlderField[]): Map<string, string> {
  return new Map(fields.flatMap(({ name, stored }) => (stored === undefined ? [] : [[stored, name]])))
}

/** @param collections all of the version */
function resourceOf(
  { stored, name, fields: olderFields }: OlderCollection,
  version: string,
  collections: VersionMapping['collections'],
): Resource {
  // Errors name the collections that refer to it.
  const referring = stored.dependents.map(({ collection }) => collection)
  const related = [...referring, ...stored.fields.map((each) => each.reference?.collection ?? name)]
  const isSame =
    name === stored.name &&
    olderFields.length === stored.fields.length &&
    olderFields.every((each) => each.stored === each.name && each.conversion === undefined) &&
    related.every((each) => (collections.get(each)?.name ?? '') === each)
  if (isSame) return stored
  const fromStored = collections.get(stored.name)!.fields
  const mapping: VersionMapping = {
    ...{ version, stored, collections, fromStored },
    toStored: new Map([...fromStored].map(([field, own]) => [own, field])),
    constants: new Map(olderFields.flatMap((each) => (each.stored === undefined ? [[each.name, each.value]] : []))),
    conversions: new Map(
      olderFields.flatMap(({ name: own, stored: field, conversion }) =>
        conversion === undefined || field === undefined ? [] : [[own, conversion]],
      ),
    ),
  }
  const fields = olderFields.map((each) => fieldOf(each, stored, collections))
  return withIndexes({
    ...stored,
    name,
    fields,
    field: new Map(fields.map((each) => [each.name, each])),
    owner: stored.owner === undefined ? undefined : fromStored.get(stored.owner),
    within: withinOf(mapping),
    unique: stored.unique.flatMap((set) => {
      const names = set.map((field) => fromStored.get(field))
      return names.includes(undefined) ? [] : [names as string[]]
    }),
    children: stored.children.flatMap((each) => collections.get(each)?.name ?? []),
    mapping,
    shape: shapeHash(fields, mapping.constants),
  })
}

function withinOf({ stored: { within }, fromStored, collections }: VersionMapping): Resource['within'] {
  const field = within && fromStored.get(within.field)
  const collection = within && collections.get(within.collection)?.name
  return field === undefined || collection === undefined ? undefined : { field, collection }
}

function fieldOf(
  { name, declared, stored: field, conversion }: OlderField,
  stored: Resource,
  collections: VersionMapping['collections'],
): Field {
  const completed = completeField(name, declared, field !== undefined && field === stored.owner, true)
  const current = stored.field.get(field ?? '')
  const { set, sequence } = current ?? completed
  const readOnly = completed.readOnly || set !== undefined || sequence !== undefined
  const made = { ...completed, set, sequence, readOnly, transitions: transitionsOf(current, conversion) }
  if (made.reference === undefined) return made
  const { collection } = made.reference
  // The stored field decides what a caller needs to refer to a record.
  const requires = current?.reference?.requires ?? made.reference.requires
  const ofVersion = collections.get(collection)?.name ?? collection
  return { ...made, reference: { ...made.reference, collection: ofVersion, requires } }
}

/**
 * The stored field decides which values may follow each other; the version's documents list them as its clients send
 * them.
 */
function transitionsOf(stored: Field | undefined, conversion: Conversion | undefined): Field['transitions'] {
  const transitions = stored?.transitions
  if (transitions === undefined || conversion === undefined) return transitions
  const older = (value: string) => String(conversion.older(value))
  return Object.fromEntries(Object.entries(transitions).map(([from, to]) => [older(from), to.map(older)]))
}

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
function eventsOfVersion(
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
