/**
 * What all OpenAPI documents share: references, objects, response header fields, parameters, and the schemas of
 * problems, pages, deletions, jobs and JSON Patch.
 */
import type { Catalog } from '../../model/resource.ts'
import type { responseHeaders } from '../../spec/response-headers.ts'

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

/** A response header field that the interface documents. */
export type HeaderName = keyof typeof responseHeaders

/** The `headers` of a response: these fields, and those of every authenticated response. */
export function headers(...names: readonly HeaderName[]): Json {
  return openHeaders(...names, 'RateLimit', 'RateLimit-Policy')
}

/** The `headers` of a response without authentication. */
export function openHeaders(...names: readonly HeaderName[]): Json {
  const all: HeaderName[] = [...names, 'Cache-Control', 'X-Request-Id']
  return Object.fromEntries(all.sort().map((name) => [name, refTo('headers', name)]))
}

/** A parameter of the query. */
export const queryParameter = (name: string, description: string, schema: Json, more: Json = {}): Json => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
})
const headerParameter = (name: string, description: string, pattern?: string): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...(pattern !== undefined && { pattern }) },
})

/** `*`, or entity tags with commas between (RFC 9110 section 8.8.3). */
const entityTags = '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$'
/** A text of visible characters, with or without double quotes (RFC 9651 section 3.3.3). */
export const idempotencyKeyPattern = '^("([ !#-\\[\\]-~]|\\\\["\\\\]){1,255}"|[!#-+\\--:<-~]{1,255})$'
/** The parameters that operations share, by component name. */
export function parameterComponents({ limits }: Catalog): Json {
  const { max, default: usual } = limits.pageSize
  // No defaults: a generated client that sends them would mix the styles of pages, which is refused (PAG-2).
  const size = { type: 'integer', minimum: 1, maximum: max }
  const unsaid = `${usual} where left out`
  const name = { type: 'string' }
  return {
    Id: { name: 'id', in: 'path', required: true, description: 'The id of the record.', schema: name },
    ParentId: { name: 'id', in: 'path', required: true, description: 'The id of the parent.', schema: name },
    Page: queryParameter('page', 'The number of a page, from 1; goes with `per_page` alone.', {
      type: 'integer',
      minimum: 1,
    }),
    PerPage: queryParameter('per_page', `How many records a page has, ${unsaid}; goes with \`page\`.`, size),
    Offset: queryParameter('offset', 'How many records to skip; goes with `limit` alone.', {
      type: 'integer',
      minimum: 0,
    }),
    Limit: queryParameter(
      'limit',
      `How many records a page has, ${unsaid}; goes with \`offset\`, with \`cursor\`, or alone.`,
      size,
    ),
    Cursor: queryParameter(
      'cursor',
      'Where to go on: a cursor of an earlier page, with the same sort and filters.',
      name,
    ),
    IncludeDeleted: queryParameter(
      'include_deleted',
      'Adds deleted records that are still kept, for those who may read them.',
      {
        type: 'boolean',
      },
    ),
    IfMatch: headerParameter('If-Match', 'Go on only if the record still has one of these entity tags.', entityTags),
    IfNoneMatch: headerParameter('If-None-Match', 'Answer 304 if it still has one of these entity tags.'),
    IfModifiedSince: headerParameter('If-Modified-Since', 'Answer 304 if it was not changed since.'),
    Prefer: headerParameter(
      'Prefer',
      'The answer wanted, `return=representation` or `return=minimal`; for a deletion also `respond-async` (RFC 7240).',
    ),
    Range: headerParameter('Range', 'The bytes wanted of the representation: `bytes=0-499` (RFC 9110 section 14).'),
    IfRange: headerParameter('If-Range', 'Goes with `Range`: only while this entity tag, or this date, is current.'),
    IdempotencyKey: headerParameter(
      'Idempotency-Key',
      'A text of your own for this request, such as a UUID: sent again within a day, it gets the first answer again.',
      idempotencyKeyPattern,
    ),
    IfUnmodifiedSince: headerParameter('If-Unmodified-Since', 'Go on only if the record was not changed since.'),
  }
}

const code: Json = { type: 'string', pattern: '^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$' }
const count = (description: string, minimum = 0): Json => ({ type: 'integer', minimum, description })
const cursor = (description: string): Json => ({ type: ['string', 'null'], description })
const total = { total_count: count('How many records match, and may be seen by the caller: exact.') }

