/** What the limits stand for that a declaration leaves out (PAG-1, LIM-1, LIM-3, LIM-6, LIM-8, AUT-10). */
export const limitDefaults = {
  pageSize: 20,
  largestPage: 100,
  pageBytes: 4_194_304,
  bodyBytes: 1_048_576,
  callerRate: '600/minute',
  addressRate: '60/minute',
  keysPerSubject: 100,
  exports: { count: 20, bytes: 1_073_741_824, total: 10_737_418_240 },
} as const
