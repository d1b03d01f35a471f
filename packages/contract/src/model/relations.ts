/**
 * Relations: the ways from the records of a collection to those of another one, and their names (REL-1). A reference
 * makes two: to the record that it refers to, and from that record back to all that refer to it.
 */

import { reservedFields } from './names.ts'
import { remembered } from './plain-copy.ts'
import { type Catalog, type Resource, storedResource, systemFields } from './resource.ts'

/** A relation of a collection. Its names are those of the version whose catalog it was made from. */
export interface Relation {
  readonly name: string
  /** The collection that it leads to. */
  readonly collection: string
  /** The reference: a field of this collection (`one`), or of the other one (`many`). */
  readonly field: string
  readonly to: 'one' | 'many'
}

/** What makes relations: a resource, complete or while it is checked. */
export interface RelationSource {
  readonly name: string
  readonly fields: ReadonlySet<string>
  readonly references: readonly ReferenceSource[]
}

/** A field that refers to a collection, and the names that it declares. */
export interface ReferenceSource {
  readonly field: string
  readonly collection: string
  readonly as?: string | undefined
  readonly inverse?: string | undefined
}

/** The relations of a collection by name, and the declared ones whose name was taken. */
export interface NamedRelations {
  readonly relations: ReadonlyMap<string, Relation>
  readonly clashes: readonly Relation[]
}

/** Names the relations of a resource. A relation without a declared name gives way: then it does not exist. */
export function nameRelations(resource: RelationSource, all: Iterable<RelationSource>): NamedRelations {
  const possible = [...toOne(resource), ...[...all].flatMap((other) => toMany(resource, other))]
  const relations = new Map<string, Relation>()
  const clashes: Relation[] = []
  for (const isDeclared of [true, false]) {
    for (const { relation } of possible.filter((each) => each.isDeclared === isDeclared)) {
      if (!relations.has(relation.name) && isFree(resource, relation)) relations.set(relation.name, relation)
      else if (isDeclared) clashes.push(relation)
    }
  }
  return { relations, clashes }
}

interface Possible {
  readonly relation: Relation
  readonly isDeclared: boolean
}

function toOne({ references }: RelationSource): Possible[] {
  return references.map(({ field, collection, as }) => ({
    relation: { name: as ?? field.replace(/_id$/, ''), collection, field, to: 'one' },
    isDeclared: as !== undefined,
  }))
}

function toMany({ name: target }: RelationSource, { name, references }: RelationSource): Possible[] {
  const referring = references.filter(({ collection }) => collection === target)
  const isOnly = referring.filter(({ inverse }) => inverse === undefined).length === 1
  return referring.flatMap(({ field, inverse }) => {
    if (inverse === undefined && !isOnly) return []
    const relation: Relation = { name: inverse ?? name.replaceAll('-', '_'), collection: name, field, to: 'many' }
    return [{ relation, isDeclared: inverse !== undefined }]
  })
}

function isFree({ fields }: RelationSource, { name, field, to }: Relation): boolean {
  // A reference without `_id` gives its relation its own name.
  if (to === 'one' && name === field) return true
  return !fields.has(name) && !reservedFields.has(name) && !(systemFields as readonly string[]).includes(name)
}

/** The relations of a declared resource by name, in a catalog of any version. */
export function relationsOf(
  { resources }: Pick<Catalog, 'resources'>,
  { name }: Resource,
): NamedRelations['relations'] {
  return relationsIn(resources).get(name) ?? new Map()
}

const relationsIn = remembered((resources: Catalog['resources']): ReadonlyMap<string, NamedRelations['relations']> => {
  const sources = [...resources.values()].map((resource) => {
    const source = sourceOf(resource)
    return { ...source, references: source.references.filter((each) => isStored(resources, resource, each)) }
  })
  return new Map(sources.map((source) => [source.name, nameRelations(source, sources).relations]))
})

/** What the relations of a resource come from. A relation by a `writeOnly` field would show its value. */
export function sourceOf({ name, fields }: Pick<Resource, 'name' | 'fields'>): RelationSource {
  const references = fields.flatMap(({ name: field, reference, writeOnly }) =>
    reference === undefined || writeOnly ? [] : [{ ...reference, field }],
  )
  return { name, fields: new Set(fields.map((field) => field.name)), references }
}

/** What an older version alone has, or has in another form, leads nowhere. */
function isStored(
  resources: Catalog['resources'],
  resource: Resource,
  { field, collection }: ReferenceSource,
): boolean {
  const { mapping } = resource
  const target = resources.get(collection)
  const name = mapping === undefined ? field : mapping.toStored.get(field)
  if (target === undefined || name === undefined || mapping?.conversions.has(field)) return false
  return storedResource(resource).field.get(name)?.reference?.collection === storedResource(target).name
}
