/** The operations that create or change the records of an array, or the record with a unique value (BLK-1, BLK-2). */
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { uniqueKeysOf } from 'resourced-contract/model/unique-keys'
import { type Json, object, queryParameter, refTo } from './components.ts'
import { sharedParameters } from './parameters.ts'
import { codesOf, type Problems } from './problems.ts'
import { answer, contentOf } from './responses.ts'
import type { ResourceNames } from './schemas.ts'

/**
 * The extension `x-many` of an operation: the schema of its response to an array of bodies. Generators would make a
 * union of it.
 */
export function manyAnswer({ one }: ResourceNames): Json {
  return { 'x-many': refTo('schemas', `${one}Many`) }
}

/** PATCH and PUT of a collection. */
export function manyChanges(
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
      requestBody: {
        required: true,
        content: contentOf(['application/json', 'application/merge-patch+json'], changes),
      },
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
          ...headers,
        ],
        requestBody: { required: true, content: contentOf(['application/json'], refTo('schemas', `${one}Replace`)) },
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
