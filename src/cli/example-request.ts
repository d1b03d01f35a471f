/** A first request for people to copy. */
import { exampleOf } from '../documents/openapi/schemas.ts'
import type { Catalog, Resource } from '../model/resource.ts'

/**
 * A command that creates a record in the first collection whose required fields have examples. Without such a
 * collection, it lists the first one.
 *
 * @param url of the interface, without a slash at the end
 */
export function exampleRequest(url: string, catalog: Catalog, key: string): string {
  const authorization = `--header "Authorization: Bearer ${key}"`
  for (const resource of catalog.resources.values()) {
    const record = exampleRecord(resource)
    if (record === undefined) continue
    const json = JSON.stringify(record).replaceAll("'", String.raw`'\''`)
    return `  curl ${url}/${resource.name} ${authorization} --json '${json}'`
  }
  return `  curl ${url}/${[...catalog.resources.keys()][0] ?? ''} ${authorization}`
}

/** The required fields of a record; `undefined` where one has no example. */
function exampleRecord({ fields }: Resource): Record<string, unknown> | undefined {
  const record: Record<string, unknown> = {}
  for (const field of fields) {
    if (!field.required || field.readOnly || field.default !== undefined) continue
    const value = field.reference === undefined ? exampleOf(field.schema, field.name) : undefined
    if (value === undefined) return undefined
    record[field.name] = value
  }
  return record
}
