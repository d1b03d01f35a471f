/** The operations about the history of records (HIS-2 to HIS-4). */
import { historyCollection } from 'resourced-contract/model/names'
import type { Resource } from 'resourced-contract/model/resource'
import { linkType } from 'resourced-contract/spec/media-types'
import { type Json, queryParameter, refTo } from './components.ts'
import { type NestedUnder, type OperationParts, shownPath } from './operations.ts'
import { listParameters, shapingParameters, sharedParameters } from './parameters.ts'
import { codesOf } from './problems.ts'
import { answer, partOfHistory, sharedResponse } from './responses.ts'

const includeDeleted = queryParameter(
  'include_deleted',
  'Also the history of a deleted record, for callers who may read deleted records.',
  { type: 'boolean' },
)

/** The Path Item of one revision. */
export function revisionPath(resource: Resource, parts: OperationParts): Json {
  const { parameters, get } = shownPath(resource, parts) as { parameters: Json[]; get: Json }
  const shown = answer('The revision.', ['Memento-Datetime'], refTo('schemas', parts.names.one))
  const responses = { ...(get['responses'] as Json), 200: shown }
  const asked = [...(get['parameters'] as Json[]), includeDeleted]
  return {
    [`/${historyCollection}/{id}`]: {
      parameters,
      get: { ...get, summary: 'Read a state of a record', description: '', parameters: asked, responses },
    },
  }
}

/** The Path Item of the history of the records of a resource. */
export function historyPath(revisions: Resource, parts: OperationParts, parent: NestedUnder): Json {
  const { names, problems, catalog, components } = parts
  const { one } = parent.names
  sharedResponse(components, 'ApiPart', partOfHistory)
  const tags = [revisions.name]
  const page = answer('A page of revisions, the newest first.', [], refTo('schemas', `${names.one}Page`))
  const description = 'The history of the record as a time map (RFC 7089): links to its states.'
  const links = { [linkType]: { schema: { type: 'string', description, format: 'binary' } } }
  return {
    parameters: [refTo('parameters', 'ApiId')],
    get: {
      operationId: `list${names.many}Of${one}`,
      tags,
      summary: `List the states of one of the ${parent.resource.name}`,
      description: `With \`Accept: ${linkType}\` it is a time map (RFC 7089).`,
      parameters: [...listParameters(revisions, components), includeDeleted],
      'x-parameters': shapingParameters(catalog, revisions),
      ...problems.of(codesOf('list', revisions, true), {
        200: { ...page, content: { ...(page['content'] as Json), ...links } },
        304: refTo('responses', 'ApiNotModified'),
      }),
    },
    delete: {
      operationId: `erase${names.many}Of${one}`,
      tags,
      summary: `Erase the history of one of the ${parent.resource.name}`,
      description: 'The present state stays. For callers who may delete the record and read its history.',
      parameters: [includeDeleted, ...sharedParameters('IfMatch', 'IfUnmodifiedSince')],
      ...problems.of(codesOf('erase-history', parent.resource), { 204: refTo('responses', 'ApiDeleted') }),
    },
  }
}
