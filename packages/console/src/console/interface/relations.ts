/**
 * The catalog with what relations add to collections: filters by the fields of records that are referred to, and sort
 * orders by their names (WHR-2).
 */
import { type Catalog, type Collection, namingField, type Relation } from './catalog.ts'

/** A relation to one record of a collection that the caller may read. */
interface Referring {
  readonly name: string
  readonly field: string
  readonly target: Collection
}

/** @param isReadable whether the caller may read a collection */
export function relatedCatalog(catalog: Catalog, isReadable: (collection: string) => boolean): Catalog {
  const collections = [...catalog.collections].map(([name, collection]): [string, Collection] => {
    const referring = Object.entries(collection.relations ?? {}).flatMap(([relation, { to, ...rest }]): Referring[] => {
      const target = catalog.collections.get(rest.collection)
      return to === 'one' && target && isReadable(target.name) ? [{ name: relation, field: rest.field, target }] : []
    })
    return [name, referring.length === 0 ? collection : withRelations(collection, referring)]
  })
  return { ...catalog, collections: new Map(collections) }
}

function withRelations(collection: Collection, referring: readonly Referring[]): Collection {
  const fields = collection.fields.map((field) => {
    const found = referring.find((each) => each.field === field.name)
    const naming = found && namingField(found.target)
    return naming && found.target.field.get(naming)?.sort ? { ...field, sortedBy: `${found.name}.${naming}` } : field
  })
  // The id of a record is what the reference itself filters by.
  const related = referring.flatMap(({ name, target }) =>
    target.fields
      .filter((field) => field.name !== 'id' && (field.filter ?? field.sort) !== undefined)
      .map((field) => ({ ...field, name: `${name}.${field.name}` })),
  )
  return {
    ...collection,
    ...{ fields, filters: [...collection.filters, ...related.filter(({ filter }) => filter !== undefined)] },
    field: new Map([...fields, ...related].map((field) => [field.name, field])),
  }
}

/** The name of a relation of a collection; `undefined`: the server has none. */
export function relationName(
  { relations = {} }: Pick<Collection, 'relations'>,
  { to, collection, field }: Relation,
): string | undefined {
  const found = Object.entries(relations).find(
    ([, each]) => each.to === to && each.collection === collection && each.field === field,
  )
  return found?.[0]
}
