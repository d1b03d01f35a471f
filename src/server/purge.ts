/** Regular work of a server: what has expired goes. Until there are jobs, a timer does it. */
import type { Storage } from '../storage/storage.ts'
import type { Observe } from './observe.ts'

const everyHour = 3_600_000

/**
 * Removes what has expired, now and every hour (DEL-7, MET-9).
 *
 * @returns a function that ends it
 */
export function purgeRegularly(storage: Storage, observe: Observe, now: () => number = Date.now): () => void {
  const purge = () => {
    storage.purge(now()).catch((error: unknown) => observe({ kind: 'failure', requestId: 'purge', error }))
  }
  const timer = setInterval(purge, everyHour)
  timer.unref()
  purge()
  return () => clearInterval(timer)
}
