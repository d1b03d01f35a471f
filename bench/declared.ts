/** The declaration that is measured. */

import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { loadCatalog } from '../packages/server/src/cli/load-declaration.ts'

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
