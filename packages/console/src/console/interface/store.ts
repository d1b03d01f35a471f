/** A value that views follow with `useSyncExternalStore`. */
export interface Store<Value> {
  readonly current: () => Value
  readonly subscribe: (listener: () => void) => () => void
  readonly set: (next: Value) => void
}

export function makeStore<Value>(first: Value): Store<Value> {
  const listeners = new Set<() => void>()
  let value = first
  return {
    current: () => value,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    set(next) {
      value = next
      for (const listener of listeners) listener()
    },
  }
}

/**
 * Waits until a value holds what is wanted.
 *
 * @throws the reason of the signal once it is aborted
 */
export function until<Value>(
  { current, subscribe }: Store<Value>,
  isWanted: (value: Value) => boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (signal?.aborted) reject(signal.reason)
      else if (!isWanted(current())) return
      else resolve()
      unsubscribe()
      // An import sends a million requests with one signal.
      signal?.removeEventListener('abort', check)
    }
    const unsubscribe = subscribe(check)
    signal?.addEventListener('abort', check, { once: true })
    check()
  })
}
