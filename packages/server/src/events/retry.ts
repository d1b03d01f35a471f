/** When a failed delivery is repeated (EVT-9): ever less often, for three days. */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The longest waits after the first failures; after later ones it is the last. */
const waits = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour]

/** How long a delivery is repeated, from its first attempt on, in milliseconds. */
export const repeatedFor = 72 * hour

/** The longest wait that a receiver can ask for by `Retry-After`, in milliseconds. */
const longestAsked = 6 * hour

interface FailedAttempt {
  /** How many attempts have failed, this one included. */
  readonly attempts: number
  /** When the first attempt began, in milliseconds since 1970. */
  readonly firstAt: number
  readonly now: number
  /** For how many milliseconds the receiver asked to wait. */
  readonly retryAfter?: number | undefined
}

/**
 * When to try again, in milliseconds since 1970; `undefined`: not any more. A random share of each wait is left out, up
 * to half of it, so that deliveries that failed together do not come back together.
 */
export function nextAttemptAt(
  { attempts, firstAt, now, retryAfter = 0 }: FailedAttempt,
  random = Math.random,
): number | undefined {
  const longest = waits[Math.min(attempts, waits.length) - 1] as number
  const wait = Math.max(longest * (1 - random() / 2), Math.min(retryAfter, longestAsked))
  const next = Math.round(now + wait)
  return next - firstAt > repeatedFor ? undefined : next
}

/** Reads `Retry-After` (RFC 9110 section 10.2.3): milliseconds, or `undefined` if there is none that can be read. */
export function readRetryAfter(field: string | undefined, now: number): number | undefined {
  if (field === undefined) return undefined
  if (/^\d{1,9}$/.test(field.trim())) return Number(field) * second
  const time = /\d{4}/.test(field) ? Date.parse(field) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, time - now)
}
