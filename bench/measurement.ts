/** What is measured, as data: two servers asked the same, and how they should compare. */
import type { Server } from './processes.ts'
import type { Contestant, Spread } from './rounds.ts'
import type { Setup } from './setup.ts'

/** The two (and others) that are compared, and what to stop afterwards. */
export interface Contest {
  /** Ours first, the yardstick second, then the others. */
  readonly contestants: readonly [Contestant, Contestant, ...Contestant[]]
  readonly ends: readonly Server[]
}

/** A comparison. */
export interface Measurement {
  /** For `--only`. */
  readonly name: string
  readonly title: string
  readonly yardstick: string
  /** The least that the ratio should be. */
  readonly target: number
  /** Whether it is repeated by HTTPS. */
  readonly repeated: boolean
  prepare(setup: Setup): Promise<Contest>
}

/** A line of the table. */
export interface Line {
  readonly title: string
  readonly transport: 'HTTP' | 'HTTPS'
  /** Answers a second of ours, and what they are compared with. */
  readonly rate: Spread
  readonly slow: number
  readonly yardstick: string
  readonly yardstickRate: Spread
  readonly ratio: Spread
  /** The same by the processor time of the servers. */
  readonly thrift: Spread
  readonly target: number
  /** Answers a second of the others, by name. */
  readonly others: ReadonlyMap<string, Spread>
}
