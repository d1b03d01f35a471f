/** Counts in memory. */
import type { Counted, Counter, Quota, Share } from './quota.ts'

/** Of each quota at most twice so many windows are remembered; beyond that, those that began first are forgotten. */
export const mostYoung = 50_000

interface Window {
  used: number
  readonly end: number
}

/** The windows of a quota. All are equally long: when the young ones have aged for one length, the old ones are over. */
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

  /** The windows of a quota, without those that nobody needs. */
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

/** Whether a window still runs. Where the clock was set back, one that would take longer than any does not. */
function isOpen({ end }: Window, quota: Quota, at: number): boolean {
  return at < end && end - at <= lengthOf(quota)
}
