/** Counts the requests of one worker by leases of a ledger, which other workers share (LIM-1). */
import { setImmediate as turn } from 'node:timers/promises'
import { type Counted, type Counter, lengthOf, type Quota, QuotaWindows, type Share, unused } from './counter.ts'
import type { LedgerAnswer, Unspent } from './lease-ledger.ts'

/** What a worker holds of a window. */
interface Lease {
  /** Requests that may pass. */
  held: number
  /** Requests that no worker holds, as far as is known. */
  free: number
  /** Whether every request of the window was counted: none can pass before its end. */
  isSpent: boolean
  readonly end: number
}

/** The most leases that a worker gives back when it ends. The others count as spent, until their windows end. */
const mostUnspent = 10_000

/** A counter that is a part of a shared one. */
export interface LeasedCounter extends Counter {
  /** Gives back what is not spent of a window, with the leases of all answers that have arrived. */
  giveBack(share: Share, end: number): Promise<number>
  /** Notes how much of a window no worker holds. */
  note(share: Share, end: number, free: number): void
}

/**
 * Makes the counter of a worker.
 *
 * @param ask has the ledger count a request
 * @param now milliseconds since 1970; the clock of the ledger
 * @param giveBackAll gives the ledger what is not spent when the counter is closed
 */
export function leasedCounter(
  ask: (shares: readonly Share[]) => Promise<LedgerAnswer>,
  now: () => number,
  giveBackAll: (leases: readonly Unspent[]) => void = () => {},
): LeasedCounter {
  const kept = new QuotaWindows<Lease>()
  /** Requests that the ledger is counting, by their quotas. Others wait for their leases. */
  const asking = new Map<string, Promise<unknown>>()

  const leaseOf = (share: Share, end: number) => {
    const lease = kept.find(share, now())
    return lease?.end === end ? lease : undefined
  }

  /** Counts without the ledger; `undefined`: that is not possible. */
  const countAlone = (shares: readonly Share[]): Counted | undefined => {
    const at = now()
    const leases = shares.map((share) => kept.find(share, at))
    const passes = leases.every((lease) => lease !== undefined && lease.held > 0)
    if (!passes && !isRefused(leases)) return undefined
    const standings = shares.map(({ quota }, index) => {
      const lease = leases[index]
      if (lease === undefined) return unused(quota)
      if (passes) lease.held--
      return standingOf(quota, lease, at)
    })
    return { passes, standings }
  }

  /** Notes what the ledger has answered. */
  const learn = (shares: readonly Share[], { passes, entries }: LedgerAnswer): Counted => {
    const at = now()
    const standings = shares.map((share, index) => {
      const { free, lease: held, end } = entries[index]!
      if (end === undefined) return unused(share.quota)
      const known = leaseOf(share, end)
      const lease = known ?? { held: 0, free, isSpent: false, end }
      // After the clock was set, the window may have ended already.
      if (known === undefined && end > at && end - at <= lengthOf(share.quota)) kept.add(share, lease, at)
      lease.held += held
      lease.free = free
      lease.isSpent = !passes && free === 0
      return standingOf(share.quota, lease, at)
    })
    return { passes, standings }
  }

  const countShared = async (shares: readonly Share[]): Promise<Counted> => {
    const keys = shares.map(({ quota, of }) => `${quota.name} ${of}`)
    for (;;) {
      const pending = keys.flatMap((key) => asking.get(key) ?? [])
      if (pending.length === 0) break
      await Promise.allSettled(pending)
      const counted = countAlone(shares)
      if (counted !== undefined) return counted
    }
    const answer = ask(shares).then((given) => learn(shares, given))
    for (const key of keys) asking.set(key, answer)
    try {
      return await answer
    } finally {
      for (const key of keys) asking.delete(key)
    }
  }

  return {
    count: async (shares) => countAlone(shares) ?? countShared(shares),
    async giveBack(share, end) {
      // An answer that arrived together with the recall is noted only after this turn of the event loop.
      await turn()
      const lease = leaseOf(share, end)
      if (lease === undefined) return 0
      const { held } = lease
      lease.held = 0
      return held
    },
    note(share, end, free) {
      const lease = leaseOf(share, end)
      if (lease !== undefined) lease.free = free
    },
    close() {
      const unspent = [...kept.all()].filter(([, { held, end }]) => held > 0 && end > now()).slice(-mostUnspent)
      kept.clear()
      giveBackAll(unspent.map(([share, { held, end }]) => ({ share, end, held })))
    },
  }
}

/** Whether a request is certainly refused, and all quotas that refuse it are known. */
function isRefused(leases: readonly (Lease | undefined)[]): boolean {
  const known = leases.filter((lease) => lease !== undefined)
  return known.some(({ isSpent }) => isSpent) && known.every(({ isSpent, held, free }) => isSpent || held + free > 0)
}

function standingOf(quota: Quota, { held, free, end }: Lease, at: number) {
  return { quota, left: held + free, until: Math.max(0, end - at) }
}
