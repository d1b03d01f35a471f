/**
 * The operations of one resource: its collection, its records, those that create or change the records of an array, or
 * the record with a unique value (BLK-1, BLK-2), and its collections nested under others.
 */

import { relationsOf } from 'resourced-contract/model/relations'
import { type Catalog, type Resource, uniqueKeysOf } from 'resourced-contract/model/resource'
import { streamType } from 'resourced-contract/spec/media-types'
import {
  bulkDeletionRequest,
  type Components,
  type Json,
  object,
  queryParameter,
  refTo,
  usualBulk,
} from './components.ts'
import {
  datetimeParameters,
  filterParameters,
  listParameters,
  shapingParameters,
  sharedParameters,
  summaryParameters,
} from './parameters.ts'
import { codesOf, deletedWith, type OperationKind, type Problems, referringTo } from './problems.ts'
import { answer, body, mergeTypes, patchBody, sharedResponse } from './responses.ts'
import type { ResourceNames } from './schemas.ts'

export interface OperationParts {
  readonly catalog: Catalog
  readonly names: ResourceNames
  readonly problems: Problems
  readonly components: Components
}

/** The parent of a nested collection. */
export interface NestedUnder {
  readonly resource: Resource
  readonly names: ResourceNames
}

// The conditions of every request to a record: also a GET is refused if they fail.
const conditions = sharedParameters('IfMatch', 'IfUnmodifiedSince')
const writeHeaders = [...conditions, ...sharedParameters('Prefer')]
const creationHeaders = sharedParameters('IdempotencyKey', 'Prefer')

/** What shapes the response of a read. */
function shaping(resource: Resource, { catalog }: OperationParts): Json {
  return { 'x-parameters': shapingParameters(catalog, resource) }
}

/** The Path Item of a collection, at the top level or nested. */
export function collectionPath(resource: Resource, parts: OperationParts, parent?: NestedUnder): Json {
  const { names, components } = parts
  const deletes = parent === undefined && resource.deletion.byFilter
  const updates = parent === undefined && resource.updates.byFilter
  const of = parent === undefined ? '' : `Of${parent.names.one}`
  const under = parent === undefined ? '' : ` of one of the ${parent.resource.name}`
  const nested = parent !== undefined
  const hasStream = resource.order === 'by-position'
  const page = answer(`A page of ${resource.name}.`, [], refTo('schemas', `${names.one}Page`))
  return {
    ...(nested && { parameters: [refTo('parameters', 'ApiParentId')] }),
    get: {
      operationId: `list${names.many}${of}`,
      tags: [resource.name],
      summary: `List ${resource.name}${under}`,
      description: hasStream ? streamDescription : 'In pages.',
      parameters: [...listParameters(resource, components), ...(hasStream ? [lastEventId] : [])],
      ...shaping(resource, parts),
      ...responses('list', resource, parts, nested, {
        200: sharedResponse(components, `${names.one}Page`, hasStream ? withStream(page) : page),
        304: notModified,
      }),
    },
    ...(resource.made === 'by-clients' && {
      post: {
        operationId: `create${names.one}${of}`,
        tags: [resource.name],
        summary: `Create one of the ${resource.name}${under}`,
        description: 'With a key it is safe to repeat. An array creates all of its records or none.',
        parameters: creationHeaders,
        requestBody: body(['application/json'], refTo('schemas', `${names.one}Create${nested ? 'Nested' : ''}`)),
        ...responses('create', resource, parts, nested, {
          201: sharedResponse(
            components,
            `${names.one}Created`,
            answer(
              'The created record; empty with `Prefer: return=minimal`.',
              ['Location'],
              refTo('schemas', names.one),
            ),
          ),
        }),
        ...manyAnswer(names),
      },
      ...(!nested && manyChanges(resource, names, parts)),
    }),
    ...(updates && matchingUpdate(resource, parts)),
    ...(deletes && matchingDeletion(resource, parts)),
  }
}

