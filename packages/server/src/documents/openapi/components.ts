/**
 * What all OpenAPI documents share: references, objects, response header fields, parameters, and the schemas of
 * problems, pages, deletions, jobs and JSON Patch.
 */
import type { Catalog } from 'resourced-contract/model/resource'
import { queryLimits, summaryLimits } from 'resourced-contract/spec/limits'
import type { responseHeaders } from 'resourced-contract/spec/response-headers'

/** The components that operations add as they are described, by name. */
export interface Components {
  readonly parameters: Record<string, Json>
  readonly responses: Record<string, Json>
}

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

/** Properties without the descriptions that another schema has. */
export function withoutDescriptions(properties: Json): Json {
  const entries = Object.entries(properties as Record<string, Json>)
  return Object.fromEntries(entries.map(([name, { description: _, ...schema }]) => [name, schema]))
}

/** A response header field that the interface documents. */
export type HeaderName = keyof typeof responseHeaders

/** The `headers` of a response: these fields, beside those that every response can have (`x-headers`). */
export function headers(...names: readonly HeaderName[]): Json {
  return Object.fromEntries([...names].sort().map((name) => [name, refTo('headers', name)]))
}

/** The header fields that every response can have, and those that it can have if it needs a credential. */
export const commonHeaders = {
  everywhere: ['Accept-Ranges', 'Cache-Control', 'Vary', 'X-Request-Id'],
  authenticated: [
    ...([
      'ETag',
      'Last-Modified',
      'Link',
      'Preference-Applied',
      'RateLimit',
      'RateLimit-Policy',
      'X-Total-Count',
    ] as const),
  ],
} as const satisfies Readonly<Record<string, readonly HeaderName[]>>

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

/** A list of groups, figures or fields. */
const summaryParameter = (name: string, description: string, most: number = summaryLimits.figures): Json =>
  queryParameter(
    name,
    description,
    { type: 'array', items: { type: 'string', pattern: '^-?[a-z0-9_.:]+$' }, minItems: 1, maxItems: most },
    { style: 'form', explode: false },
  )

