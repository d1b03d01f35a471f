/**
 * `RateLimit-Policy` and `RateLimit`: quotas and what is left of them (draft-ietf-httpapi-ratelimit-headers-11).
 */

/** A quota. Its name is ASCII without quotation marks and backslashes. */
export interface QuotaPolicy {
  readonly name: string
  /** How many requests. */
  readonly most: number
  /** Seconds. */
  readonly window: number
}

/** What a caller has left of a quota. */
export interface ServiceLimit {
  readonly name: string
  /** How many requests are left: the available quota. */
  readonly left: number
  /**
   * The effective window in whole seconds: within it, no more requests are allowed.
   */
  readonly seconds: number
}

/**
 * Writes the value of `RateLimit-Policy` (section 3), a list of structured fields (RFC 9651).
 *
 * @example
 * formatPolicies([{ name: 'caller', most: 600, window: 60 }]) // "caller";q=600;w=60
 */
export function formatPolicies(policies: readonly QuotaPolicy[]): string {
  return policies.map(({ name, most, window }) => `"${name}";q=${most};w=${window}`).join(', ')
}

/**
 * Writes the value of `RateLimit` (section 4), in the same way.
 *
 * @example
 * formatLimits([{ name: 'caller', left: 599, seconds: 60 }]) // "caller";r=599;t=60
 */
export function formatLimits(limits: readonly ServiceLimit[]): string {
  let text = ''
  // Every response has one, and a loop costs half as much as `map` and `join`.
  for (const { name, left, seconds } of limits) text += `${text === '' ? '' : ', '}"${name}";r=${left};t=${seconds}`
  return text
}
