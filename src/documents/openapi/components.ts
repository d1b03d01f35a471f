/** The JSON of an OpenAPI document: references, objects, and the response header fields. */

/** A JSON object of the document. */
export type Json = { readonly [key: string]: unknown }

/** A Reference Object to a component: `refTo('schemas', 'Task')`. */
export function refTo(kind: 'schemas' | 'parameters' | 'responses' | 'headers', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` }
}

/** The schema of an object with exactly these properties, and no others. */
export function object(properties: Json, required: readonly string[]): Json {
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}

const text = (description: string, schema: Json = {}): Json => ({ description, schema: { type: 'string', ...schema } })

/** The Header Objects, by component name. */
export const headerComponents = {
  'Accept-Encoding': text('The content coding that bodies may have: none.'),
  'Accept-Patch': text('The media types that PATCH reads here.'),
  'Accept-Post': text('The media types that POST reads here.'),
  'Accept-Query': text('The media types that QUERY reads here.'),
  'Accept-Ranges': text('Says that parts of this can be asked for by Range.'),
  Allow: text('The methods that the address supports.'),
  'API-Version': text('The version of the interface that answers.', { pattern: '^v[1-9][0-9]*$' }),
  'Cache-Control': text('Whether and for how long the answer may be kept.'),
  'Content-Disposition': text('The name to save the file under.'),
  'Content-Range': text('Which bytes these are, of how many.', { pattern: '^bytes ' }),
  ETag: text('The state of what was answered: strong, and fit for If-Match and If-None-Match.', {
    pattern: '^"[^"]*"$',
  }),
  Deprecation: text('Since when the version is deprecated (RFC 9745).', { pattern: '^@[0-9]+$' }),
  'Last-Modified': text('When the record was last changed.'),
  Link: text(
    'Other pages of the list: first, prev, next and last, as far as its style has them (RFC 8288). Of a version ' +
      'that is to go also its successor, and what to do: successor-version, deprecation, sunset.',
  ),
  Location: text('The path of the new record, or of the job.', { format: 'uri-reference' }),
  'Preference-Applied': text('The preference that was followed (RFC 7240).'),
  RateLimit: text('How many requests are left (r) of each quota, and in how many seconds there are more (t).'),
  'RateLimit-Policy': text('How many requests (q) pass in how many seconds (w), for each quota that counts here.'),
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer', minimum: 0 } },
  Sunset: text('When the version will be retired, or was (RFC 8594).', { pattern: ' GMT$' }),
  Vary: text('The request header fields on which the answer depends.'),
  'WWW-Authenticate': text('How to authenticate.', { pattern: '^Bearer' }),
  'X-Request-Id': text('Finds the request in the log of the server.'),
  'X-Total-Count': { description: 'How many records match: total_count.', schema: { type: 'integer', minimum: 0 } },
} as const satisfies Json

/** A response header field that the interface sends. */
export type HeaderName = keyof typeof headerComponents

/** The header fields that name the version of a response. */
export const versionHeaders: readonly HeaderName[] = ['API-Version']

/** The `headers` of a response: these fields, and those of every authenticated response. */
export function headers(...names: readonly HeaderName[]): Json {
  return openHeaders(...names, 'RateLimit', 'RateLimit-Policy')
}

/** The `headers` of a response without authentication. */
export function openHeaders(...names: readonly HeaderName[]): Json {
  const all: HeaderName[] = [...names, 'Cache-Control', 'X-Request-Id']
  return Object.fromEntries(all.sort().map((name) => [name, refTo('headers', name)]))
}
