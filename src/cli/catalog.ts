/** The catalog that a command works on. */
import { completeCatalog } from '../model/catalog.ts'
import type { Catalog } from '../model/resource.ts'
import { ConfigurationError } from '../server/configuration-error.ts'
import { findDeclaration, loadDeclaration } from './load-declaration.ts'

/**
 * Loads, checks and completes a declaration.
 *
 * @param file left out: the one in the working folder
 * @throws DeclarationError, ConfigurationError
 */
export async function loadCatalog(file: string | undefined): Promise<Catalog> {
  const found = file ?? (await findDeclaration('.'))
  if (found === undefined) {
    throw new ConfigurationError(
      'There is no declaration here: write resources.ts, resources.js, resources.json or resources.yaml, or name a file.',
    )
  }
  return completeCatalog(await loadDeclaration(found))
}
