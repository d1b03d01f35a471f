/** Writes the pages of `docs/` that are made from the contract. Run it with `npm run docs`. */
import { writeFile } from 'node:fs/promises'
import { errorsPage, interfacePage } from '../src/documents/pages.ts'

const pages = { 'interface.md': interfacePage(), 'errors.md': errorsPage() }

for (const [name, text] of Object.entries(pages)) {
  await writeFile(new URL(`../docs/${name}`, import.meta.url), text)
  console.log(`docs/${name}`)
}
