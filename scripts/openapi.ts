/** Writes the OpenAPI documents of the examples where `npm run check:documents` lints them. */
import { mkdir, writeFile } from 'node:fs/promises'
import { loadCatalog } from '../packages/server/src/cli/load-declaration.ts'
import { openApiDocument, openApiText } from '../packages/server/src/documents/openapi.ts'

const folder = new URL('../.resourced/openapi/', import.meta.url)
await mkdir(folder, { recursive: true })
for (const name of ['atlas', 'studio']) {
  const document = openApiDocument(await loadCatalog(`examples/${name}/resources.yaml`))
  await writeFile(new URL(`${name}.json`, folder), openApiText(document))
}
