/** Quotas, and what counts against them. */
import type { Rate } from '../../model/limits.ts'

/** So many requests in a window, which begins with the first of them (decision 018). */
export interface Quota extends Rate {
  /** As callers are told. */
  readonly name: string
}

/** A quota of somebody. */
export interface Share {
  readonly quota: Quota
  /** Whose: a caller's id, or an address. */
  readonly of: string
}

/** Where somebody stands with a quota, after the request was counted. */
export interface Standing {
  readonly quota: Quota
  readonly left: number
  /** Milliseconds until the window ends. */
  readonly until: number
}

/** What came of counting a request: it passes if every quota had room, and only then it counts, against all of them. */
export interface Counted {
  readonly passes: boolean
  readonly standings: readonly Standing[]
}

/** Counts requests, somewhere. */
export interface Counter {
  /** Counts a request against some quotas, all or none. */
  count(shares: readonly Share[]): Counted | Promise<Counted>
  close(): void
}
