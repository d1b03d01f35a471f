/** The limits of an interface, as they are declared. */

/** Rate limits (LIM-1), each as `N/second`, `N/minute` or `N/hour`. */
export interface RateDeclaration {
  /** Requests of one caller; default `600/minute`. */
  readonly caller?: string
  /** Failed authentications from one address; default `60/minute`. */
  readonly address?: string
  /** Records that one caller changes; by default any number. */
  readonly changes?: string
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

/** Limits of events. */
export interface EventLimits {
  /** How long events are kept: an ISO 8601 duration of weeks, days, hours, minutes and seconds; default `P7D`. */
  readonly retention?: string
  /** The most open streams of one caller; default 20. */
  readonly streams?: number
}
