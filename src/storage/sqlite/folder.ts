/** The folder of a database file. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes the folder that a file will be in, and those above it, where they are missing.
 *
 * SQLite syncs the names of its files, but not that of the folder around them: a power cut could take a new folder away
 * with all that is in it. So before a file is made, every folder above its own is synced, whoever made it.
 *
 * @throws the system's error where it cannot be made
 */
export function makeFolderOf(file: string): void {
  const folder = dirname(resolve(file))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (existsSync(file)) return
  for (let above = folder; above !== dirname(above); ) {
    above = dirname(above)
    sync(above)
  }
}

function sync(folder: string): void {
  let descriptor: number
  try {
    descriptor = openSync(folder, 'r')
  } catch {
    // Nothing new is in a folder that one may not open; and Windows, which opens none, keeps names by itself.
    return
  }
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // Where a file system has no such call, or cannot be written, there is nothing to wait for.
    if (!['EINVAL', 'EROFS', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) throw error
  } finally {
    closeSync(descriptor)
  }
}
