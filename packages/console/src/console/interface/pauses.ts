/**
 * Pauses of all requests: after 429, 503 and lost connections. One pause holds every request, so that a hundred views
 * do not each ask a server that has refused the first of them.
 */
import { makeStore, until } from './store.ts'

export interface Pause {
  /** Why, without a full stop. */
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly ends: number
}

/** The pause that holds now; for `useSyncExternalStore`. */
export const pauses = makeStore<Pause | undefined>(undefined)

let timer: ReturnType<typeof setTimeout> | undefined
addEventListener('online', end)

/** Holds all requests for a time in milliseconds, or longer if a pause holds them already. */
export function pause(reason: string, milliseconds: number): void {
  const ends = Date.now() + milliseconds
  if (ends <= (pauses.current()?.ends ?? 0)) return
  clearTimeout(timer)
  timer = setTimeout(end, milliseconds)
  pauses.set({ reason, ends })
}

/** Waits until no pause holds. */
export async function pauseEnd(signal: AbortSignal | undefined): Promise<void> {
  await until(pauses, (now) => now === undefined, signal)
}

function end(): void {
  clearTimeout(timer)
  pauses.set(undefined)
}
