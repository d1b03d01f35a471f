/** The media types that the interface reads and writes. */

/** The types of bodies, by the method that reads them. */
export const bodyTypes: Readonly<Record<string, readonly string[]>> = {
  POST: ['application/json'],
  PUT: ['application/json'],
  PATCH: ['application/json', 'application/merge-patch+json', 'application/json-patch+json'],
  QUERY: ['application/json'],
}

/** The formats of export files, and their types: a JSON array, a JSON text on each line, or CSV (RFC 4180). */
export const exportTypes = { json: 'application/json', ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

/** The type of metrics: the text format of Prometheus. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** The type of time maps (RFC 6690, RFC 7089). */
export const linkType = 'application/link-format'

/** The type of streams of events (HTML Standard, section 9.2). */
export const streamType = 'text/event-stream'
