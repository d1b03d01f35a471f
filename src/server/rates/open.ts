/** How rates are limited, as whoever starts a server says it. */
import type { Catalog } from '../../model/resource.ts'
import type { Observe } from '../observe/observe.ts'
import { memoryCounter } from './memory-counter.ts'
import { type RateLimiter, rateLimiter } from './rate-limiter.ts'
import { redisCounter } from './redis-counter.ts'

/** How rates are limited. */
export interface RateOptions {
  /** `off`: not at all. Where left out, as the declaration has them. */
  readonly rateLimit?: 'declared' | 'off'
  /** The address of a Redis or Valkey, `redis://…` or `rediss://…`: servers that share it count together. */
  readonly redis?: string
  /** While it fails: `open` (where left out) counts on each server alone, `closed` refuses requests (502). */
  readonly rateLimitOnFailure?: 'open' | 'closed'
}

/**
 * Makes the limiter that the options ask for; `undefined` where they turn it off.
 *
 * @param now milliseconds since 1970
 * @throws ConfigurationError where the address of Redis is not understood
 */
export function openRateLimiter(
  catalog: Catalog,
  { rateLimit, redis, rateLimitOnFailure = 'open' }: RateOptions,
  { now, observe }: { readonly now: () => number; readonly observe: Observe },
): RateLimiter | undefined {
  if (rateLimit === 'off') return undefined
  const local = memoryCounter(now)
  if (redis === undefined) return rateLimiter(catalog, local, observe)
  const fallback = rateLimitOnFailure === 'open' ? local : undefined
  const shared = redisCounter({ url: redis, prefix: `resourced:${catalog.name}`, fallback, observe })
  return rateLimiter(catalog, shared, observe)
}
