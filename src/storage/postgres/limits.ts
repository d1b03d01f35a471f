/** How long anything may take on PostgreSQL, in milliseconds: nobody waits for ever, whatever fails. */
export interface Limits {
  /** Until a connection is made, or one of the pool comes free. */
  readonly connect: number
  /** Until the database answers that it is there. */
  readonly ping: number
  /** For a statement. */
  readonly statement: number
  /** For a statement of long work, of which there are many one after the other. */
  readonly long: number
  /** For a lock that somebody else has. */
  readonly lock: number
  /** In a transaction in which nothing happens. */
  readonly idle: number
  /** How much longer than a statement may take we wait for its answer: then the network is gone, or the server. */
  readonly grace: number
}

/** The limits of a server. */
export const usualLimits: Limits = {
  connect: 5_000,
  ping: 2_000,
  statement: 30_000,
  long: 600_000,
  lock: 10_000,
  idle: 30_000,
  grace: 5_000,
}
