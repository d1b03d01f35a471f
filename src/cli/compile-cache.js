/**
 * Keeps compiled code for the next start, in a folder that only this user can change (`cache-folder.js`). The file is
 * JavaScript, like everything loaded before it: one TypeScript file outside the cache loads the whole compiler, a tenth
 * of a second and 35 MB.
 *
 * `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` take precedence: Node has read both before this line runs.
 */
import { enableCompileCache } from 'node:module'
import { cacheFolder } from './cache-folder.js'

if (process.env.NODE_COMPILE_CACHE === undefined) {
  const folder = cacheFolder()
  if (folder !== undefined) enableCompileCache(folder)
}
