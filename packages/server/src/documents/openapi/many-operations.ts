/** The operations that create or change the records of an array, or the record with a unique value (BLK-1, BLK-2). */
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { uniqueKeysOf } from 'resourced-contract/model/unique-keys'
import { type Json, object, queryParameter, refTo } from './components.ts'
import type { OperationParts } from './operations.ts'
import { sharedParameters } from './parameters.ts'
import { codesOf } from './problems.ts'
import { answer, body, contentOf } from './responses.ts'

/** The schema of the response to an array. */
export function manySchema(one: string): Json {
  const items = { anyOf: [refTo('schemas', one), { type: 'null' }] }
  const description = 'In the order of the request; null for a record that the caller may not read.'
  return object({ data: { type: 'array', items, description } }, ['data'])
}

function arrayOf({ limits }: Catalog, items: Json): Json {
  return body(['application/json'], { type: 'array', items, minItems: 1, maxItems: limits.bulk })
}

/**
 * The extension `x-many` of POST: the same operation with an array, which generators would make a union of.
 *
 * @param schema of the body of one record
 */
export function manyCreation(schema: string, { catalog, names }: OperationParts): Json {
  const created = answer('The created records: all or none.', [], refTo('schemas', `${names.one}Many`))
  return { requestBody: arrayOf(catalog, refTo('schemas', schema)), responses: { 201: created } }
}

/** PATCH with an array: the body and the response, as the extension `x-many` where PATCH takes a filter too. */
export function manyUpdate({ catalog, names: { one } }: OperationParts): Json {
  const item = { ...object({ id: { type: 'string', format: 'uuid' } }, ['id']), additionalProperties: true }
  const changes = contentOf(['application/json', 'application/merge-patch+json'], {
    ...{ type: 'array', minItems: 1, maxItems: catalog.limits.bulk },
    items: { ...item, description: `The id of a record, and members of \`${one}Patch\`.` },
  })
  const shown = answer('The records as they are now.', [], refTo('schemas', `${one}Many`))
  return { requestBody: { required: true, content: changes }, responses: { 200: shown } }
}

/** PATCH and PUT of a collection. */
export function manyChanges(resource: Resource, parts: OperationParts): Json {
  const { catalog, names, problems } = parts
  const { one, many } = names
  const keys = [...uniqueKeysOf(resource).keys()]
  const shown = refTo('schemas', `${one}Many`)
  const { requestBody, responses } = manyUpdate(parts)
  const headers = [...sharedParameters('IfMatch', 'IfUnmodifiedSince'), ...sharedParameters('Prefer')]
  return {
    patch: {
      operationId: many === one ? `updateMany${many}` : `update${many}`,
      tags: [resource.name],
      summary: `Change several of the ${resource.name}`,
      description: 'All of them or none. Omitted fields stay.',
      parameters: headers,
      requestBody,
      ...problems.of(codesOf('update-many', resource), {
        ...(responses as Json),
        204: refTo('responses', 'ApiChanged'),
      }),
    },
    ...(keys.length > 0 && {
      put: {
        operationId: `upsert${one}`,
        tags: [resource.name],
        summary: `Replace or create one of the ${resource.name}`,
        description: 'The record with a unique value, which one of the parameters gives. Omitted fields are cleared.',
        parameters: [
          ...keys.map((name) => queryParameter(name, 'The value of this unique field.', { type: 'string' })),
          ...headers,
        ],
        requestBody: body(['application/json'], refTo('schemas', `${one}Replace`)),
        ...problems.of(codesOf('upsert', resource), {
          200: refTo('responses', `${one}Changed`),
          201: refTo('responses', `${one}Created`),
          204: refTo('responses', 'ApiChanged'),
        }),
        'x-many': {
          parameters: [queryParameter('key', 'The unique field.', { type: 'string', enum: keys })],
          requestBody: arrayOf(catalog, refTo('schemas', `${one}Replace`)),
          responses: {
            200: answer('The records as they are now: all or none.', [], shown),
            201: answer('The created records, of which none was there.', [], shown),
          },
        },
      },
    }),
  }
}
