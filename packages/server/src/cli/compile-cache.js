/**
 * Keeps compiled code for the next start, in a folder that only this user can change. Node runs what it finds there, so
 * whoever can write the folder can run code as this user: each folder on the way to it must belong to this user or to
 * root, and nobody else may be able to write it.
 *
 * The file is JavaScript, like everything loaded before it: one TypeScript file outside the cache loads the whole
 * compiler, a tenth of a second and 35 MB.
 *
 * `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` take precedence: Node has read both before this line runs.
 */

import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'
import { debuglog } from 'node:util'

const debug = debuglog('resourced')

/**
 * Makes the folder where it is missing, with mode 0700.
 *
 * @returns {string | undefined} its path without symbolic links; `undefined` where no folder is safe or can be written
 */
function cacheFolder() {
  const home = userCache()
  if (home === undefined) return refused('no cache folder of the user is set')
  const folder = join(home, 'resourced', 'compiled')
  try {
    // Before anything is made there: root would leave folders of its own in somebody else's home.
    if (!isPrivate(realpathSync(deepestExisting(folder)))) return refused(`others can write ${folder}`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const real = realpathSync(folder)
    return isPrivate(real) ? real : refused(`others can write ${folder}`)
  } catch (error) {
    return refused(`${folder} cannot be made: ${error instanceof Error ? error.message : error}`)
  }
}

/**
 * Where the system keeps caches of a user: the XDG Base Directory Specification, and the equivalents of macOS and
 * Windows.
 */
function userCache() {
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env
  if (process.platform === 'win32') return absolute(LOCALAPPDATA)
  const home = absolute(HOME)
  const usual = process.platform === 'darwin' ? 'Library/Caches' : '.cache'
  return absolute(XDG_CACHE_HOME) ?? (home && join(home, usual))
}

/** @param {string | undefined} path */
function absolute(path) {
  return path !== undefined && isAbsolute(path) ? path : undefined
}

/** @param {string} path */
function deepestExisting(path) {
  let existing = path
  while (lstatSync(existing, { throwIfNoEntry: false }) === undefined) existing = dirname(existing)
  return existing
}

/**
 * Whether only this user and root can change what a path leads to.
 *
 * @param {string} path without symbolic links
 */
function isPrivate(path) {
  // Windows has no modes, and its folder for local data is the user's own.
  if (process.geteuid === undefined) return true
  const user = process.geteuid()
  for (let folder = path; ; folder = dirname(folder)) {
    const { uid, mode } = lstatSync(folder)
    if (uid !== user && uid !== 0) return false
    // In a sticky folder, such as /tmp, others cannot rename or replace what is not theirs; but they can make what is
    // missing.
    const writable = (mode & 0o022) !== 0
    if (writable && (folder === path || (mode & 0o1000) === 0)) return false
    if (folder === dirname(folder)) return true
  }
}

/** @param {string} reason */
function refused(reason) {
  debug('Compiled code is not cached: %s.', reason)
  return undefined
}

if (process.env.NODE_COMPILE_CACHE === undefined) {
  const folder = cacheFolder()
  // Deno has no such cache.
  if (folder !== undefined) enableCompileCache?.(folder)
}
