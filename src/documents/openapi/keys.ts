/** The operations of API keys (AUT-2): read like records, made by asking for them, and revoked. */
import type { Resource } from '../../model/resource.ts'
import { keyBounds } from '../../model/system-resources.ts'
import { type Json, object, refTo } from './json.ts'
import { answer, body, collectionPath, type OperationParts, shownPath } from './operations.ts'
import { idempotencyKeyPattern } from './parameters.ts'
import { codesOf } from './problems.ts'
import { orNull, resourceSchemas } from './schemas.ts'

const once =
  'A text of your own for this request, such as a UUID: sent again within a day, it makes no second key. The key itself is not kept, so the repeat is answered with 409 `KEY_SHOWN_ONCE`.'

/** The Path Items of keys, by path. */
export function keyPaths(resource: Resource, parts: OperationParts): Json {
  const { names, problems } = parts
  const tags = [resource.name]
  const { properties, required } = resourceSchemas(resource, names)[names.one] as {
    properties: Json
    required: string[]
  }
  const key = { type: 'string', description: 'The key: it is shown here, and never again.' }
  return {
    [`/${resource.name}`]: {
      ...collectionPath(resource, parts),
      post: {
        operationId: `create${names.one}`,
        tags,
        summary: 'Make an API key',
        description:
          'Administrators make keys for everyone. Everyone else makes keys for themselves, with roles of their own. A key expires no later than the credential that makes it, unless the declaration lets a role of the caller make lasting keys.',
        parameters: [
          {
            ...{ name: 'Idempotency-Key', in: 'header', description: once },
            schema: { type: 'string', pattern: idempotencyKeyPattern },
          },
        ],
        requestBody: body(['application/json'], asked()),
        responses: {
          201: answer(
            'The key, and its record.',
            ['ETag', 'Vary', 'Last-Modified', 'Preference-Applied', 'Location'],
            object({ ...properties, key }, [...required, 'key']),
          ),
          ...problems.of(codesOf('create-key')),
        },
      },
    },
    [`/${resource.name}/{id}`]: {
      ...shownPath(resource, parts),
      delete: {
        operationId: `delete${names.one}`,
        tags,
        summary: 'Revoke an API key',
        description:
          'The key is refused from the next request on. Its record stays, with `revoked_at`. You may revoke a key only where you have all of its roles, or are an administrator.',
        parameters: [
          {
            ...{ name: 'descendants', in: 'query', schema: { type: 'boolean' } },
            description: 'Revokes the keys made with this key too, and those made with them: all of them or none.',
          },
          refTo('parameters', 'IfMatch'),
          refTo('parameters', 'IfUnmodifiedSince'),
        ],
        responses: { 204: answer('It is revoked.', ['Preference-Applied']), ...problems.of(codesOf('revoke-key')) },
      },
    },
  }
}

function asked(): Json {
  const { subject, roles, role } = keyBounds
  const name = (most: number) => ({ type: 'string', minLength: 1, maxLength: most })
  const items = { ...name(role), pattern: '^[^,]+$' }
  return object(
    {
      subject: {
        ...orNull(name(subject)),
        description: 'Who calls with it; left out: yourself. Only an administrator may name somebody else.',
      },
      roles: {
        ...orNull({ type: 'array', items, maxItems: roles, uniqueItems: true }),
        description: 'Left out: your own, and none where the key is for somebody else.',
      },
      expires_at: {
        ...orNull({ type: 'string', format: 'date-time' }),
        description:
          'In the future, and no later than your own credential expires. Left out: when your own credential expires.',
      },
    },
    [],
  )
}
