/** Writes the pages of `docs/reference` that are generated from the source code. Run it with `npm run docs`. */
import { writeFile } from 'node:fs/promises'
import { declarationPage } from '../packages/server/src/documents/declaration-page.ts'
import { errorCodesPage, rulesPage } from '../packages/server/src/documents/pages.ts'
import { commandLinePage, configurationPage } from './command-pages.ts'

const pages = {
  'rules.md': rulesPage(),
  'error-codes.md': errorCodesPage(),
  'declaration.md': declarationPage(),
  'command-line.md': commandLinePage(),
  'configuration.md': configurationPage(),
}

for (const [name, text] of Object.entries(pages)) {
  await writeFile(new URL(`../docs/reference/${name}`, import.meta.url), text)
  console.log(`docs/reference/${name}`)
}