/** The Path Item of the summary of a collection. */
export function summaryPath(resource: Resource, parts: OperationParts): Json {
  const { one, many } = parts.names
  return {
    get: {
      operationId: `summarize${many}`,
      tags: [resource.name],
      summary: `Summarize ${resource.name}`,
      description:
        'Groups of the records that match, with their number and the figures of the request. Without `group` there ' +
        'is one row. Cursors go with an order by groups alone.',
      parameters: summaryParameters(resource, parts.components),
      ...responses('summary', resource, parts, false, {
        200: answer('A page of groups.', [], refTo('schemas', `${one}Summaries`)),
        304: notModified,
      }),
    },
  }
}

const streamDescription =
  'With `Accept: text/event-stream` it is a stream of server-sent events, which takes only the filters.'

const lastEventId: Json = {
  ...{ name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } },
  description: 'Of a stream: the last id that the client has got, of the stream or of an event.',
}

/** The response of a list that is also a stream (EVT-6). */
function withStream({ content, ...response }: Json): Json {
  const description = 'Each block has `id`, `event` (the kind) and `data`: the event as JSON.'
  const stream = { [streamType]: { schema: { type: 'string', description } } }
  return { ...response, content: { ...(content as Json), ...stream } }
}

function matchingDeletion(resource: Resource, parts: OperationParts): Json {
  const count = { type: 'integer', minimum: 0, description: 'The number of deleted records.' }
  const { one, many } = parts.names
  return {
    delete: {
      // A name without a plural, such as news, has one name for the record and for the collection.
      operationId: many === one ? `deleteMatching${many}` : `delete${many}`,
      tags: [resource.name],
      summary: `Delete the ${resource.name} that match`,
      description:
        'At least one filter is required. With `Prefer: max-affected=n`, nothing is deleted if more records match; ' +
        'with n = 0 the error has the number of matches.',
      parameters: matchParameters(resource, parts),
      ...responses('delete-matching', resource, parts, false, {
        200: answer('The number of deleted records.', [], object({ deleted_count: count }, ['deleted_count'])),
        202: accepted,
        204: deleted,
      }),
    },
  }
}

function matchingUpdate(resource: Resource, parts: OperationParts): Json {
  const count = { type: 'integer', minimum: 0, description: 'The number of records that match.' }
  const { one, many } = parts.names
  return {
    patch: {
      operationId: `updateMatching${many}`,
      tags: [resource.name],
      summary: `Change the ${resource.name} that match`,
      description:
        'All of them or none. At least one filter is required. With `Prefer: max-affected=n`, nothing is changed if ' +
        'more records match; with n = 0 the error has the number of matches. Without a filter, an array changes the ' +
        'records whose ids it has.',
      parameters: matchParameters(resource, parts),
      requestBody: body(mergeTypes, refTo('schemas', `${one}Patch`)),
      ...responses('update-matching', resource, parts, false, {
        200: answer('The number of records that match.', [], object({ updated_count: count }, ['updated_count'])),
        202: accepted,
        204: refTo('responses', 'ApiChanged'),
      }),
      ...manyAnswer(parts.names),
    },
  }
}

/** The parameters of an operation on all records that match. */
function matchParameters(resource: Resource, { components }: OperationParts): Json[] {
  return [...filterParameters(resource, components), ...sharedParameters('Where', 'Timezone'), ...writeHeaders]
}

/** The Path Item of a record that only the server creates. */
export function shownPath(resource: Resource, parts: OperationParts): Json {
  const { one } = parts.names
  const hasRelations = relationsOf(parts.catalog, resource).size > 0
  const job = resource.name === 'jobs' ? (['Retry-After'] as const) : []
  return {
    parameters: [refTo('parameters', 'ApiId')],
    get: {
      operationId: `get${one}`,
      tags: [resource.name],
      summary: `Read one of the ${resource.name}`,
      description: 'As it is now.',
      parameters: [
        ...sharedParameters('IfNoneMatch', 'IfModifiedSince'),
        ...(resource.history === undefined ? [] : datetimeParameters),
      ],
      ...shaping(resource, parts),
      ...(hasRelations && { 'x-included': refTo('schemas', `${one}WithRelated`) }),
      ...responses('read', resource, parts, false, {
        200:
          resource.made === 'by-clients'
            ? recordResponse(one, parts, resource.history !== undefined)
            : answer('The record.', job, refTo('schemas', one)),
        304: notModified,
      }),
    },
  }
}