const issue = object(
  {
    code: { ...code, description: 'Stable: what kind of error it is.' },
    message: { type: 'string', description: 'For people.' },
    pointer: { type: 'string', description: 'Where in the body: a JSON Pointer (RFC 6901).' },
    parameter: { type: 'string', description: 'Which query parameter.' },
    header: { type: 'string', description: 'Which header field.' },
    collection: { type: 'string', description: 'Of which collection other records are in the way.' },
    count: count('How many there are.'),
    ids: { type: 'array', items: { type: 'string' }, maxItems: 5, description: 'A few that the caller may read.' },
  },
  ['code', 'message'],
)

const problem = object(
  {
    type: { type: 'string', format: 'uri-reference', description: 'Identifies the kind of problem.' },
    title: { type: 'string', description: 'The kind of problem in words, the same each time.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What is wrong this time, and what to do.' },
    instance: { type: 'string', description: 'The path that was asked for; left out where it could not be read.' },
    code: { ...code, description: 'Stable: what a program should look at.' },
    request_id: { type: 'string', description: 'Finds the request in the log of the server.' },
    errors: { type: 'array', minItems: 1, items: refTo('schemas', 'Issue'), description: 'Everything that is wrong.' },
  },
  ['type', 'title', 'status', 'detail', 'code', 'request_id'],
)

/** The summary of a deletion: `id` and `deleted_at`, and nothing else (DEL-2). */
const deletion = object(
  { id: { type: 'string', format: 'uuid' }, deleted_at: { type: 'string', format: 'date-time' } },
  ['id', 'deleted_at'],
)

/** The body of 202: an accepted (DEL-8) or unfinished job (HED-2). */
const accepted = object(
  {
    status: { type: 'string', enum: ['pending', 'running'] },
    job_id: { type: 'string', format: 'uuid' },
    status_url: { type: 'string', format: 'uri-reference', description: 'Where to ask how far it is.' },
  },
  ['status', 'job_id', 'status_url'],
)

const jsonPointer = '^(/([^/~]|~[01])*)*$'

/** The members that each operation of a JSON Patch needs beside its path. */
const operationNeeds: Json[] = [
  { properties: { op: { enum: ['add', 'replace', 'test'] } }, required: ['value'] },
  { properties: { op: { enum: ['move', 'copy'] } }, required: ['from'] },
  { properties: { op: { enum: ['remove'] } } },
]

/** A JSON Patch (RFC 6902). */
const jsonPatch: Json = {
  type: 'array',
  maxItems: 1_000,
  items: {
    ...object(
      {
        op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
        path: { type: 'string', pattern: jsonPointer, description: 'Where: a JSON Pointer (RFC 6901).' },
        from: { type: 'string', pattern: jsonPointer, description: 'Whence, for move and copy.' },
        value: { description: 'What, for add, replace and test.' },
      },
      ['op', 'path'],
    ),
    anyOf: operationNeeds,
  },
}

function pagination(description: string, properties: Json): Json {
  return { description, ...object({ ...total, ...properties }, ['total_count', ...Object.keys(properties)]) }
}

/** The shared schemas, by name. */
export const sharedSchemas: Json = {
  Accepted: accepted,
  PageByNumber: pagination('Where a page asked for by `page` and `per_page` stands (PAG-3).', {
    page: count('The number of this page.', 1),
    per_page: count('The most records on a page.', 1),
    total_pages: count('The number of the last page.'),
  }),
  PageByOffset: pagination('Where a page asked for by `offset` and `limit` stands (PAG-3).', {
    offset: count('How many records were passed over.'),
    limit: count('The most records on a page.', 1),
  }),
  PageByCursor: pagination('Where a page asked for by `cursor` and `limit` stands (PAG-3).', {
    limit: count('The most records on a page.', 1),
    next_cursor: cursor('Leads to the next page; null at the end.'),
    previous_cursor: cursor('Leads to the page before; null at the beginning.'),
  }),
  Deletion: deletion,
  Health: object({ status: { type: 'string', enum: ['live', 'ready', 'maintenance'] } }, ['status']),
  Issue: issue,
  JsonPatch: jsonPatch,
  Problem: problem,
}
