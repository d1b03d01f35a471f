/** A connection to Redis that fails fast, and says once when it is there and when it is lost. */
import querystring from 'node:querystring'
import type { Redis } from 'iovalkey'
import type { Observe } from '../observe/observe.ts'

/** Milliseconds that a command may take. */
const patience = 100
/** Milliseconds to connect in; the first requests wait for that. */
const connecting = 1_000
/** Milliseconds for which nothing is asked after a failure: who asks meanwhile need not wait. */
const rest = 1_000

/** Runs one script. */
export interface RedisConnection {
  /** Rejects where Redis does not answer in time, or nobody asked it because it did not shortly before. */
  run(keys: readonly string[], parameters: readonly number[]): Promise<unknown>
  close(): void
}

/** A client that knows the script as a command. */
type Scripted = Redis & { count(...given: readonly (string | number)[]): Promise<unknown> }

/** Connects in the background, and again whenever the connection is lost. */
export function connectRedis(url: string, script: string, observe: Observe): RedisConnection {
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
    restsUntil = performance.now() + rest
    if (isUp === false || closed) return
    isUp = false
    // The message alone: other properties of the error may hold the password.
    observe({ kind: 'redis', state: 'lost', reason: withoutPassword(message, url) })
  }

  async function connect(): Promise<Scripted> {
    // Loaded where it is needed only: most servers start without it.
    const { Redis } = await import('iovalkey')
    const client = new Redis(url, {
      ...{ connectTimeout: connecting, maxRetriesPerRequest: 0, enableOfflineQueue: false },
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
      void client.then((each) => each.disconnect())
    },
  }
}

/** Some servers repeat a command that they do not take, AUTH with its password too. */
function withoutPassword(message: string, url: string): string {
  const { password, searchParams } = new URL(url)
  const secrets = [password, querystring.unescape(password), searchParams.get('password') ?? ''].filter(Boolean)
  return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
}

/** Rejects where there is no reply in time. One that has come and was not read yet, because we were busy, is in time. */
function inTime<T>(reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new Error(`There was no reply in ${patience} ms.`)))
    }, patience)
    reply.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
