/** Writes the pages of `docs/reference` that are generated from the source code. Run it with `npm run docs`. */
import { writeFile } from 'node:fs/promises'
import { commandLinePage, configurationPage } from './command-pages.ts'
import { errorCodesPage, rulesPage } from './contract-pages.ts'
import { declarationPage } from './declaration-page.ts'

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
