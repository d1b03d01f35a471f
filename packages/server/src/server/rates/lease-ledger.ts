/**
 * Counts the requests of several workers against their quotas, exactly (LIM-1), without a message for each request: the
 * ledger leases a part of what is left of a window to a worker, which spends it by itself. The less is left, the
 * smaller are the parts. Before a request is refused, the ledger recalls what other workers have not spent.
 * So rates are exact, without a message for each request.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { lengthOf, QuotaWindows, type Share } from './counter.ts'

/** What the ledger says about one quota of a request. */
export interface Entry {
  /** Requests that no worker holds. */
  readonly free: number
  /** Requests that the worker may let pass by itself from now on, besides the one that was counted. */
  readonly lease: number
  /** When the window ends; `undefined`: it has not begun. */
  readonly end: number | undefined
}

/** The answer about one request; `entries` are in the order of its shares. */
export interface LedgerAnswer {
  readonly passes: boolean
  readonly entries: readonly Entry[]
}

/** A worker, as the ledger sees it. Messages must arrive in the order in which they are sent. */
export interface Holder {
  /** Takes back what the worker has not spent of a window; 0 if the worker has ended. */
  recall(share: Share, end: number): Promise<number>
  /** Reports how much of a window no worker holds. */
  update(share: Share, end: number, free: number): void
}

/** What a worker has not spent of a window. */
export interface Unspent {
  readonly share: Share
  readonly end: number
  readonly held: number
}

/** The counts of all workers. */
export interface LeaseLedger {
  /** Counts a request of a worker against some quotas, all or none. */
  count(holder: Holder, shares: readonly Share[]): Promise<LedgerAnswer>
  /** Takes back the leases of a worker that ends. */
  takeBack(holder: Holder, leases: readonly Unspent[]): void
  /**
   * A worker has ended. What it has not given back counts as spent, because nobody knows what it has let pass; the
   * other workers share what is left.
   */
  ended(holder: Holder): void
}

interface LedgerWindow {
  free: number
  readonly end: number
  readonly holders: Set<Holder>
  recalling: Promise<void> | undefined
}

/**
 * A lease is what is left, divided by this number and by the number of workers that hold a part. So what a worker knows
 * to be left is never more than what is left, and hardly less.
 */
const divisor = 8

/** How long requests wait for a worker that hangs and holds a lease, in milliseconds. */
const patience = 1_000

/**
 * Opens a ledger.
 *
 * @param now milliseconds since 1970; the clock of the workers
 */
export function openLedger(now: () => number): LeaseLedger {
  const kept = new QuotaWindows<LedgerWindow>()

  const recall = (share: Share, window: LedgerWindow) => {
    window.recalling ??= recallFrom(share, window).finally(() => {
      window.recalling = undefined
    })
    return window.recalling
  }

  const grant = (holder: Holder, share: Share, at: number): Entry => {
    const { quota } = share
    const begun = () => ({
      free: quota.most,
      end: at + lengthOf(quota),
      holders: new Set<Holder>(),
      recalling: undefined,
    })
    const window = kept.find(share, at) ?? kept.add(share, begun(), at)
    const { end, holders } = window
    const others = [...holders].filter((other) => other !== holder)
    window.free--
    const lease = Math.floor(window.free / (divisor * (others.length + 1)))
    window.free -= lease
    if (lease > 0) holders.add(holder)
    for (const other of others) other.update(share, end, window.free)
    return { free: window.free, lease, end }
  }

  return {
    takeBack(holder, leases) {
      const at = now()
      for (const { share, end, held } of leases) {
        const window = kept.find(share, at)
        if (window?.end !== end) continue
        window.free += held
        window.holders.delete(holder)
      }
    },
    ended(holder) {
      for (const [, { holders }] of kept.all()) holders.delete(holder)
    },
    async count(holder, shares) {
      for (;;) {
        const at = now()
        const windows = shares.map((share) => kept.find(share, at))
        const recalls = shares.flatMap((share, index) => {
          const window = windows[index]
          const mayReturn = window !== undefined && (window.holders.size > 0 || window.recalling !== undefined)
          return mayReturn && window.free <= 0 ? [recall(share, window)] : []
        })
        if (recalls.length > 0) {
          await Promise.all(recalls)
        } else if (windows.some((window) => window !== undefined && window.free <= 0)) {
          const entryOf = (window: LedgerWindow | undefined, { quota }: Share) => ({
            free: window?.free ?? quota.most,
            lease: 0,
            end: window?.end,
          })
          return { passes: false, entries: shares.map((share, index) => entryOf(windows[index], share)) }
        } else return { passes: true, entries: shares.map((share) => grant(holder, share, at)) }
      }
    },
  }
}

async function recallFrom(share: Share, window: LedgerWindow): Promise<void> {
  const holders = [...window.holders]
  window.holders.clear()
  const returns = holders.map(async (holder) => {
    const returned = await holder.recall(share, window.end)
    window.free += returned
  })
  // What a worker returns later counts then.
  await Promise.race([Promise.all(returns), sleep(patience, undefined, { ref: false })])
}
