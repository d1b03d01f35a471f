/** `resourced openapi`. */
import { openApiDocument } from '../documents/openapi.ts'
import { loadCatalog } from './catalog.ts'

/** Prints the OpenAPI document. */
export async function openApiCommand(file: string | undefined): Promise<void> {
  process.stdout.write(`${JSON.stringify(openApiDocument(await loadCatalog(file)), null, 2)}\n`)
}
