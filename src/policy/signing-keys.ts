/** The issuer's keys: fetched once, kept, and fetched again when they are old or lack the one that a token names (AUT-2). */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { fault } from '../spec/faults.ts'

/** Where keys come from. */
export interface KeySource {
  fetch(): Promise<JSONWebKeySet>
  /** Milliseconds since 1970. */
  now(): number
  /** Hears of every fetch that failed. */
  failed(error: unknown): void
}

/** The least time between two fetches, in milliseconds: forged key ids must not make us ask the issuer again and again. */
const cooldown = 30_000
/** How long keys are taken as they are; then they are fetched anew while the old ones serve. */
const age = 600_000

/**
 * Gives the function that finds the key of a token. It throws Fault KEY_SERVER_FAILED where no keys were ever had, and
 * what `jose` throws where the token's key is not among them.
 */
export function signingKeys(source: KeySource): JWTVerifyGetKey {
  let keys: ReturnType<typeof createLocalJWKSet> | undefined
  let attempted = Number.NEGATIVE_INFINITY
  let fetched = Number.NEGATIVE_INFINITY
  let failure: unknown
  let running: Promise<void> | undefined
  let waits = true

  // A clock that was set back must not stop all refreshing until it has caught up.
  const isOver = (start: number, duration: number) => source.now() - start >= duration || source.now() < start
  const mayRefresh = () => running !== undefined || isOver(attempted, cooldown)

  async function attempt(): Promise<void> {
    attempted = source.now()
    try {
      keys = createLocalJWKSet(await source.fetch())
      fetched = source.now()
    } catch (error) {
      failure = error
      source.failed(error)
    }
  }
  function refresh(): Promise<void> {
    if (running !== undefined) return running
    // Where nobody asked for so long, the old keys may be very old: then they do not serve meanwhile.
    waits = isOver(attempted, 2 * age)
    // Whoever hears of a failure may throw, and nobody may be waiting here.
    running = attempt()
      .catch(() => {})
      .finally(() => {
        running = undefined
      })
    return running
  }

  return async (header, token) => {
    if (isOver(fetched, age) && mayRefresh()) {
      const refreshed = refresh()
      if (waits || keys === undefined) await refreshed
    }
    if (keys === undefined) {
      const detail = 'Tokens cannot be verified now: their keys could not be fetched. Try again in half a minute.'
      throw fault('KEY_SERVER_FAILED', { detail }, failure)
    }
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !mayRefresh()) throw error
      await refresh()
      return await keys(header, token)
    }
  }
}