/** The Path Item of a record. */
export function recordPath(resource: Resource, parts: OperationParts): Json {
  const { one } = parts.names
  const changed = changedResponses(one, parts)
  const conditional = resource.preconditions === 'required' ? ' A condition is required.' : ''
  const prefer = sharedParameters('Prefer')
  return {
    ...shownPath(resource, parts),
    parameters: [refTo('parameters', 'ApiId'), ...conditions],
    put: {
      operationId: `replace${one}`,
      tags: [resource.name],
      summary: `Replace one of the ${resource.name}`,
      description: `Omitted fields are cleared.${conditional}`,
      parameters: prefer,
      requestBody: body(['application/json'], refTo('schemas', `${one}Replace`)),
      ...responses('update', resource, parts, false, changed),
    },
    patch: {
      operationId: `update${one}`,
      tags: [resource.name],
      summary: `Change one of the ${resource.name}`,
      description: `Omitted fields stay.${conditional}`,
      parameters: prefer,
      requestBody: patchBody(refTo('schemas', `${one}Patch`)),
      ...responses('update', resource, parts, false, changed),
    },
    delete: {
      operationId: `delete${one}`,
      tags: [resource.name],
      summary: `Delete one of the ${resource.name}`,
      description: `${deletionText(resource)}${conditional}`,
      parameters: prefer,
      ...responses('delete', resource, parts, false, deletionAnswers),
    },
  }
}

/** The Path Item that deletes many records at once. */
export function bulkDeletePath(resource: Resource, max: number, parts: OperationParts): Json {
  const { many } = parts.names
  return {
    post: {
      operationId: `bulkDelete${many}`,
      tags: [resource.name],
      summary: `Delete several of the ${resource.name}`,
      description: 'All of them or none.',
      parameters: creationHeaders,
      requestBody: body(
        ['application/json'],
        max === usualBulk ? refTo('schemas', 'ApiBulkDeletionRequest') : bulkDeletionRequest(max),
      ),
      ...responses('bulk-delete', resource, parts, false, {
        200: sharedResponse(
          parts.components,
          'ApiBulkDeletion',
          answer(
            'The deleted records, in the order of the request: all or none. With `dry_run` what would happen.',
            [],
            refTo('schemas', 'ApiBulkDeletion'),
          ),
        ),
        202: accepted,
        204: deleted,
      }),
    },
  }
}

/** The Path Item that previews the deletion of a record. */
export function deletionPath(resource: Resource, parts: OperationParts): Json {
  return {
    parameters: [refTo('parameters', 'ApiId')],
    get: {
      operationId: `previewDeletionOf${parts.names.one}`,
      tags: [resource.name],
      summary: `Preview a deletion of ${resource.name}`,
      description: 'Nothing is deleted.',
      ...responses('preview-deletion', resource, parts, false, {
        200: sharedResponse(
          parts.components,
          'ApiDeletionPreview',
          answer(
            'What DELETE would do now, for callers who may read and delete the record.',
            [],
            refTo('schemas', 'ApiDeletionPreview'),
          ),
        ),
      }),
    },
  }
}

/** The Path Item that restores a record. */
export function restorePath(resource: Resource, parts: OperationParts): Json {
  const { one } = parts.names
  return {
    parameters: [refTo('parameters', 'ApiId')],
    post: {
      operationId: `restore${one}`,
      tags: [resource.name],
      summary: `Restore one of the ${resource.name}`,
      description: 'With all that was deleted with it.',
      parameters: [...sharedParameters('IdempotencyKey'), ...writeHeaders],
      ...responses('restore', resource, parts, false, { ...changedResponses(one, parts), 202: accepted }),
    },
  }
}

