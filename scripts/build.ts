/** `npm run build`: writes the package into `dist/`. npm refuses to publish it: `npm run release` does that. */
import { fileURLToPath } from 'node:url'
import { buildPackage } from './package/build-package.ts'
import { root } from './package/contents.ts'

await buildPackage(fileURLToPath(new URL('dist', root)))
