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
  const unsaid = `${usual} by default`
  const name = { type: 'string' }
  return {
    Id: { name: 'id', in: 'path', required: true, description: 'The id of the record.', schema: name },
    ParentId: { name: 'id', in: 'path', required: true, description: 'The id of the parent.', schema: name },
    Page: queryParameter('page', 'The number of a page, from 1; combined with `per_page` only.', {
      type: 'integer',
      minimum: 1,
    }),
    PerPage: queryParameter('per_page', `The most records on a page, ${unsaid}; combined with \`page\`.`, size),
    Offset: queryParameter('offset', 'How many records to skip; combined with `limit` only.', {
      type: 'integer',
      minimum: 0,
    }),
    Limit: queryParameter(
      'limit',
      `The most records on a page, ${unsaid}; combined with \`offset\` or \`cursor\`, or alone.`,
      size,
    ),
    Cursor: queryParameter(
      'cursor',
      'A cursor of an earlier page, where this page continues, with the same sort and filters.',
      name,
    ),
    IncludeDeleted: queryParameter(
      'include_deleted',
      'Adds deleted records that are still retained, for callers who may read them; with `only`, live records are ' +
        'left out, and `sort` takes `deleted_at` too.',
      { anyOf: [{ type: 'boolean' }, { type: 'string', const: 'only' }] },
    ),
    IfMatch: headerParameter('If-Match', 'Proceed only if the record still has one of these entity tags.', entityTags),
    IfNoneMatch: headerParameter('If-None-Match', '304 if the representation still has one of these entity tags.'),
    IfModifiedSince: headerParameter('If-Modified-Since', '304 if the representation has not changed since.'),
    Prefer: headerParameter(
      'Prefer',
      'The preferred response, `return=representation` or `return=minimal`; for a deletion also `respond-async` ' +
        '(RFC 7240).',
    ),
    Range: headerParameter('Range', 'The requested bytes of the representation: `bytes=0-499` (RFC 9110 section 14).'),
    IfRange: headerParameter('If-Range', 'Applies `Range` only while this entity tag, or this date, is current.'),
    IdempotencyKey: headerParameter(
      'Idempotency-Key',
      'Your own text for this request, such as a UUID. A repetition within a day gets the first response again.',
      idempotencyKeyPattern,
    ),
    IfUnmodifiedSince: headerParameter('If-Unmodified-Since', 'Proceed only if the record has not changed since.'),
  }
}

const code: Json = { type: 'string', pattern: '^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$' }
const count = (description: string, minimum = 0): Json => ({ type: 'integer', minimum, description })
const cursor = (description: string): Json => ({ type: ['string', 'null'], description })
const total = { total_count: count('The exact number of matching records that the caller may read.') }

const issue = object(
  {
    code: { ...code, description: 'The kind of the error, which never changes.' },
    message: { type: 'string', description: 'For people.' },
    pointer: { type: 'string', description: 'The place in the body: a JSON Pointer (RFC 6901).' },
    parameter: { type: 'string', description: 'The name of the query parameter.' },
    header: { type: 'string', description: 'The name of the header field.' },
    collection: { type: 'string', description: 'The collection of the blocking records.' },
    count: count('The number of blocking records.'),
    ids: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 5,
      description: 'The ids of a few that the caller may read.',
    },
  },
  ['code', 'message'],
)

const problem = object(
  {
    type: { type: 'string', format: 'uri-reference', description: 'Identifies the kind of problem.' },
    title: { type: 'string', description: 'The kind of problem in words, always the same.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'The mistake in this request, and the remedy.' },
    instance: { type: 'string', description: 'The path of the request; missing if it could not be parsed.' },
    code: { ...code, description: 'The code for programs, which never changes.' },
    request_id: { type: 'string', description: 'Finds the request in the log of the server.' },
    errors: { type: 'array', minItems: 1, items: refTo('schemas', 'Issue'), description: 'Every mistake.' },
  },
  ['type', 'title', 'status', 'detail', 'code', 'request_id'],
)

/** The summary of a deletion: `id` and `deleted_at`, and nothing else (DEL-2). */
const deletion = object(
  { id: { type: 'string', format: 'uuid' }, deleted_at: { type: 'string', format: 'date-time' } },
  ['id', 'deleted_at'],
)

/** What a deletion would do (DEL-12). */
function deletionPreview(asked: Json): Json {
  const collection = { type: 'string' }
  const arrayOf = (description: string, items: Json) => ({ type: 'array', items, description })
  const properties = {
    ...asked,
    allowed: { type: 'boolean', description: 'Whether nothing blocks the deletion.' },
    deletes: arrayOf(
      'The records that would be deleted, those that were asked for included.',
      object({ collection, count: count('The records of it that the caller may read.', 1) }, ['collection', 'count']),
    ),
    clears: arrayOf(
      'The references that would become null.',
      object({ collection, field: { type: 'string' }, count: count('The records that the caller may read.', 1) }, [
        'collection',
        'field',
        'count',
      ]),
    ),
    blocked_by: arrayOf('What blocks the deletion, as the errors of its 409 say it.', refTo('schemas', 'Issue')),
    complete: {
      type: 'boolean',
      description: 'false: the deletion has so many records that counts are lower bounds, and more may block it.',
    },
    asynchronous: { type: 'boolean', description: 'Whether a job would delete the records (202).' },
    purged_at: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Until when the deleted records would be kept; null: they would not be kept.',
    },
  }
  return object(properties, Object.keys(properties))
}

/** The body of 202: an accepted (DEL-8) or unfinished job (HED-2). */
const accepted = object(
  {
    status: { type: 'string', enum: ['pending', 'running'] },
    job_id: { type: 'string', format: 'uuid' },
    status_url: { type: 'string', format: 'uri-reference', description: 'The path of the job, for polling.' },
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
        path: {
          type: 'string',
          pattern: jsonPointer,
          description: 'The place of the operation: a JSON Pointer (RFC 6901).',
        },
        from: { type: 'string', pattern: jsonPointer, description: 'The source, for move and copy.' },
        value: { description: 'The value, for add, replace and test.' },
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
  PageByNumber: pagination('The position of a page requested with `page` and `per_page` (PAG-3).', {
    page: count('The number of this page.', 1),
    per_page: count('The most records on a page.', 1),
    total_pages: count('The number of the last page.'),
  }),
  PageByOffset: pagination('The position of a page requested with `offset` and `limit` (PAG-3).', {
    offset: count('The number of skipped records.'),
    limit: count('The most records on a page.', 1),
  }),
  PageByCursor: pagination('The position of a page requested with `cursor` and `limit` (PAG-3).', {
    limit: count('The most records on a page.', 1),
    next_cursor: cursor('Leads to the next page; null at the end.'),
    previous_cursor: cursor('Leads to the page before; null at the beginning.'),
  }),
  BulkDeletionPreview: deletionPreview({ ids: { type: 'array', items: { type: 'string' } } }),
  Deletion: deletion,
  DeletionPreview: deletionPreview({ id: { type: 'string' } }),
  Health: object({ status: { type: 'string', enum: ['live', 'ready', 'maintenance'] } }, ['status']),
  Issue: issue,
  JsonPatch: jsonPatch,
  Problem: problem,
}
