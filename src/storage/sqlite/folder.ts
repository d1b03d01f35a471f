/** The folder of a database file. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes the folder that a file will be in, and those above it, where they are missing.
 *
 * SQLite syncs the names of its files, but not that of the folder around them: a power cut could take a new folder away
 * with all that is in it. So each folder that gains a new one is synced.
 *
 * @throws the system's error where it cannot be made
 */
export function makeFolderOf(file: string): void {
  const folder = dirname(resolve(file))
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Windows cannot open a folder, and keeps its names by itself.
  if (first === undefined || process.platform === 'win32') return
  for (let made = folder; ; made = dirname(made)) {
    sync(dirname(made))
    if (made === resolve(first)) return
  }
}

function sync(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
