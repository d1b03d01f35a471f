/** The form of the entries of error codes. */

/** Everything that the interface says about one error code. */
export interface FaultEntry {
  readonly status: number
  readonly title: string
  /** The rule that demands the refusal. */
  readonly rule: string
  /** What happened, for the reference page of error codes. */
  readonly meaning: string
  /** What the client can do about it. */
  readonly remedy: string
  /** `Retry-After` in seconds, where an occurrence says nothing else. */
  readonly retryAfter?: number
}
