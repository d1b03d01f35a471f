/** Error codes of a server, or a part behind it, that cannot do its work. */
export const serviceFaults = {
  INTERNAL_ERROR: {
    status: 500,
    title: 'The server failed',
    rule: 'ERR-5',
    meaning: 'The server has a fault.',
    remedy: 'Report the request_id to whoever runs the service; reads can be repeated safely.',
  },
  STORAGE_FAILED: {
    status: 502,
    title: 'The database failed',
    rule: 'ERR-6',
    meaning: 'The database could not carry out the request.',
    remedy: 'Try again later. Before repeating a write, read whether it happened.',
  },
  KEY_SERVER_FAILED: {
    status: 502,
    title: 'The server of the token keys failed',
    rule: 'ERR-6',
    meaning:
      'Tokens cannot be verified, because the keys of their issuer could not be fetched. The token may be right.',
    remedy: 'Try again after half a minute with the same token, or use an API key.',
  },
  RATE_LIMIT_FAILED: {
    status: 502,
    title: 'The requests cannot be counted',
    rule: 'ERR-6',
    meaning: 'What counts requests for all servers cannot be reached, and this one is told to refuse them then.',
    remedy: 'Try again shortly. Nothing was changed.',
  },
  EXPORT_SPACE: {
    status: 503,
    title: 'There is no room for exports',
    rule: 'LIM-8',
    meaning: 'The exports of all callers take all the space that exports may have.',
    remedy: 'Wait until other exports expire, then ask for a new export; or delete exports of your own.',
  },
  OVERLOADED: {
    status: 503,
    title: 'The server is too busy',
    rule: 'ERR-6',
    meaning: 'The server has more to do than it can finish in time. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After.',
  },
  MAINTENANCE: {
    status: 503,
    title: 'The service is under maintenance',
    rule: 'ERR-6',
    meaning: 'Whoever runs the service is working on it; detail says what they tell about it. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After. What was answered before holds, and jobs go on afterwards.',
  },
  NOT_READY: {
    status: 503,
    title: 'The server cannot take requests',
    rule: 'OPS-5',
    meaning: 'The database does not answer, or takes no changes: its disk is full, or it is read-only or away.',
    remedy:
      'Send requests to another server, and ask again after the seconds in Retry-After. Operators find the reason in the log.',
  },
  SHUTTING_DOWN: {
    status: 503,
    title: 'The server is shutting down',
    rule: 'ERR-6',
    meaning: 'The server is stopping or restarting. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After.',
  },
} as const
