/** Cancels the statement of a read whose client has gone. */
import { setTimeout as sleep } from 'node:timers/promises'
import { StorageFault } from '../storage.ts'

/** @throws StorageFault `abandoned` where the client has gone */
export function throwIfAbandoned(abandoned: AbortSignal | undefined, cause?: unknown): void {
  if (abandoned?.aborted === true) throw new StorageFault('abandoned', 'The client has disconnected.', cause)
}

/** The time between two cancellations, in milliseconds: the first may arrive before the statement does. */
const pause = 100

/**
 * Cancels what runs on a connection once a signal is aborted.
 *
 * @param cancel affects statements that were sent before it resolves, and no later ones
 * @returns ends it, and must be called before the connection is used again; `false`: the connection must not be used
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
