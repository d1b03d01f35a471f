/** `resourced openapi`: prints the OpenAPI document of a version. */
import { openApiDocument } from '../documents/openapi.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import { loadVersions } from './load-declaration.ts'
import { print } from './terminal.ts'

/**
 * Prints the OpenAPI document of the current version, or of the one that `--version` names.
 *
 * @throws ConfigurationError if the version does not exist
 */
export async function openApiCommand(file: string | undefined, options: { readonly version?: string }): Promise<void> {
  const versions = await loadVersions(file)
  const version = options.version === undefined ? versions.current : versions.all.get(options.version)
  if (version === undefined) {
    throw new ConfigurationError(`There is no such version: --version takes ${[...versions.all.keys()].join(' or ')}.`)
  }
  const document = openApiDocument(version.catalog, { versions, now: Date.now() })
  print(`${JSON.stringify(document, null, 2)}\n`)
}
