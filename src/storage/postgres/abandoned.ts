/** Stops what is done for somebody who does not wait for it any more. */
import { setTimeout as sleep } from 'node:timers/promises'
import { StorageFault } from '../storage.ts'

/** @throws StorageFault where nobody waits any more */
export function checkAwaited(abandoned: AbortSignal | undefined, cause?: unknown): void {
  if (abandoned?.aborted === true) throw new StorageFault('abandoned', 'Nobody waits for the answer any more.', cause)
}

/** Between two attempts, in milliseconds: the first may come before the statement that is meant. */
const pause = 100

/**
 * Cancels what runs on a connection, from when a signal is aborted.
 *
 * @param cancel does it; it has an effect on what was sent before it resolves, and on nothing later
 * @returns what must be called before the connection is used for others; gives `false` where it must not be
 */
export function cancelOn(abandoned: AbortSignal, cancel: () => Promise<void>): () => Promise<boolean> {
  const stopped = new AbortController()
  let cancelling: Promise<boolean> | undefined
  const begin = () => {
    cancelling = cancelUntil(stopped.signal, cancel)
  }
  abandoned.addEventListener('abort', begin, { once: true })
  return async () => {
    abandoned.removeEventListener('abort', begin)
    stopped.abort()
    return (await cancelling) ?? true
  }
}

async function cancelUntil(stopped: AbortSignal, cancel: () => Promise<void>): Promise<boolean> {
  try {
    while (!stopped.aborted) {
      await cancel()
      await sleep(pause, undefined, { signal: stopped }).catch(() => {})
    }
    return true
  } catch {
    return false
  }
}