function deletionText({ deletion }: Resource): string {
  const what = deletion.variant === 'soft' ? 'Its data is retained for a while.' : 'Its data is removed.'
  return deletion.answer === 'summary' ? `${what} The response names the record.` : what
}

const accepted = refTo('responses', 'ApiAccepted')
const deleted = refTo('responses', 'ApiDeleted')
const notModified = refTo('responses', 'ApiNotModified')
const deletionAnswers: Json = { 200: refTo('responses', 'ApiDeletion'), 202: accepted, 204: deleted }

function changedResponses(one: string, parts: OperationParts): Json {
  return { 200: recordResponse(one, parts), 204: refTo('responses', 'ApiChanged') }
}

/** The response that shows a record as it is, or as it was made. */
function recordResponse(one: string, { components }: OperationParts, hasFormer = false): Json {
  const schema = refTo('schemas', one)
  if (!hasFormer) return sharedResponse(components, `${one}Changed`, answer('The record as it is now.', [], schema))
  return answer('The record as it is, or was at the time that is asked for.', ['Memento-Datetime'], schema)
}

/** The responses of an operation: those given, and its errors. */
function responses(
  kind: OperationKind,
  resource: Resource,
  { catalog, problems }: OperationParts,
  nested: boolean,
  successes: Json,
): Json {
  const deletedToo = deletedWith(catalog, resource)
  const codes = codesOf(kind, resource, nested, deletedToo)
  // A change by filter may hold the records that its own refer to.
  const isHeld =
    codes.includes('HAS_DEPENDENTS') && referringTo(catalog, deletedToo).some((each) => each.updates.byFilter)
  return problems.of(isHeld ? [...codes, 'BEING_CHANGED'] : codes, successes)
}

/**
 * The extension `x-many` of an operation: the schema of its response to an array of bodies. Generators would make a
 * union of it.
 */
function manyAnswer({ one }: ResourceNames): Json {
  return { 'x-many': refTo('schemas', `${one}Many`) }
}

/** PATCH and PUT of a collection. */
function manyChanges(
  resource: Resource,
  names: ResourceNames,
  { catalog, problems }: { readonly catalog: Catalog; readonly problems: Problems },
): Json {
  const { one, many } = names
  const keys = [...uniqueKeysOf(resource).keys()]
  const headers = sharedParameters('IfMatch', 'IfUnmodifiedSince', 'Prefer')
  const items = {
    ...object({ id: { type: 'string', format: 'uuid' } }, ['id']),
    ...{ additionalProperties: true, description: `The id of a record, and members of \`${one}Patch\`.` },
  }
  const changes = { type: 'array', items, minItems: 1, maxItems: catalog.limits.bulk }
  return {
    patch: {
      operationId: many === one ? `updateMany${many}` : `update${many}`,
      tags: [resource.name],
      summary: `Change several of the ${resource.name}`,
      description: 'All of them or none. Omitted fields stay.',
      parameters: headers,
      requestBody: body(mergeTypes, changes),
      ...problems.of(codesOf('update-many', resource), {
        200: answer('The records as they are now.', [], refTo('schemas', `${one}Many`)),
        204: refTo('responses', 'ApiChanged'),
      }),
    },
    ...(keys.length > 0 && {
      put: {
        operationId: `upsert${one}`,
        tags: [resource.name],
        summary: `Replace or create one of the ${resource.name}`,
        description:
          'That with the unique value of the parameter. Omitted fields are cleared. With an array, `key` names the ' +
          'field, and each record has its value: all are written or none.',
        parameters: [
          ...['key', ...keys].map((name) => queryParameter(name, 'See above.', { type: 'string' })),
          ...sharedParameters('IfNoneMatch'),
          ...headers,
        ],
        requestBody: body(['application/json'], refTo('schemas', `${one}Replace`)),
        ...problems.of(codesOf('upsert', resource), {
          200: refTo('responses', `${one}Changed`),
          201: refTo('responses', `${one}Created`),
          204: refTo('responses', 'ApiChanged'),
        }),
        ...manyAnswer(names),
      },
    }),
  }
}
