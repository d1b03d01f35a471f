/** `npm run build`: writes the packages into `dist/`. npm refuses to publish them: `npm run release` does that. */
import { fileURLToPath } from 'node:url'
import { buildPackage } from './package/build-package.ts'
import { manifestOf, published, root } from './package/contents.ts'

for (const contents of published) {
  const { name } = await manifestOf(contents.folder)
  await buildPackage(contents, fileURLToPath(new URL(`dist/${name}`, root)))
}
