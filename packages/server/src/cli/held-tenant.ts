/**
 * Keeps a tenant that is imported or moved for one command. Another command that finds it so waits: the first one may
 * be at work, or was killed, which shows when it does not renew its hold.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { TenantEntry, TenantStore } from '../storage/storage.ts'

/** For how long a tenant is kept for a command that was killed, in milliseconds. */
const heldFor = 15_000

/** When a hold that begins now ends, unless it is renewed, in milliseconds since 1970. */
export const endOfHold = (): number => Date.now() + heldFor

/** A tenant that this command holds. */
export interface Held {
  /** Aborted when the work must end: somebody interrupts it, or the hold is lost. */
  readonly signal: AbortSignal
  /**
   * Renews the hold.
   *
   * @throws ConfigurationError if another command has the tenant by now, or it was deleted
   */
  renew(): Promise<void>
  /**
   * Ends the hold before the end of the work. A tenant that moves is nobody's from here on but the target's.
   *
   * @throws ConfigurationError as `renew`
   */
  release(): Promise<void>
}

/**
 * Works on a tenant as long as this command holds it.
 *
 * @param until the end of the hold, as the tenant's record has it
 */
export async function holding<T>(
  registry: Pick<TenantStore, 'hold'>,
  { id, name, until }: Pick<TenantEntry, 'id' | 'name'> & { readonly until: number },
  signal: AbortSignal,
  work: (held: Held) => Promise<T>,
): Promise<T> {
  const lost = new AbortController()
  let known: number | null = until
  let renewing = Promise.resolve()
  const hold = (nextOf: () => number | null) => {
    renewing = renewing
      .catch(() => {})
      .then(async () => {
        const next = nextOf()
        if (lost.signal.aborted || !(await registry.hold(id, known, next))) throw lostHold(name)
        known = next
      })
    return renewing
  }
  const renew = () => hold(() => Math.max(endOfHold(), (known ?? 0) + 1))
  const release = () => {
    clearInterval(timer)
    return hold(() => null)
  }
  // An error of the database is reported by the work. It ends the hold if it lasts.
  const timer = setInterval(() => {
    renew().catch((error: unknown) => error instanceof ConfigurationError && lost.abort(error))
  }, heldFor / 5)
  try {
    return await work({ signal: AbortSignal.any([signal, lost.signal]), renew, release })
  } finally {
    clearInterval(timer)
    await renewing.catch(() => {})
  }
}

function lostHold(name: string): ConfigurationError {
  const found = `The tenant ${JSON.stringify(name)} was deleted, or another command works on it by now.`
  return new ConfigurationError(`${found} See: resourced tenants list`)
}

/**
 * Takes over a tenant that another command has left, when its hold ends.
 *
 * @returns the end of the new hold; `undefined`: the tenant has changed, so look at it again
 */
export async function takeOver(
  registry: Pick<TenantStore, 'hold'>,
  { id, wakesAt }: Pick<TenantEntry, 'id' | 'wakesAt'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const rest = (wakesAt ?? 0) - Date.now()
  if (rest > 0) {
    await sleep(Math.min(rest, 500), undefined, { signal })
    return undefined
  }
  const until = endOfHold()
  return (await registry.hold(id, wakesAt, until)) ? until : undefined
}
