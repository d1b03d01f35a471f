/** The declaration that is measured. */
import { pathToFileURL } from 'node:url'
import { completeCatalog } from '../src/model/catalog.ts'
import type { InterfaceDeclaration } from '../src/model/declaration.ts'
import type { Catalog, Resource } from '../src/model/resource.ts'

/** Loads a declaration and one of its resources. */
export async function loadResource(
  file: string,
  collection: string,
): Promise<{ catalog: Catalog; resource: Resource }> {
  const module = (await import(pathToFileURL(file).href)) as { readonly default: InterfaceDeclaration }
  const catalog = completeCatalog(module.default)
  const resource = catalog.resources.get(collection)
  if (resource === undefined) throw new Error(`${file} declares no ${collection}.`)
  return { catalog, resource }
}
