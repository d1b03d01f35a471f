/** The operations of exports (JOB-6). */

import type { Catalog } from '../../model/resource.ts'
import { queryLimits } from '../../spec/limits.ts'
import { exportTypes } from '../../spec/media-types.ts'
import { type HeaderName, headers } from './headers.ts'
import { type Json, object, refTo } from './json.ts'
import { accepted, answer, body, part } from './operations.ts'
import { creationHeaders, rangeHeaders } from './parameters.ts'
import { codesOf, type ProblemResponses } from './problems.ts'

const tags = ['exports']
const fileHeaders: readonly HeaderName[] = ['Content-Disposition', 'ETag', 'Last-Modified', 'Vary']
const mediaTypes = Object.values(exportTypes).map((type) => (type === 'text/csv' ? `${type}; charset=utf-8` : type))

/** The Path Items of exports, by path. */
export function exportPaths(catalog: Catalog, problems: ProblemResponses): Json {
  const names = (most: number) => ({
    oneOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: most, uniqueItems: true },
    ],
  })
  const asked = object(
    {
      collection: { type: 'string', enum: [...catalog.resources.keys()] },
      filter: {
        type: 'object',
        description:
          'A condition: fields with a value or with operators (gt, gte, lt, lte, in, not, contains, startsWith, null), and, or, not.',
      },
      sort: { ...names(queryLimits.sortTerms), description: 'As the parameter of lists.' },
      fields: { ...names(queryLimits.fields), description: 'The fields to write; `id` always comes along.' },
      format: { type: 'string', enum: Object.keys(exportTypes) },
    },
    ['collection', 'format'],
  )
  return {
    '/exports': {
      post: {
        operationId: 'createExport',
        tags,
        summary: 'Have a collection written to a file',
        description: 'The records that the caller may read. The job says when the file is ready, and where it is.',
        parameters: creationHeaders,
        requestBody: body(['application/json'], asked),
        responses: { ...accepted, ...problems.of(codesOf('export')) },
      },
    },
    '/exports/{id}': {
      parameters: [refTo('parameters', 'Id')],
      delete: {
        operationId: 'deleteExport',
        tags,
        summary: 'Delete an export that has ended',
        description: 'Its file and its job are gone, and no longer count.',
        ...jobDeletion(problems),
      },
    },
    '/exports/{id}/content': {
      parameters: [refTo('parameters', 'Id')],
      get: {
        operationId: 'getExportContent',
        tags,
        summary: 'Read the file of an export',
        description: 'It is kept for a day. A download that broke off goes on with `Range` and `If-Range`.',
        parameters: [refTo('parameters', 'IfNoneMatch'), refTo('parameters', 'IfModifiedSince'), ...rangeHeaders],
        responses: {
          200: file('The file.', ['Accept-Ranges']),
          202: answer('It is still being written.', ['Retry-After'], refTo('schemas', 'Accepted')),
          206: part(fileHeaders),
          304: answer('The file is as the condition says.', ['ETag', 'Last-Modified', 'Vary']),
          ...problems.of(codesOf('export-content')),
        },
      },
    },
  }
}

/** What the deletions of exports and of jobs have in common (LIM-8). */
export function jobDeletion(problems: ProblemResponses): Json {
  return {
    parameters: [refTo('parameters', 'IfMatch'), refTo('parameters', 'IfUnmodifiedSince')],
    responses: { 204: answer('It is deleted.', ['Preference-Applied']), ...problems.of(codesOf('delete-job')) },
  }
}

function file(description: string, more: readonly HeaderName[]): Json {
  return { description, headers: headers(...fileHeaders, ...more), content: contents() }
}

/** Files have no schema: they are as long as the collection. */
function contents(): Json {
  return Object.fromEntries(mediaTypes.map((type) => [type, {}]))
}
