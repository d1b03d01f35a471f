/** The operation of transactions (BLK-4). */
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { transactionLimits } from 'resourced-contract/spec/limits'
import { type Json, object, refTo } from './components.ts'
import { sharedParameters } from './parameters.ts'
import { codesOf, type Problems } from './problems.ts'
import { answer, body } from './responses.ts'
import type { ResourceNames } from './schemas.ts'

/** The Path Item of transactions, by path: none if a collection has the name. */
export function transactionPaths(
  { resources }: Catalog,
  problems: Problems,
  nameOf: (resource: Resource) => ResourceNames,
): Json {
  if (resources.has('transactions')) return {}
  const declared = [...resources.values()]
  const codes = declared.flatMap((resource) =>
    (['create', 'update', 'delete', 'restore'] as const).flatMap((kind) => codesOf(kind, resource, true, declared)),
  )
  const names = declared.map((resource) => nameOf(resource).one)
  const shown = [...names, ...names.map((name) => `${name}Many`), 'ApiDeletion']
  const result = object(
    {
      status: { type: 'integer', description: 'The status that the operation would have alone.' },
      location: { type: 'string', description: 'The address of a created record.' },
      etag: {
        type: 'string',
        description: 'The tag of the record after the operation; a later one of the same record has a newer tag.',
      },
      body: {
        'x-repeats': true,
        anyOf: shown.map((name) => refTo('schemas', name)),
        description: 'The record; left out where the response of the operation alone would be empty.',
      },
    },
    ['status'],
  )
  return {
    '/transactions': {
      post: {
        operationId: 'createTransaction',
        tags: ['service'],
        summary: 'Make several changes together',
        'x-repeats': true,
        description:
          'Runs all operations in order, in one transaction, or none of them. `{"$ref": "box.id"}` in a body stands ' +
          'for a value of the result of the earlier operation with `"as": "box"`, `{box.id}` in a path for its id, ' +
          'and `{"$value": …}` for anything as it is. A refusal is that of the first operation that failed.',
        parameters: sharedParameters('IdempotencyKey', 'Prefer'),
        requestBody: body(['application/json'], asked),
        ...problems.of([...codes, ...codesOf('transaction')], {
          200: answer(
            'The result of each operation, in their order.',
            [],
            object({ results: { type: 'array', items: result } }, ['results']),
          ),
        }),
      },
    },
  }
}

const { operations, name } = transactionLimits

const operation: Json = object(
  {
    method: { type: 'string', enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
    path: {
      ...{ type: 'string', pattern: '^/[^?#]+$' },
      description: 'A collection, a nested collection, a record or its restoration: without version and query.',
    },
    body: { description: 'As the body of a request. For a record, an array is a JSON Patch.' },
    if_match: { type: 'string', description: 'As `If-Match`.' },
    as: { type: 'string', maxLength: name, pattern: '^[A-Za-z][A-Za-z0-9_]*$', description: 'A name for the result.' },
  },
  ['method', 'path'],
)

const asked: Json = object({ operations: { type: 'array', items: operation, minItems: 1, maxItems: operations } }, [
  'operations',
])
