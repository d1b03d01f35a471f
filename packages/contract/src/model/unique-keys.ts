/** The fields by whose values an address may identify a record. */
import { secretParameters } from './names.ts'
import { type Resource, storedResource } from './resource.ts'

const knownKeys = new WeakMap<Resource, ReadonlyMap<string, string>>()

/**
 * The unique fields by whose values an address may identify a record (BLK-2): the stored name by the name that the
 * resource's version has. No secret stands in an address (QRY-9).
 */
export function uniqueKeysOf(resource: Resource): ReadonlyMap<string, string> {
  const known = knownKeys.get(resource)
  if (known !== undefined) return known
  const stored = storedResource(resource)
  const names = stored.unique.flatMap(([name = '', ...others]): [string, string][] => {
    const shown = resource.mapping === undefined ? name : (resource.mapping.fromStored.get(name) ?? '')
    const isKey = others.length === 0 && resource.field.get(shown)?.writeOnly === false
    return isKey && !secretParameters.includes(shown) ? [[shown, name]] : []
  })
  const found = new Map(names)
  knownKeys.set(resource, found)
  return found
}
