/**
 * `RateLimit-Policy` and `RateLimit`: what is allowed, and what is left of it
 * (draft-ietf-httpapi-ratelimit-headers-11).
 */

/** A quota as it is announced. Its name is ASCII, without quotation marks and backslashes. */
export interface QuotaPolicy {
  readonly name: string
  /** How many requests. */
  readonly most: number
  /** Seconds. */
  readonly window: number
}

/** Where a caller stands with a quota. */
export interface ServiceLimit {
  readonly name: string
  /** How many requests are left: the available quota. */
  readonly left: number
  /**
   * Seconds, whole, within which no more than those pass: the effective window. Here there are more when it is over.
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
  // There is one on every answer, and a loop costs half of what `map` and `join` do.
  for (const { name, left, seconds } of limits) text += `${text === '' ? '' : ', '}"${name}";r=${left};t=${seconds}`
  return text
}
