/** A new database file, and its folder: for their owner alone. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a database file where there is none, empty as SQLite takes it, and the folders above it; what is there stays as
 * it is. Made by SQLite, it would be readable by whoever the umask lets. The files beside it (-wal, -shm) get its mode.
 *
 * SQLite syncs the names of its files, but not that of the folder around them: a power cut could take a new folder away
 * with all that is in it. So before a file is made, every folder above its own is synced, whoever made it.
 *
 * @throws the system's error where a folder cannot be made; where the file cannot, SQLite will say so
 */
export function makeFile(file: string): void {
  if (file === ':memory:') return
  const folder = dirname(resolve(file))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (existsSync(file)) return
  for (let above = folder; above !== dirname(above); ) {
    above = dirname(above)
    sync(above)
  }
  // Never opened where it exists: closing it again would take away the locks of this process's other connections to it.
  if (!create(file, 'wx') && !existsSync(file)) create(file, 'a') // A link to where nothing is.
}

/**
 * Says at any time whether a file is still the one that is at its path now. Where a system numbers no files, it always
 * is.
 */
export function fileWatch(path: string): () => boolean {
  const look = () => statSync(path, { throwIfNoEntry: false, bigint: true })
  const first = look()
  return () => {
    const present = look()
    return present?.ino === first?.ino && present?.dev === first?.dev
  }
}

/** The folder for the files of exports of a database. */
export function exportsFolderOf(path: string): string {
  return `${path}.exports`
}

function create(file: string, flags: 'wx' | 'a'): boolean {
  try {
    closeSync(openSync(file, flags, 0o600))
    return true
  } catch {
    return false
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
