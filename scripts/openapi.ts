/** Writes the OpenAPI documents of the examples where `npm run check:documents` lints them. */
import { mkdir, writeFile } from 'node:fs/promises'
import atlas from '../examples/atlas/resources.ts'
import studio from '../examples/studio/resources.ts'
import { openApiDocument } from '../src/documents/openapi.ts'
import { completeCatalog } from '../src/model/catalog.ts'

const folder = new URL('../.resourced/openapi/', import.meta.url)
await mkdir(folder, { recursive: true })
for (const [name, declaration] of Object.entries({ atlas, studio })) {
  const document = openApiDocument(completeCatalog(declaration))
  await writeFile(new URL(`${name}.json`, folder), JSON.stringify(document, null, 2))
}
