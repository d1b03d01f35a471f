/** SQLite's errors in the words of the storage port. */
import { StorageFault } from '../storage.ts'

const busyCodes = new Set([5, 6])

/** Whether another process holds the lock just now: trying again later may succeed. */
export function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' && busyCodes.has(code & 0xff)
}

/** An error as the port throws it. Faults of the request, and of the program, pass unchanged. */
export function asStorageFault(error: unknown): unknown {
  if ((error as { code?: unknown } | null)?.code !== 'ERR_SQLITE_ERROR') return error
  if (isBusy(error)) return new StorageFault('busy', 'The database is locked by another process.', error)
  return new StorageFault('failed', 'SQLite failed.', error)
}
