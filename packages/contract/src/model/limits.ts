/** The limits of an interface: as they are declared, and complete. Rates are texts in declarations: `600/minute`. */
import { parseDuration } from './time.ts'

/** The declared limits. */
export interface LimitsDeclaration {
  readonly pageSize?: { readonly default?: number; readonly max?: number }
  readonly rate?: RateDeclaration
  readonly keys?: KeyLimitsDeclaration
  readonly bodyBytes?: number
  /** The most members of objects and items of arrays of a record in a body; default 20,000. */
  readonly bodyMembers?: number
  /** The most operations of a JSON Patch; default 1,000. */
  readonly patchOperations?: number
  /** The most records that one request creates or changes by an array; default 1,000. */
  readonly bulk?: number
  /** The most tenants that first uses create; default 1,000. */
  readonly tenants?: number
  /** The most entries of `errors` in a response; default 100. */
  readonly errors?: number
  /** The most bytes of the records of one page, as JSON; default 4 MiB. */
  readonly pageBytes?: number
  readonly include?: IncludeLimits
  /** How long the database may work on one read, in milliseconds; default 10,000. */
  readonly readTime?: number
  /** How long `authorize` may take, in milliseconds; default 5,000. */
  readonly authorizeTime?: number
  /** How long one run of a function in `on` may take, in milliseconds; default 30,000. */
  readonly functionTime?: number
  readonly exports?: ExportLimits
  readonly events?: EventLimits
}

/** Rate limits (LIM-1), each as `N/second`, `N/minute` or `N/hour`. */
export interface RateDeclaration {
  /** Requests of one caller; default `600/minute`. */
  readonly caller?: string
  /** Failed authentications from one address; default `60/minute`. */
  readonly address?: string
  /** Records that one caller changes; by default any number. */
  readonly changes?: string
  /** Requests of all callers of one tenant; by default any number. */
  readonly tenant?: string
  /** Requests of one caller for an action, by `collection.action`; `*` is any collection or action. */
  readonly actions?: Readonly<Record<string, string>>
}

/** Limits of API keys that are created over HTTP (AUT-10). */
export interface KeyLimitsDeclaration {
  /** The most keys of one subject that are neither revoked nor expired; default 100. */
  readonly perSubject?: number
  /** The roles that allow callers to create keys that outlive their own credential; default: none. */
  readonly lastingRoles?: readonly string[]
}

/** Limits of related records in one response (REL-1, REL-5). */
export interface IncludeLimits {
  /** The most paths that an `include` names; default 8. */
  readonly paths?: number
  /** The most records that a response includes; default 1,000. */
  readonly records?: number
}

/** Limits of exports (LIM-8). */
export interface ExportLimits {
  /** The most exports of one caller; default 20. */
  readonly count?: number
  /** The most bytes of all files of one caller; default 1 GiB. */
  readonly bytes?: number
  /** The most bytes of the files of all callers; default 10 GiB. */
  readonly total?: number
}

/** Limits of events (EVT-1). */
export interface EventLimits {
  /** How long events are kept: an ISO 8601 duration of weeks, days, hours, minutes and seconds; default `P7D`. */
  readonly retention?: string
  /** The most open streams of one caller; default 20. */
  readonly streams?: number
}

/** The limits of an interface that declares none, and of what a declared limit leaves out. */
export const limitDefaults = {
  pageSize: { default: 20, max: 100 },
  rate: { caller: '600/minute', address: '60/minute' },
  keys: { perSubject: 100, lastingRoles: [] },
  bodyBytes: 1_048_576,
  bodyMembers: 20_000,
  patchOperations: 1_000,
  bulk: 1_000,
  tenants: 1_000,
  errors: 100,
  pageBytes: 4_194_304,
  include: { paths: 8, records: 1_000 },
  readTime: 10_000,
  authorizeTime: 5_000,
  functionTime: 30_000,
  exports: { count: 20, bytes: 1_073_741_824, total: 10_737_418_240 },
  events: { retention: 'P7D', streams: 20 },
} as const satisfies LimitsDeclaration

type Complete<Declared> = { readonly [Name in keyof Declared]-?: Required<NonNullable<Declared[Name]>> }

/** The limits of an interface, complete. */
export interface Limits extends Omit<Complete<LimitsDeclaration>, 'rate' | 'events'> {
  readonly rate: Rates
  /** How long events are kept, in milliseconds, and the most open streams of one caller. */
  readonly events: { readonly retention: number; readonly streams: number }
}

/** Completes limits without mistakes. */
export function completeLimits(declared: LimitsDeclaration = {}): Limits {
  const { pageSize, rate, keys, include, exports, events, ...others } = declared
  const size = { ...limitDefaults.pageSize, ...pageSize }
  const { retention, streams } = { ...limitDefaults.events, ...events }
  const kept = parseDuration(retention)
  return {
    ...limitDefaults,
    ...others,
    pageSize: { default: Math.min(size.default, size.max), max: size.max },
    rate: completeRates({ ...limitDefaults.rate, ...rate }),
    keys: { ...limitDefaults.keys, ...keys },
    include: { ...limitDefaults.include, ...include },
    exports: { ...limitDefaults.exports, ...exports },
    events: { retention: kept.kind === 'duration' ? kept.milliseconds : 0, streams },
  }
}

/** The most records that a change by filter changes in one transaction (BLK-3). */
export const mostChangedAtOnce = 1_000

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
  /** Requests of one tenant; `undefined`: any number. */
  readonly tenant?: Rate
  /** Requests of one caller for an action, by `collection.action`; either may be `*`. */
  readonly actions: ReadonlyMap<string, Rate>
}

function completeRates({ actions = {}, ...rates }: RateDeclaration): Rates {
  const read = (texts: object) => Object.entries(texts).map(([name, text]) => [name, parseRate(text) as Rate] as const)
  const named = Object.fromEntries(read(rates)) as Pick<Rates, 'caller' | 'address'>
  return { ...named, actions: new Map(read(actions)) }
}
