/** The default limits of an interface, and rates as declarations write them (LIM-1): `600/minute`. */
import type { Action } from './declaration.ts'
export const limitDefaults = {
  pageSize: 20,
  largestPage: 100,
  pageBytes: 4_194_304,
  readTime: 10_000,
  authorizeTime: 5_000,
  functionTime: 30_000,
  bodyBytes: 1_048_576,
  bodyMembers: 20_000,
  patchOperations: 1_000,
  bulk: 1_000,
  include: { paths: 8, records: 1_000 },
  errors: 100,
  callerRate: '600/minute',
  addressRate: '60/minute',
  keysPerSubject: 100,
  exports: { count: 20, bytes: 1_073_741_824, total: 10_737_418_240 },
  events: { retention: 'P7D', streams: 20 },
} as const

/** The most records that a change by filter changes in one transaction (BLK-3). */
export const mostChangedAtOnce = 1_000

/** The actions that rates can be declared for. Reading deleted records counts as a read. */
export const countedActions = ['read', 'create', 'update', 'delete', 'restore'] as const satisfies readonly Action[]
export type CountedAction = (typeof countedActions)[number]

/** A number of requests in a time window. */
export interface Rate {
  readonly most: number
  /** Seconds. */
  readonly window: number
}

const units: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600 }

/**
 * Reads a rate; `undefined`: the text is not a rate.
 *
 * @example
 * parseRate('600/minute') // { most: 600, window: 60 }
 */
export function parseRate(text: string): Rate | undefined {
  const [, most, unit = ''] = /^([1-9]\d{0,8})\/(second|minute|hour)$/.exec(text) ?? []
  const window = units[unit]
  return window === undefined ? undefined : { most: Number(most), window }
}

/** Rate limits (LIM-1). */
export interface Rates {
  /** Requests of one caller. */
  readonly caller: Rate
  /** Failed authentications from one address. */
  readonly address: Rate
  /** Records that one caller changes; `undefined`: any number. */
  readonly changes?: Rate
  /** Requests of one caller for an action, by `collection.action`; either may be `*`. */
  readonly actions: ReadonlyMap<string, Rate>
}