/** `*`, or entity tags with commas between (RFC 9110 section 8.8.3). */
const entityTags = '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$'
/** A text of visible characters, with or without double quotes (RFC 9651 section 3.3.3). */
export const idempotencyKeyPattern = '^("([ !#-\\[\\]-~]|\\\\["\\\\]){1,255}"|[!#-+\\--:<-~]{1,255})$'
const fieldName = '^[a-z][a-z0-9]*(_[a-z0-9]+)*$'
/** The parameters that operations share, by component name. */
export function parameterComponents({ limits }: Catalog): Json {
  const { max, default: usual } = limits.pageSize
  // Not `default`: a generated client that sends defaults would mix the styles of pages, which is refused (PAG-2).
  const size = { type: 'integer', minimum: 1, maximum: max, 'x-default': usual }
  const unsaid = `${usual} by default`
  const name = { type: 'string' }
  return {
    ApiId: { name: 'id', in: 'path', required: true, description: 'The id of the record.', schema: name },
    ApiParentId: { name: 'id', in: 'path', required: true, description: 'The id of the parent.', schema: name },
    ApiPage: queryParameter('page', 'The number of a page, from 1; combined with `per_page` only.', {
      type: 'integer',
      minimum: 1,
      'x-default': 1,
    }),
    ApiPerPage: queryParameter('per_page', `The most records on a page, ${unsaid}; combined with \`page\`.`, size),
    ApiOffset: queryParameter('offset', 'How many records to skip; combined with `limit` only.', {
      type: 'integer',
      minimum: 0,
      'x-default': 0,
    }),
    ApiLimit: queryParameter(
      'limit',
      `The most records on a page, ${unsaid}; combined with \`offset\` or \`cursor\`, or alone.`,
      size,
    ),
    ApiCursor: queryParameter(
      'cursor',
      'A cursor of an earlier page, where this page continues, with the same sort and filters.',
      name,
    ),
    ApiFields: queryParameter(
      'fields',
      'The properties of each record in the response. Others are left out, also those that its schema requires; `id` ' +
        'is always included.',
      { type: 'array', items: { type: 'string', pattern: fieldName }, minItems: 1, maxItems: queryLimits.fields },
      { style: 'form', explode: false },
    ),
    ApiInclude: queryParameter(
      'include',
      'Paths of relations to other records, at most two relations far. Of a relation to many, each record has 20 ' +
        'ids; `include[PATH][limit]`, `[sort]` and `[where]` change that, and `fields[PATH]` chooses properties.',
      { type: 'array', items: name, minItems: 1, maxItems: limits.include.paths, uniqueItems: true },
      { style: 'form', explode: false },
    ),
    ApiIncludeDeleted: queryParameter(
      'include_deleted',
      'Adds deleted records that are still retained, for callers who may read them; with `only`, live records are ' +
        'left out, and `sort` takes `deleted_at` too.',
      { anyOf: [{ type: 'boolean' }, { type: 'string', const: 'only' }] },
    ),
    ApiGroup: summaryParameter(
      'group',
      'What to group the records by: names of `summary.group` in `x-collection`.',
      summaryLimits.groups,
    ),
    ApiSum: summaryParameter('sum', 'The fields to add up, of `summary.sum` in `x-collection`.'),
    ApiAvg: summaryParameter('avg', 'The fields whose average to find, of `summary.sum` in `x-collection`.'),
    ApiMin: summaryParameter('min', 'The fields whose least value to find, of `summary.min` in `x-collection`.'),
    ApiMax: summaryParameter('max', 'The fields whose greatest value to find, of `summary.min` in `x-collection`.'),
    ApiSummarySort: summaryParameter(
      'sort',
      '`count`, and the groups and figures of the request (`sum.price`); `-` before one: descending.',
      queryLimits.sortTerms,
    ),
    ApiTimezone: queryParameter(
      'timezone',
      'The IANA time zone of a day in a filter of a date-time, and of groups of date-times, UTC by default. Only ' +
        'beside one of them.',
      { type: 'string', examples: ['Europe/Berlin'] },
    ),
    ApiWhere: queryParameter(
      'where',
      'A condition as JSON, beside the filters: `{"or":[{"id":"…"},{"created_at":{"gte":"2026-11-28"}}]}`.',
      { type: 'string', contentMediaType: 'application/json' },
    ),
    ApiIfMatch: headerParameter(
      'If-Match',
      'Proceed only if the record still has one of these entity tags.',
      entityTags,
    ),
    ApiIfNoneMatch: headerParameter('If-None-Match', '304, or 412 to a change, if one of these tags is current.'),
    ApiIfModifiedSince: headerParameter('If-Modified-Since', '304 if the representation has not changed since.'),
    ApiPrefer: headerParameter(
      'Prefer',
      '`return=representation`, `return=minimal`, or to delete or restore in a job `respond-async` (RFC 7240).',
    ),
    ApiRange: headerParameter(
      'Range',
      'The requested bytes of the representation: `bytes=0-499` (RFC 9110 section 14).',
    ),
    ApiIfRange: headerParameter('If-Range', 'Applies `Range` only while this entity tag, or this date, is current.'),
    ApiIdempotencyKey: headerParameter(
      'Idempotency-Key',
      'Your own text for this request, such as a UUID. A repetition within a day gets the first response again.',
      idempotencyKeyPattern,
    ),
    ApiIfUnmodifiedSince: headerParameter('If-Unmodified-Since', 'Proceed only if the record has not changed since.'),
  }
}

const code: Json = { type: 'string', pattern: '^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$' }
const count = (description: string, minimum = 0): Json => ({ type: 'integer', minimum, description })
const cursor = (description: string): Json => ({ type: ['string', 'null'], description })

