/** Counts requests against quotas, in the memory of one server. */
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

/**
 * Makes a counter for one server.
 *
 * @param now milliseconds since 1970
 */
export function memoryCounter(now: () => number): Counter {
  const kept = new QuotaWindows<{ used: number; readonly end: number }>()
  return {
    async count(shares) {
      const at = now()
      const windows = shares.map((share) => kept.find(share, at))
      const passes = shares.every(({ quota }, index) => (windows[index]?.used ?? 0) < quota.most)
      const standings = shares.map((share, index) => {
        const { quota } = share
        let window = windows[index]
        if (window === undefined && passes) window = kept.add(share, { used: 0, end: at + lengthOf(quota) }, at)
        if (window === undefined) return unused(quota)
        if (passes) window.used++
        return { quota, left: quota.most - window.used, until: window.end - at }
      })
      return { passes, standings }
    },
    close: () => kept.clear(),
  }
}

/** For each quota, at most twice this many windows are kept; beyond that, the oldest are dropped. */
export const mostYoung = 50_000

/** All windows of a quota have the same length: after that time, `young` becomes `old`, and `old` has expired. */
interface Generations<W> {
  readonly quota: Quota
  young: Map<string, W>
  old: Map<string, W>
  ageAt: number
}

/** The windows of quotas that have not ended. Times are milliseconds since 1970. */
export class QuotaWindows<W extends { readonly end: number }> {
  readonly #kept = new Map<string, Generations<W>>()

  find({ quota, of }: Share, at: number): W | undefined {
    const { young, old } = this.#generations(quota, at)
    const window = young.get(of) ?? old.get(of)
    return window !== undefined && isOpen(window, quota, at) ? window : undefined
  }

  add({ quota, of }: Share, window: W, at: number): W {
    this.#generations(quota, at).young.set(of, window)
    return window
  }

  /** All of them, also those that have ended and are not dropped yet. */
  *all(): Generator<[Share, W]> {
    for (const { quota, young, old } of this.#kept.values()) {
      for (const [of, window] of [...old, ...young]) yield [{ quota, of }, window]
    }
  }

  clear(): void {
    this.#kept.clear()
  }

  #generations(quota: Quota, at: number): Generations<W> {
    let generations = this.#kept.get(quota.name)
    if (generations === undefined) {
      generations = { quota, young: new Map(), old: new Map(), ageAt: at + lengthOf(quota) }
      this.#kept.set(quota.name, generations)
    } else if (at >= generations.ageAt || generations.young.size >= mostYoung) {
      generations.old = generations.young
      generations.young = new Map()
      generations.ageAt = at + lengthOf(quota)
    }
    return generations
  }
}

/** The standing of a quota that has no window. */
export function unused(quota: Quota): Standing {
  return { quota, left: quota.most, until: lengthOf(quota) }
}

/** Milliseconds. */
export function lengthOf({ window }: Quota): number {
  return window * 1_000
}

/** Whether a window still runs. After the clock was set back, a window with more than its length left has ended. */
function isOpen({ end }: { readonly end: number }, quota: Quota, at: number): boolean {
  return at < end && end - at <= lengthOf(quota)
}
