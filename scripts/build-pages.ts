/**
 * `npm run build:pages`: writes the pages for people into `packages/server/pages/`. `npm ci` runs it too. Without the packages of
 * developers there is no bundler: then the server says that the pages are not built.
 */
import { fileURLToPath } from 'node:url'
import { root } from './package/contents.ts'

try {
  import.meta.resolve('rolldown')
} catch {
  console.error('The pages are not built, because the packages of developers are not installed.')
  process.exit()
}
const { buildPages } = await import('./package/pages.ts')
await buildPages(fileURLToPath(new URL('packages/server/pages', root)), 'quickly')
