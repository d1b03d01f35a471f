/**
 * The catalog as one caller may use it (AUT-13, AUT-14). Fields that the caller may not write have no input. Fields
 * that the caller may read in no record have no filter. Fields that the caller may not read in every record have no
 * sort.
 */
import { byName, type Catalog, type Collection, type Field } from './catalog.ts'
import type { Caller, Granted } from './connection.tsx'

type Grants = NonNullable<Caller['field_permissions']>[string][string]

/** @param caller servers of earlier versions have no `field_permissions` */
export function permittedCatalog(catalog: Catalog, { field_permissions: all = {} }: Caller): Catalog {
  const collections = [...catalog.collections].map(([name, collection]): [string, Collection] => {
    const permissions = Object.hasOwn(all, name) ? all[name] : undefined
    return [name, permissions === undefined ? collection : permittedCollection(collection, permissions)]
  })
  return { ...catalog, collections: new Map(collections) }
}

function permittedCollection(collection: Collection, permissions: Readonly<Record<string, Grants>>): Collection {
  const fields = collection.fields.flatMap((field): Field[] => {
    const grants = Object.hasOwn(permissions, field.name) ? permissions[field.name] : undefined
    return grants === undefined ? [field] : permittedField(field, grants)
  })
  return { ...collection, ...byName(fields) }
}

/** A field that the caller may neither read nor write is left out. */
function permittedField(field: Field, { read, write }: Grants): Field[] {
  const [isRead, isWritten]: Granted[] = [read?.granted ?? 'all', write?.granted ?? 'all']
  if (isRead === 'none' && isWritten === 'none') return []
  const { filter, sort, ...rest } = field
  return [
    {
      ...rest,
      ...(filter !== undefined && isRead !== 'none' && { filter }),
      ...(sort !== undefined && isRead === 'all' && { sort }),
      ...(isWritten === 'none' && { input: undefined }),
    },
  ]
}
