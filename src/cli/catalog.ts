/** The catalog that a command works on, of the current version or of all. */
import type { Catalog } from '../model/resource.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import { completeVersions, type Versions } from '../versions/versions.ts'
import { findDeclaration, loadDeclaration } from './load-declaration.ts'

/**
 * Loads, checks and completes a declaration.
 *
 * @param file left out: the one in the working folder
 * @throws DeclarationError, ConfigurationError
 */
export async function loadVersions(file: string | undefined): Promise<Versions> {
  const found = file ?? (await findDeclaration('.'))
  if (found === undefined) {
    throw new ConfigurationError(
      'There is no declaration here: write resources.ts, resources.js, resources.json or resources.yaml, or name a file.',
    )
  }
  const declaration = await loadDeclaration(found)
  return completeVersions(declaration)
}

/** The same, for those whom only concerns what is stored. */
export async function loadCatalog(file: string | undefined): Promise<Catalog> {
  return (await loadVersions(file)).stored
}
