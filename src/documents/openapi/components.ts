/**
 * What all OpenAPI documents share: references, objects, response header fields, and the schemas of problems, pages,
 * deletions, jobs and JSON Patch.
 */
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