const issue = object(
  {
    code: { ...code, description: 'The kind of the error, which never changes.' },
    message: { type: 'string', description: 'For people.' },
    pointer: { type: 'string', description: 'The place in the body: a JSON Pointer (RFC 6901).' },
    parameter: { type: 'string', description: 'The name of the query parameter.' },
    header: { type: 'string', description: 'The name of the header field.' },
    collection: { type: 'string', description: 'The collection of the blocking records.' },
    count: count('The number of blocking records, if you may read all of them.'),
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
    code: { ...code, description: 'The code for programs, which never changes: see `x-problems`.' },
    request_id: { type: 'string', description: 'Finds the request in the log of the server.' },
    errors: { type: 'array', minItems: 1, items: refTo('schemas', 'ApiProblemError'), description: 'The mistakes.' },
    error_count: { type: 'integer', minimum: 1, description: 'The number of all mistakes, also of those not listed.' },
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
    blocked_by: arrayOf(
      'What blocks the deletion, as the errors of its 409 say it.',
      refTo('schemas', 'ApiProblemError'),
    ),
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

/** The position of a page. Which members it has depends on the style that the request chose (PAG-3). */
const pagination: Json = {
  description: 'The position of a page: members of the style in which it was requested, and `total_count`.',
  ...object(
    {
      total_count: count('The exact number of matching records that the caller may read.'),
      page: count('By number: the number of this page.', 1),
      per_page: count('By number: the most records on a page.', 1),
      total_pages: count('By number: the number of the last page.'),
      offset: count('By offset: the number of skipped records.'),
      limit: count('By offset or cursor: the most records on a page.', 1),
      next_cursor: cursor('By cursor: leads to the next page; null at the end.'),
      previous_cursor: cursor('By cursor: leads to the page before; null at the beginning.'),
    },
    ['total_count'],
  ),
}

/** How many records a bulk deletion takes, unless that is declared. */
export const usualBulk = 1_000

/** The body of a bulk deletion of at most so many records. */
export function bulkDeletionRequest(max: number): Json {
  const ids = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: max, uniqueItems: true }
  const dryRun = { type: 'boolean', description: 'Deletes nothing, and answers with what would happen.' }
  return object({ ids, dry_run: dryRun }, ['ids'])
}

/** The response of a bulk deletion: what was deleted or, with `dry_run`, what would be. */
const bulkDeletion: Json = {
  description: 'The deleted records in `data`; with `dry_run` all other members, as in `ApiDeletionPreview`.',
  ...object(
    {
      data: { type: 'array', items: refTo('schemas', 'ApiDeletion') },
      ...withoutDescriptions(
        deletionPreview({ ids: { type: 'array', items: { type: 'string' } } })['properties'] as Json,
      ),
    },
    [],
  ),
}

/** The value of a filter of a date-time: a time with at most milliseconds, like the timestamps of records, or a day. */
const timeFilter: Json = {
  anyOf: [
    { type: 'string', format: 'date-time', pattern: '^[^.]*(\\.[0-9]{1,3})?([Zz]|[+-][0-9:]+)$' },
    { type: 'string', format: 'date' },
  ],
}

/** The shared schemas, by name. Collections whose names lead to one of these get another name. */
export const sharedSchemas: Json = {
  ApiAccepted: accepted,
  ApiBulkDeletion: bulkDeletion,
  ApiBulkDeletionRequest: bulkDeletionRequest(usualBulk),
  ApiDeletion: deletion,
  ApiDeletionPreview: deletionPreview({ id: { type: 'string' } }),
  ApiHealth: object({ status: { type: 'string', enum: ['live', 'ready', 'maintenance'] } }, ['status']),
  ApiJsonPatch: jsonPatch,
  ApiPagination: pagination,
  ApiProblem: problem,
  ApiProblemError: issue,
  ApiTimeFilter: timeFilter,
  ApiExactNumber: {
    ...{ type: ['string', 'null'], format: 'decimal', pattern: '^-?\\d+(?:\\.\\d+)?$' },
    description: 'A sum or an average; `null` where no record has a value.',
  },
  ApiPeriod: {
    // Years before 0000 and after 9999 have a sign and six digits.
    ...{ type: ['string', 'null'], pattern: '^(?:\\d{4}|[+-]\\d{6})(?:-W?\\d\\d(?:-\\d\\d)?)?$' },
    description: 'A year, month, week or day: `2026`, `2026-02`, `2026-W05`, `2026-02-28`.',
  },
  ApiFigure: {
    type: ['string', 'number', 'boolean', 'null'],
    description: 'A least or a greatest value, in the form of its field; `null` where no record has a value.',
  },
}
