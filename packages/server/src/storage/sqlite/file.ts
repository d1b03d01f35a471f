/** Database files: created for their owner only, and checked for replacement. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StorageFault } from '../storage.ts'

/**
 * Creates an empty database file and its folders, where they do not exist. A file that SQLite creates would be readable
 * as the umask permits; the files beside it (-wal, -shm) get the mode of this one.
 *
 * SQLite syncs the directory entries of its files, but not that of their folder: a power cut could lose a new folder
 * with everything in it. So every folder above is synced before a file is created.
 *
 * @throws the system's error where a folder cannot be created; where the file cannot, SQLite reports it
 */
export function makeFile(file: string): void {
  if (file === ':memory:') return
  makeFolder(file)
  if (existsSync(file)) return
  // An existing file is never opened: to close it would release the locks of this process's other connections to it.
  if (!create(file, 'wx') && !existsSync(file)) create(file, 'a') // A link to where nothing is.
}

/** Opens a database, and adds its file to an error of SQLite, which names none. */
export function withPath<T>(path: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (error instanceof Error && !('path' in error)) Object.assign(error, { path })
    throw error
  }
}

/** Creates the folders of a file that does not exist, for their owner only. */
export function makeFolder(file: string): void {
  const folder = dirname(resolve(file))
  makeFolders(folder)
  if (existsSync(file)) return
  for (let above = folder; above !== dirname(above); ) {
    above = dirname(above)
    syncFolder(above)
  }
}

/**
 * Returns a check that the file at a path is still the same. It always passes where the system has no inode numbers.
 *
 * @returns throws a StorageFault where another file is there
 */
export function fileWatch(path: string): () => void {
  const look = () => statSync(path, { throwIfNoEntry: false, bigint: true })
  const first = look()
  return () => {
    const present = look()
    if (present?.ino !== first?.ino || present?.dev !== first?.dev) throw replacedFile()
  }
}

function replacedFile(): StorageFault {
  const found = 'The file of the database was removed or replaced, so changes would be lost.'
  const remedy =
    'Put the file back. Or stop the server, remove or move the files beside it that end in -wal and -shm, which ' +
    'belong to the former file, and start the server on the new one.'
  return new StorageFault('unwritable', `${found} ${remedy}`)
}

/** The address of a file that nobody writes: SQLite then neither reads nor makes a log or a journal beside it. */
export function immutableAddress(path: string): URL {
  const address = pathToFileURL(path)
  address.searchParams.set('immutable', '1')
  return address
}

/** The file of a tenant, in a folder beside the file of the operators. */
export function tenantFileOf(path: string, tenant: string): string {
  return path === ':memory:' ? path : join(tenantsFolderOf(path), `${tenant}.db`)
}

/** The folder for the files of the tenants of a database. */
export function tenantsFolderOf(path: string): string {
  return `${path}-tenants`
}

/** The folder for the files of exports of a database. */
export function exportsFolderOf(path: string): string {
  return `${path}.exports`
}

/**
 * Makes a folder and those above it. Node's own recursion never ends where a file system refuses new folders with
 * ENOENT, as /proc does.
 */
function makeFolders(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  if (found !== undefined) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR', path: folder })
  makeFolders(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error
  }
}

function create(file: string, flags: 'wx' | 'a'): boolean {
  try {
    closeSync(openSync(file, flags, 0o600))
    return true
  } catch {
    return false
  }
}

/** Writes the entries of a folder to the disk, so that a power cut does not lose a new file. */
export function syncFolder(folder: string): void {
  let descriptor: number
  try {
    descriptor = openSync(folder, 'r')
  } catch {
    // A folder that cannot be opened contains nothing new. Windows opens no folders, and keeps their entries by itself.
    return
  }
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // File systems without this call, and read-only ones, have nothing to sync.
    if (!['EINVAL', 'EROFS', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) throw error
  } finally {
    closeSync(descriptor)
  }
}
