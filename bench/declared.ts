/** The declaration that is measured. */
import { loadCatalog } from '../src/cli/load-declaration.ts'
import type { Catalog, Resource } from '../src/model/resource.ts'

/** Loads a declaration and one of its resources. */
export async function loadResource(
  file: string,
  collection: string,
): Promise<{ catalog: Catalog; resource: Resource }> {
  const catalog = await loadCatalog(file)
  const resource = catalog.resources.get(collection)
  if (resource === undefined) throw new Error(`${file} declares no ${collection}.`)
  return { catalog, resource }
}
