/** Counts requests in Redis or Valkey, for all servers that share it. While it fails, no request waits long for it. */

import querystring from 'node:querystring'
import type { Redis } from 'iovalkey'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { fault } from 'resourced-contract/spec/faults'
import type { Observe } from '../observe/observe.ts'
import type { Counted, Counter, Share } from './counter.ts'

/**
 * Counts against all quotas or none, atomically. ARGV has the maximum, the window in milliseconds and
 * the amount of each key. A
 * window with no time left has expired: Redis removes the key only a millisecond later, and `Retry-After` would be
 * wrong.
 */
const script = `
local used, left, passes = {}, {}, 1
for i, key in ipairs(KEYS) do
  used[i] = tonumber(redis.call('get', key) or 0)
  left[i] = redis.call('pttl', key)
  if left[i] <= 0 then used[i], left[i] = 0, tonumber(ARGV[3 * i - 1]) end
  if used[i] + tonumber(ARGV[3 * i]) > tonumber(ARGV[3 * i - 2]) then passes = 0 end
end
if passes == 1 then
  for i, key in ipairs(KEYS) do
    local amount = tonumber(ARGV[3 * i])
    if used[i] == 0 then redis.call('set', key, amount, 'px', left[i]) else redis.call('incrby', key, amount) end
    used[i] = used[i] + amount
  end
end
return { passes, used, left }
`

type Reply = readonly [passes: number, used: readonly number[], left: readonly number[]]

/** Loads the client of Redis. Most servers start without it. */
export const loadRedis = () => import('iovalkey')

/** What a shared counter needs. */
export interface RedisCounterOptions {
  readonly url: string
  /** The prefix of all keys. */
  readonly prefix: string
  /** Counts while Redis fails; without a fallback, requests are refused. */
  readonly fallback: Counter | undefined
  readonly observe: Observe
}

/**
 * Makes a counter in Redis. It connects at once, and reconnects when the connection is lost. Its `count` throws Fault
 * RATE_LIMIT_FAILED if Redis fails and there is no fallback.
 *
 * @throws ConfigurationError if the address is not understood
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
  return [keys, shares.flatMap(numbersOf)]
}

function numbersOf({ quota, amount = 1, hasHappened = false }: Share): number[] {
  return [hasHappened ? Number.MAX_SAFE_INTEGER : quota.most, quota.window * 1_000, amount]
}

function countedOf(shares: readonly Share[], [passes, used, left]: Reply): Counted {
  const standings = shares.map(({ quota }, index) => ({
    quota,
    // Another server may be configured with another rate.
    left: Math.max(0, quota.most - (used[index] as number)),
    until: left[index] as number,
  }))
  return { passes: passes === 1, standings }
}

/** Milliseconds that a command may take. */
const commandTimeout = 100
/** Milliseconds to connect in; the first requests wait for the connection. */
const connectTimeout = 1_000
/** Milliseconds for which Redis is not asked after a failure, so that requests need not wait. */
const retryAfter = 1_000

/** Runs one script. */
export interface RedisConnection {
  /** Rejects if Redis does not answer in time, or failed shortly before. */
  run(keys: readonly string[], parameters: readonly number[]): Promise<unknown>
  close(): void
}

/** A client with the script as a command. */
type Scripted = Redis & { count(...given: readonly (string | number)[]): Promise<unknown> }

/** Connects in the background, and reconnects when the connection is lost. Each change is reported once. */
function connectRedis(url: string, script: string, observe: Observe): RedisConnection {
  let isUp: boolean | undefined
  let closed = false
  let restsUntil = 0

  function gained(): void {
    restsUntil = 0
    if (isUp === true || closed) return
    isUp = true
    observe({ kind: 'redis', state: 'connected' })
  }

  function lost({ message }: Error): void {
    restsUntil = performance.now() + retryAfter
    if (isUp === false || closed) return
    isUp = false
    // The message only: other properties of the error may contain the password.
    observe({ kind: 'redis', state: 'lost', reason: withoutPassword(message, url) })
  }

  async function connect(): Promise<Scripted> {
    const { Redis } = await loadRedis()
    const client = new Redis(url, {
      ...{ connectTimeout, maxRetriesPerRequest: 0, enableOfflineQueue: false },
      retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    })
    client.defineCommand('count', { lua: script })
    await new Promise<void>((tried) => {
      client.on('ready', () => {
        gained()
        tried()
      })
      client.on('error', lost)
      client.on('close', () => {
        lost(new Error('The connection is closed.'))
        tried()
      })
    })
    if (closed) client.disconnect()
    return client as Scripted
  }

  const client = connect()
  client.catch(lost)
  return {
    async run(keys, parameters) {
      const ready = await client
      if (performance.now() < restsUntil) throw new Error('Redis failed a moment ago.')
      try {
        const reply = await inTime(ready.count(keys.length, ...keys, ...parameters))
        gained()
        return reply
      } catch (error) {
        lost(error as Error)
        throw error
      }
    },
    close() {
      closed = true
      void client.then((each) => each.disconnect()).catch(() => {})
    },
  }
}

/** Some servers repeat rejected commands in their errors, including AUTH with its password. */
function withoutPassword(message: string, url: string): string {
  const { password, searchParams } = new URL(url)
  const secrets = [password, querystring.unescape(password), searchParams.get('password') ?? ''].filter(Boolean)
  return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
}

/**
 * Rejects if there is no reply in time. A reply that has arrived but was not read yet, because the server was busy,
 * counts.
 */
function inTime<T>(reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new Error(`There was no reply in ${commandTimeout} ms.`)))
    }, commandTimeout)
    reply.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
