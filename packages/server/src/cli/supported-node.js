/**
 * Says which Node.js is needed where an older one runs. The file is JavaScript that any Node.js with modules can read,
 * and imports nothing: whatever it imported could fail first, with an error that names no version.
 */

/** The oldest Node.js that works, as `engines` of the manifest has it. */
export const oldestNode = '24.15'

/**
 * What is missing, as one sentence; `undefined`: nothing.
 *
 * @param {{ readonly [name: string]: string | undefined }} versions `process.versions`
 * @param {boolean} hasSqlite whether `node:sqlite` is there
 */
export function missingRuntime(versions = process.versions, hasSqlite = sqliteIsThere()) {
  const other = versions.bun === undefined ? versions.deno && `Deno ${versions.deno}` : `Bun ${versions.bun}`
  if (other) {
    // Both imitate Node.js, under a version that says little about what they have of it.
    return hasSqlite
      ? undefined
      : `Resourced needs node:sqlite, which ${other} lacks: update it, or use Node.js ${oldestNode} or newer.`
  }
  if (isAtLeast(versions.node ?? '0', oldestNode)) return undefined
  return (
    `Resourced needs Node.js ${oldestNode} or newer, and this is Node.js ${versions.node}: ` +
    'install a newer version from https://nodejs.org/.'
  )
}

/** @param {string} version @param {string} oldest */
function isAtLeast(version, oldest) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

function sqliteIsThere() {
  return process.getBuiltinModule?.('node:sqlite') !== undefined
}
