/** The error codes of a server, or of a part behind it, that cannot do its work: 5xx. */

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

/** By code, in the order in which a request can fail. */
export const failures = {
  INTERNAL_ERROR: {
    status: 500,
    title: 'The server failed',
    rule: 'ERR-5',
    meaning: 'The server has a bug or a broken installation.',
    remedy: 'Report the request_id to the operator of the service. Reads can be repeated safely.',
  },
  TENANT_MIGRATING: {
    status: 503,
    retryAfter: 1,
    title: 'The tenant is being migrated',
    rule: 'TEN-4',
    meaning: 'The database of the tenant is being brought up to the current declaration. Other tenants are served.',
    remedy: 'Wait for the seconds in Retry-After, and send the request again.',
  },
  STORAGE_FAILED: {
    status: 502,
    retryAfter: 5,
    title: 'The database failed',
    rule: 'ERR-6',
    meaning: 'The database could not execute the request.',
    remedy: 'Try again later. Before you repeat a write, read whether it took effect.',
  },
  KEY_SERVER_FAILED: {
    status: 502,
    retryAfter: 30,
    title: 'The server of the token keys failed',
    rule: 'ERR-6',
    meaning:
      'Tokens cannot be verified, because the public keys of their issuer could not be fetched. The token may be ' +
      'valid.',
    remedy: 'Try again after half a minute with the same token, or use an API key.',
  },
  AUTHENTICATION_FAILED: {
    status: 502,
    retryAfter: 5,
    title: 'The credential could not be checked',
    rule: 'ERR-6',
    meaning:
      'The application authenticates its own credentials, and its check failed or took too long. The credential may ' +
      'be valid.',
    remedy: 'Try again shortly with the same credential, or use an API key.',
  },
  AUTHORIZATION_FAILED: {
    status: 502,
    retryAfter: 5,
    title: 'The permission could not be decided',
    rule: 'AUT-12',
    meaning:
      'A function of the declaration decides about requests, and it failed, took too long or returned something ' +
      'invalid. The request may be allowed.',
    remedy: 'Try again shortly. Nothing was changed.',
  },
  RATE_LIMIT_FAILED: {
    status: 502,
    retryAfter: 5,
    title: 'The requests cannot be counted',
    rule: 'ERR-6',
    meaning:
      'The shared store of rate limits cannot be reached, and the server is configured to refuse requests in that ' +
      'case.',
    remedy: 'Try again shortly. Nothing was changed.',
  },
  EXPORT_SPACE: {
    status: 503,
    title: 'There is no room for exports',
    rule: 'LIM-8',
    meaning: 'The exports of all callers use all the space that is reserved for exports.',
    remedy: 'Wait until other exports expire, or delete exports of your own; then ask for a new export.',
  },
  OVERLOADED: {
    status: 503,
    title: 'The server is too busy',
    rule: 'ERR-6',
    meaning: 'The server has more work than it can finish in time. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After.',
  },
  READ_TOO_LONG: {
    status: 503,
    title: 'The read took too long',
    rule: 'LIM-7',
    meaning: 'The database worked on the read for as long as limits.readTime allows (10 seconds by default).',
    remedy: 'Filter by an indexed field, replace contains by starts_with or q, or a high page number by a cursor.',
  },
  MAINTENANCE: {
    status: 503,
    title: 'The service is under maintenance',
    rule: 'ERR-6',
    meaning:
      'The service is under maintenance, or the tenant of the caller, whose changes are refused; detail has the ' +
      'message of the operator. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After. Earlier responses stay valid, and jobs continue afterwards.',
  },
  NOT_READY: {
    status: 503,
    title: 'The server cannot take requests',
    rule: 'OPS-5',
    meaning:
      'The database does not answer, or accepts no changes: its disk is full, or it is read-only or unreachable.',
    remedy:
      'Send requests to another server, and check again after the seconds in Retry-After. The log has the reason.',
  },
  SHUTTING_DOWN: {
    status: 503,
    title: 'The server is shutting down',
    rule: 'ERR-6',
    meaning: 'The server is stopping or restarting. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After.',
  },
} as const satisfies Record<string, FaultEntry>
