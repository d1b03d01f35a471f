/** Counts requests against quotas, in memory that all threads of a server share. */
import { hash, randomBytes } from 'node:crypto'
import { threadId } from 'node:worker_threads'
import type { Rate } from 'resourced-contract/model/limits'

/** A number of requests in a window, which begins with the first of them, so that `Retry-After` is exact. */
export interface Quota extends Rate {
  /** As header fields name it. */
  readonly name: string
}

/** The quota of one caller or address. */
export interface Share {
  readonly quota: Quota
  /** A caller's id, or an address. */
  readonly of: string
  /** How much is counted; 1 where left out. */
  readonly amount?: number
  /** What is counted has happened already, so it counts beyond the quota too. */
  readonly hasHappened?: boolean
}

/** Whether a share has room, of which so much is used. */
export function hasRoom({ quota, amount = 1, hasHappened = false }: Share, used: number): boolean {
  return hasHappened || used + amount <= quota.most
}

/** The state of a quota after a request was counted. */
export interface Standing {
  readonly quota: Quota
  readonly left: number
  /** Milliseconds until the window ends. */
  readonly until: number
}

/** The result of counting a request: it passes if every quota had room. Only then it counts, against all of them. */
export interface Counted {
  readonly passes: boolean
  readonly standings: readonly Standing[]
}

/** Counts requests, in memory or in Redis. */
export interface Counter {
  /** Counts a request against some quotas, all or none. */
  count(shares: readonly Share[]): Promise<Counted>
  close(): void
}

/** The windows of all quotas. It can be sent to other threads, which then count together. */
export interface Windows {
  /** For each window its key, its end in milliseconds since 1970, and how many requests it has let pass. */
  readonly table: SharedArrayBuffer
  /** The thread that counts now, by its number and one: nobody, if 0. */
  readonly lock: SharedArrayBuffer
  /** Keys are hashes with this text, so that no client can choose two that are equal or drop others. */
  readonly salt: string
}

const buckets = 8_192
const perBucket = 8

/** How many windows are kept. A full bucket of them drops the one that ends first. */
export const mostWindows = buckets * perBucket

/** The numbers of a window in the table. */
const width = 3

/** The most hashes that a thread remembers. */
const mostHashes = 10_000

/** Makes an empty table, of 1.5 MB. */
export function openWindows(): Windows {
  const table = new SharedArrayBuffer(mostWindows * width * Float64Array.BYTES_PER_ELEMENT)
  return { table, lock: new SharedArrayBuffer(4), salt: randomBytes(16).toString('base64') }
}

/** Frees the table from a thread that has ended while it counted. */
export function releaseWindows({ lock }: Windows, thread: number): void {
  const owner = new Int32Array(lock)
  if (Atomics.compareExchange(owner, 0, thread + 1, 0) === thread + 1) Atomics.notify(owner, 0)
}

/**
 * Makes a counter of this thread.
 *
 * @param now milliseconds since 1970
 */
export function sharedCounter(now: () => number, { table, lock, salt }: Windows = openWindows()): Counter {
  const numbers = new Float64Array(table)
  const owner = new Int32Array(lock)
  const own = threadId + 1
  let keys = new Map<string, number>()

  const keyOf = ({ quota, of }: Share): number => {
    const text = `${quota.name} ${of}`
    const known = keys.get(text)
    if (known !== undefined) return known
    if (keys.size >= mostHashes) keys = new Map()
    // 48 bits; no key is 0.
    const key = 1 + hash('sha256', salt + text, 'buffer').readUIntBE(0, 6)
    keys.set(text, key)
    return key
  }

  /** The place of an open window, or else the negative of that where it would be. */
  const find = (share: Share, at: number): number => {
    const key = keyOf(share)
    const first = (key % buckets) * perBucket * width
    let free = first
    for (let place = first; place < first + perBucket * width; place += width) {
      const end = numbers[place + 1]!
      if (numbers[place] === key) return isOpen(end, share.quota, at) ? place + 1 : -(place + 1)
      if (end < numbers[free + 1]!) free = place
    }
    return -(free + 1)
  }

  const take = () => {
    while (Atomics.compareExchange(owner, 0, 0, own) !== 0) Atomics.wait(owner, 0, Atomics.load(owner, 0), 1)
  }
  const release = () => {
    Atomics.store(owner, 0, 0)
    Atomics.notify(owner, 0, 1)
  }

  const count = (shares: readonly Share[]): Counted => {
    const at = now()
    take()
    try {
      const passes = shares.every((share) => {
        const place = find(share, at)
        return hasRoom(share, place < 0 ? 0 : numbers[place + 1]!)
      })
      const standings = shares.map((share) => {
        const { quota, amount = 1 } = share
        let place = find(share, at)
        if (place < 0) {
          if (!passes) return unused(quota)
          place = -place
          numbers[place - 1] = keyOf(share)
          numbers[place] = at + lengthOf(quota)
          numbers[place + 1] = 0
        }
        if (passes) numbers[place + 1]! += amount
        return { quota, left: Math.max(0, quota.most - numbers[place + 1]!), until: numbers[place]! - at }
      })
      return { passes, standings }
    } finally {
      release()
    }
  }
  // Not async: other counters wait for a server, and this one takes less time than a promise around it.
  return { count: (shares) => Promise.resolve(count(shares)), close() {} }
}

/** The standing of a quota that has no window. */
export function unused(quota: Quota): Standing {
  return { quota, left: quota.most, until: lengthOf(quota) }
}

/** Milliseconds. */
function lengthOf({ window }: Quota): number {
  return window * 1_000
}

/** Whether a window still runs. After the clock was set back, a window with more than its length left has ended. */
function isOpen(end: number, quota: Quota, at: number): boolean {
  return at < end && end - at <= lengthOf(quota)
}
