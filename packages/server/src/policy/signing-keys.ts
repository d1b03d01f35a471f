/**
 * The issuer's keys (AUT-2): fetched once and cached, then fetched again when they are old or lack the key of a token.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { fault } from 'resourced-contract/spec/faults'

/** Where keys come from. */
export interface KeySource {
  fetch(): Promise<JSONWebKeySet>
  /** Milliseconds since 1970. */
  now(): number
  /** Called for every fetch that fails. */
  failed(error: unknown): void
}

/** The least time between two fetches, in milliseconds: forged key ids must not cause requests to the issuer. */
const cooldown = 30_000
/** How long keys are used, in milliseconds; then they are fetched again while the old ones still serve. */
const age = 600_000

/**
 * Makes the function that finds the key of a token. It throws Fault KEY_SERVER_FAILED if no fetch has succeeded yet,
 * and the error of `jose` if the token's key is not among the keys.
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
    // After a long time without requests the old keys may be very old: requests then wait for the new ones.
    waits = isOver(attempted, 2 * age)
    // `failed` may throw, and this promise may have no handler.
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
