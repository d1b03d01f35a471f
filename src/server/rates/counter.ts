/** Counts requests against quotas, in the memory of one server. */
import type { Rate } from '../../model/limits.ts'

/** A number of requests in a window, which begins with the first of them (decision 018). */
export interface Quota extends Rate {
  /** As header fields name it. */
  readonly name: string
}

/** The quota of one caller or address. */
export interface Share {
  readonly quota: Quota
  /** A caller's id, or an address. */
  readonly of: string
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
  count(shares: readonly Share[]): Counted | Promise<Counted>
  close(): void
}

/** For each quota, at most twice this many windows are kept; beyond that, the oldest are dropped. */
export const mostYoung = 50_000

interface Window {
  used: number
  readonly end: number
}

/** The windows of a quota. All have the same length: after that time, `young` becomes `old`, and `old` has expired. */
interface Windows {
  young: Map<string, Window>
  old: Map<string, Window>
  ageAt: number
}

/**
 * Makes a counter for one server.
 *
 * @param now milliseconds since 1970
 */
export function memoryCounter(now: () => number): Counter {
  const kept = new Map<string, Windows>()

  /** The windows of a quota, without expired ones. */
  function windowsOf(quota: Quota, at: number): Windows {
    let windows = kept.get(quota.name)
    if (windows === undefined) {
      windows = { young: new Map(), old: new Map(), ageAt: at + lengthOf(quota) }
      kept.set(quota.name, windows)
    } else if (at >= windows.ageAt || windows.young.size >= mostYoung) {
      windows.old = windows.young
      windows.young = new Map()
      windows.ageAt = at + lengthOf(quota)
    }
    return windows
  }

  function find({ quota, of }: Share, at: number): Window | undefined {
    const { young, old } = windowsOf(quota, at)
    const window = young.get(of) ?? old.get(of)
    return window !== undefined && isOpen(window, quota, at) ? window : undefined
  }

  function begin({ quota, of }: Share, at: number): Window {
    const window = { used: 0, end: at + lengthOf(quota) }
    windowsOf(quota, at).young.set(of, window)
    return window
  }

  return {
    count(shares): Counted {
      const at = now()
      const windows = shares.map((share) => find(share, at))
      const passes = shares.every(({ quota }, index) => (windows[index]?.used ?? 0) < quota.most)
      const standings = shares.map((share, index) => {
        const { quota } = share
        const window = windows[index] ?? (passes ? begin(share, at) : undefined)
        if (window === undefined) return { quota, left: quota.most, until: lengthOf(quota) }
        if (passes) window.used++
        return { quota, left: quota.most - window.used, until: window.end - at }
      })
      return { passes, standings }
    },
    close() {
      kept.clear()
    },
  }
}

/** Milliseconds. */
function lengthOf({ window }: Quota): number {
  return window * 1_000
}

/** Whether a window still runs. After the clock was set back, a window with more than its length left has ended. */
function isOpen({ end }: Window, quota: Quota, at: number): boolean {
  return at < end && end - at <= lengthOf(quota)
}
