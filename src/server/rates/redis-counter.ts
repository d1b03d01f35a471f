/** Counts in Redis or Valkey, for all servers that share it. */

import { ConfigurationError } from '../../spec/configuration-error.ts'
import { fault } from '../../spec/faults.ts'
import type { Observe } from '../observe/observe.ts'
import type { Counted, Counter, Share } from './quota.ts'
import { connectRedis } from './redis-connection.ts'

/**
 * All or none, at once. ARGV has the most and the milliseconds of the window of each key. What has no time left is over:
 * Redis forgets it only a millisecond later, and a Retry-After would not be true.
 */
const script = `
local used, left, passes = {}, {}, 1
for i, key in ipairs(KEYS) do
  used[i] = tonumber(redis.call('get', key) or 0)
  left[i] = redis.call('pttl', key)
  if left[i] <= 0 then used[i], left[i] = 0, tonumber(ARGV[2 * i]) end
  if used[i] >= tonumber(ARGV[2 * i - 1]) then passes = 0 end
end
if passes == 1 then
  for i, key in ipairs(KEYS) do
    used[i] = used[i] + 1
    if used[i] == 1 then redis.call('set', key, 1, 'px', left[i]) else redis.call('incr', key) end
  end
end
return { passes, used, left }
`

type Reply = readonly [passes: number, used: readonly number[], left: readonly number[]]

/** What a shared counter is made of. */
export interface RedisCounterOptions {
  readonly url: string
  /** Begins the names of all keys. */
  readonly prefix: string
  /** Counts while Redis fails; without it, requests are refused. */
  readonly fallback: Counter | undefined
  readonly observe: Observe
}

/**
 * Makes a counter of a Redis. It connects at once, and again whenever the connection is lost.
 * Its `count` throws Fault RATE_LIMIT_FAILED where Redis fails and there is no fallback.
 *
 * @throws ConfigurationError where the address is not understood
 */
export function redisCounter({ url, prefix, fallback, observe }: RedisCounterOptions): Counter {
  // The address itself may hold a password.
  if (!/^rediss?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw new ConfigurationError('The address of Redis is not understood. Use redis://HOST:PORT or rediss://HOST:PORT.')
  const connection = connectRedis(url, script, observe)

  return {
    async count(shares): Promise<Counted> {
      try {
        return countedOf(shares, (await connection.run(...argumentsOf(prefix, shares))) as Reply)
      } catch (error) {
        if (fallback !== undefined) return fallback.count(shares)
        const detail = 'The requests cannot be counted. Nothing was changed. Try again shortly.'
        throw fault('RATE_LIMIT_FAILED', { detail }, error)
      }
    },
    close() {
      connection.close()
      fallback?.close()
    },
  }
}

function argumentsOf(prefix: string, shares: readonly Share[]): [keys: string[], rates: number[]] {
  const keys = shares.map(({ quota, of }) => `${prefix}:${quota.name}:${of}`)
  return [keys, shares.flatMap(({ quota }) => [quota.most, quota.window * 1_000])]
}

function countedOf(shares: readonly Share[], [passes, used, left]: Reply): Counted {
  const standings = shares.map(({ quota }, index) => ({
    quota,
    // The other server may have been told another rate.
    left: Math.max(0, quota.most - (used[index] as number)),
    until: left[index] as number,
  }))
  return { passes: passes === 1, standings }
}
