/** The response header fields of the interface, and who may read them. */

/** The description of a documented header field, and the JSON Schema of its value. */
interface ResponseHeader {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

const text = (description: string, schema: Readonly<Record<string, unknown>> = {}): ResponseHeader => ({
  description,
  schema: { type: 'string', ...schema },
})

/** The documented header fields, as Header Objects of OpenAPI. */
export const responseHeaders = {
  'Accept-Encoding': text('The content coding that bodies may have: none.'),
  'Accept-Patch': text('The media types that PATCH reads here.'),
  'Accept-Post': text('The media types that POST reads here.'),
  'Accept-Query': text('The media types that QUERY reads here.'),
  'Accept-Ranges': text('Says that parts of this can be asked for by Range.'),
  Allow: text('The methods that the address supports.'),
  'API-Version': text('The version of the response.', { pattern: '^v[1-9][0-9]*$' }),
  'Cache-Control': text('Whether and for how long the response may be cached.'),
  'Content-Disposition': text('The name to save the file under.'),
  'Content-Range': text('The range of these bytes, and the length of the representation.', { pattern: '^bytes ' }),
  ETag: text('The state of the representation: strong, for If-Match and If-None-Match.', {
    pattern: '^"[^"]*"$',
  }),
  Deprecation: text('Since when the version is deprecated (RFC 9745).', { pattern: '^@[0-9]+$' }),
  'Last-Modified': text('When the record was last changed.'),
  Link: text(
    'Other pages of the list: first, prev, next and last, if its style has them (RFC 8288). Of a version ' +
      'with an end also its successor and its guide: successor-version, deprecation, sunset. Of a former state its ' +
      'record, its history and other states: original, timegate, timemap, memento (RFC 7089).',
  ),
  Location: text('The path of the new record, or of the job.', { format: 'uri-reference' }),
  'Memento-Datetime': text('Since when the record was in the state that is shown (RFC 7089).', { pattern: ' GMT$' }),
  'Preference-Applied': text('The preference that was followed (RFC 7240).'),
  RateLimit: text('How many requests are left (r) of each quota, and in how many seconds there are more (t).'),
  'RateLimit-Policy': text('How many requests (q) pass in how many seconds (w), for each quota that counts here.'),
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer', minimum: 0 } },
  Sunset: text('When the version will be retired, or was (RFC 8594).', { pattern: ' GMT$' }),
  Vary: text('The request header fields on which the answer depends.'),
  'WWW-Authenticate': text('How to authenticate.', { pattern: '^Bearer' }),
  'X-Request-Id': text('Finds the request in the log of the server.'),
  'X-Total-Count': { description: 'How many records match: total_count.', schema: { type: 'integer', minimum: 0 } },
} as const satisfies Readonly<Record<string, ResponseHeader>>

// Every page may read some (Fetch standard, "CORS-safelisted response-header name"); others are of no use to a page.
const notExposed: ReadonlySet<string> = new Set(['Accept-Encoding', 'Cache-Control', 'Last-Modified', 'Vary'])

/** The header fields that web pages of configured origins may read in addition to those that every page may read. */
export const exposedHeaders: readonly string[] = [
  ...Object.keys(responseHeaders).filter((name) => !notExposed.has(name)),
  ...['Content-Location', 'Server-Timing'],
].sort((left, right) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1))
