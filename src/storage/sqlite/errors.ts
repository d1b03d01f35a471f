/** SQLite's errors in the words of the storage port. */
import { StorageFault } from '../storage.ts'

const busyCodes = new Set([5, 6])

/** Whether another process holds the lock just now: trying again later may succeed. */
export function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' && busyCodes.has(code & 0xff)
}

// SQLite's own code, without what is particular: the disk is full, or the file may not or cannot be written.
const unwritable: ReadonlyMap<number, string> = new Map([
  [
    13,
    'The disk of the database is full. Free space on it, or make it larger; writing then goes on without a restart.',
  ],
  [8, 'The database is read-only. Look at the rights of its file and folder, and at how its disk is mounted.'],
  [10, 'The disk of the database fails. Look at the disk and at its quotas; writing goes on once it succeeds.'],
  [14, 'The database cannot be opened. Look whether its file and its folder are there, and at their rights.'],
])

/** An error as the port throws it. Faults of the request, and of the program, pass unchanged. */
export function asStorageFault(error: unknown): unknown {
  if ((error as { code?: unknown } | null)?.code !== 'ERR_SQLITE_ERROR') return error
  if (isBusy(error)) return new StorageFault('busy', 'The database is locked by another process.', error)
  const code = (error as { errcode?: unknown }).errcode
  const message = typeof code === 'number' ? unwritable.get(code & 0xff) : undefined
  if (message !== undefined) return new StorageFault('unwritable', message, error)
  return new StorageFault('failed', 'SQLite failed.', error)
}
