/** The operations on what is not declared: API keys, jobs, exports, tenants, the document itself, health. */

import { keyBounds } from 'resourced-contract/model/catalog'
import { tenantsCollection } from 'resourced-contract/model/names'
import { operators } from 'resourced-contract/model/operators'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { isHistory } from 'resourced-contract/model/resource'
import { operatorRole, operatorsOf } from 'resourced-contract/model/tenants'
import type { FaultCode } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import { exportTypes, metricsType } from 'resourced-contract/spec/media-types'
import { headers, type Json, object, refTo, withoutDescriptions } from './components.ts'
import { revisionPath } from './history-operations.ts'
import { collectionPath, type OperationParts, restorePath, shownPath } from './operations.ts'
import { fittingOperators, onceParameter, sharedParameters } from './parameters.ts'
import { codesOf, type Problems } from './problems.ts'
import { answer, body, fileContent, fileHeaders } from './responses.ts'
import { bodySchemas, orNull, resourceSchemas } from './schemas.ts'
import { deliveryPaths, webhookPaths } from './webhook-operations.ts'

/** The Path Items of API keys, jobs, events and tenants, by path. */
export function systemPaths(catalog: Catalog, partsOf: (resource: Resource) => OperationParts): Json {
  const resources = [...catalog.system.values(), ...(operatorsOf(catalog)?.resources.values() ?? [])]
  const paths = resources.map((resource) => {
    const parts = partsOf(resource)
    if (resource.name === tenantsCollection) return tenantPaths(resource, parts)
    if (resource.name === 'webhooks') return webhookPaths(resource, parts)
    if (resource.name === 'deliveries') {
      const webhooks = catalog.system.get('webhooks') as Resource
      return deliveryPaths(resource, parts, { resource: webhooks, names: partsOf(webhooks).names })
    }
    if (isHistory(resource)) return revisionPath(resource, parts)
    if (resource.order === 'by-position') return eventPaths(resource, parts)
    return resource.made === 'for-clients' ? keyPaths(resource, parts) : jobPaths(resource, parts)
  })
  return Object.assign({}, ...paths)
}

function eventPaths(resource: Resource, parts: OperationParts): Json {
  return {
    [`/${resource.name}`]: collectionPath(resource, parts),
    [`/${resource.name}/{id}`]: shownPath(resource, parts),
  }
}

function jobPaths(resource: Resource, parts: OperationParts): Json {
  const deletion = {
    operationId: `delete${parts.names.one}`,
    tags: [resource.name],
    summary: `Delete one of the ${resource.name} that has ended`,
    description: 'Also deletes the file of an export.',
    ...jobDeletion(parts.problems),
  }
  return {
    [`/${resource.name}`]: collectionPath(resource, parts),
    [`/${resource.name}/{id}`]: { ...shownPath(resource, parts), delete: deletion },
  }
}

function keyPaths(resource: Resource, parts: OperationParts): Json {
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
        summary: 'Create an API key',
        description:
          'Administrators create keys for any subject. Others create keys for themselves, with their own roles. ' +
          'A key expires no later than the credential that creates it, unless the declaration lets a role of the ' +
          'caller create lasting keys.',
        parameters: [onceParameter('key', 'key itself')],
        requestBody: body(['application/json'], asked()),
        ...problems.of(codesOf('create-key'), {
          201: answer(
            'The key, and its record.',
            ['Location'],
            object({ ...withoutDescriptions(properties), key }, [...required, 'key']),
          ),
        }),
      },
    },
    [`/${resource.name}/{id}`]: {
      ...shownPath(resource, parts),
      delete: {
        operationId: `delete${names.one}`,
        tags,
        summary: 'Revoke an API key',
        description:
          'The key is refused from the next request on. Its record stays, with `revoked_at`. You may revoke a key ' +
          'only where you have all of its roles, or are an administrator.',
        parameters: [
          {
            ...{ name: 'descendants', in: 'query', schema: { type: 'boolean' } },
            description:
              'Also revokes the keys created with this key, and those created with them: all of them or none.',
          },
          ...sharedParameters('IfMatch', 'IfUnmodifiedSince'),
        ],
        ...problems.of(codesOf('delete-own'), { 204: refTo('responses', 'ApiDeleted') }),
      },
    },
  }
}

/** The Path Items of tenants, where an interface has them (TEN-3). */
function tenantPaths(resource: Resource, parts: OperationParts): Json {
  const { names, problems } = parts
  const { one } = names
  const tags = [resource.name]
  const creation = bodySchemas(resource, one)[`${one}Create`] as Json
  return {
    [`/${resource.name}`]: {
      ...collectionPath(resource, parts),
      post: {
        operationId: `create${one}`,
        tags,
        summary: 'Create a tenant',
        description: `Tenants are for callers with the role \`${operatorRole}\` and no tenant alone.`,
        parameters: sharedParameters('IdempotencyKey'),
        requestBody: body(['application/json'], creation),
        ...problems.of(codesOf('create', resource), {
          201: answer('The tenant.', ['Location'], refTo('schemas', one)),
        }),
      },
    },
    [`/${resource.name}/{id}`]: {
      ...shownPath(resource, parts),
      delete: {
        operationId: `delete${one}`,
        tags,
        summary: 'Delete a tenant',
        description: 'Its callers are refused from now on. It can be restored until a job removes its database.',
        parameters: sharedParameters('IfMatch', 'IfUnmodifiedSince'),
        ...problems.of(codesOf('delete', resource), { 204: refTo('responses', 'ApiDeleted') }),
      },
    },
    [`/${resource.name}/{id}/restore`]: restorePath(resource, parts),
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
        description:
          'The caller who uses the key; by default yourself. Only an administrator may name another subject.',
      },
      roles: {
        ...orNull({ type: 'array', items, maxItems: roles, uniqueItems: true }),
        description: 'By default your own roles, and none for a key of another subject.',
      },
      claims: {
        ...orNull({ type: 'object' }),
        description: `Claims of your own, at most ${keyBounds.claims} characters; administrators give any.`,
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

const tags = ['exports']
/** The Path Items of exports, by path. */
export function exportPaths(catalog: Catalog, problems: Problems): Json {
  const names = (most: number) => ({
    oneOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: most, uniqueItems: true },
    ],
  })
  const named = fittingOperators(operators, catalog.resources.values()).map(({ name }) => name)
  const asked = object(
    {
      collection: { type: 'string', enum: [...catalog.resources.keys()] },
      filter: {
        type: 'object',
        description:
          `A condition: fields with a value or with operators (${named.join(', ')}), and, or, not. ` +
          'Date-times can be compared with days (2026-11-28), except by gt and lte.',
      },
      timezone: { type: 'string', description: 'The time zone of the IANA database of these days; without it UTC.' },
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
        parameters: sharedParameters('IdempotencyKey', 'Prefer'),
        requestBody: body(['application/json'], asked),
        ...problems.of(codesOf('export'), { 202: refTo('responses', 'ApiAccepted') }),
      },
    },
    '/exports/{id}': {
      parameters: [refTo('parameters', 'ApiId')],
      delete: {
        operationId: 'deleteExport',
        tags,
        summary: 'Delete an export that has ended',
        description: 'Its file and its job are gone, and no longer count.',
        ...jobDeletion(problems),
      },
    },
    '/exports/{id}/content': {
      parameters: [refTo('parameters', 'ApiId')],
      get: {
        operationId: 'getExportContent',
        tags,
        summary: 'Read the file of an export',
        description: 'The file is kept for a day. `Range` and `If-Range` resume an interrupted download.',
        parameters: sharedParameters('IfNoneMatch', 'IfModifiedSince'),
        'x-responses': { 206: refTo('responses', 'ApiFilePart') },
        ...problems.of(codesOf('export-content'), {
          200: { description: 'The file.', headers: headers(...fileHeaders), content: fileContent },
          202: answer('It is still being written.', ['Retry-After'], refTo('schemas', 'ApiAccepted')),
          304: refTo('responses', 'ApiNotModified'),
        }),
      },
    },
  }
}

/** The parameters and responses of deleting an export or a job (LIM-8). */
function jobDeletion(problems: Problems): Json {
  return {
    parameters: sharedParameters('IfMatch', 'IfUnmodifiedSince'),
    ...problems.of(codesOf('delete-job'), { 204: refTo('responses', 'ApiDeleted') }),
  }
}

function callerSchema(): Json {
  const permission = object(
    {
      granted: { enum: ['all', 'some', 'none'], description: 'The records that the action is permitted on.' },
      rules: {
        type: 'array',
        items: { type: ['string', 'object'] },
        description: 'The declared rules of the action: one that allows is enough.',
      },
    },
    ['granted', 'rules'],
  )
  return object(
    {
      id: { type: 'string' },
      roles: { type: 'array', items: { type: 'string' } },
      credential: { enum: ['api-key', 'jwt', 'own'], description: 'How the caller has authenticated.' },
      expires_at: {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'When the credential expires; null: never, or unknown.',
      },
      permissions: {
        type: 'object',
        description: 'By collection, then by action.',
        additionalProperties: { type: 'object', additionalProperties: permission },
      },
      field_permissions: {
        type: 'object',
        description: 'By collection, then by field: fields that not everybody may use who may use the record.',
        additionalProperties: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: { read: permission, write: permission },
            additionalProperties: false,
          },
        },
      },
    },
    ['id', 'roles', 'credential', 'expires_at', 'permissions', 'field_permissions'],
  )
}

/**
 * The Path Items of the document, under the version, and of health, at the root.
 *
 * @param atRoot the codes that versions add to operations at the root
 */
export function servicePaths(basePath: string, problems: Problems, atRoot: readonly FaultCode[]): Json {
  // The health addresses do not belong to a version.
  const root = [{ url: basePath || '/' }]
  const health = (probe: 'live' | 'ready', summary: string, found: string): Json => ({
    servers: root,
    get: {
      operationId: `getHealth${probe === 'live' ? 'Live' : 'Ready'}`,
      tags: ['service'],
      summary,
      description: 'For load balancers and monitors: without a credential.',
      security: [],
      ...problems.of(codesOf(probe), {
        200: answer(found, [], refTo('schemas', 'ApiHealth')),
      }),
    },
  })
  return {
    '/openapi.json': {
      get: {
        operationId: 'getOpenApi',
        tags: ['service'],
        summary: 'Read this document',
        description: 'It depends on the version, and not on the caller.',
        parameters: [refTo('parameters', 'ApiIfNoneMatch')],
        ...problems.of(codesOf('document'), {
          200: answer('The interface as OpenAPI 3.1.', [], { type: 'object' }),
          304: refTo('responses', 'ApiNotModified'),
        }),
      },
    },
    '/caller': {
      get: {
        operationId: 'getCaller',
        tags: ['service'],
        summary: 'Read who you are and what you may do',
        description: 'Permissions by collection and action: for all records, for some, or for none.',
        ...problems.of(codesOf('document'), {
          200: answer('The caller, and the permissions of the caller.', [], callerSchema()),
        }),
      },
    },
    '/health/metrics': {
      servers: root,
      get: {
        operationId: 'getHealthMetrics',
        tags: ['service'],
        summary: 'Read the metrics of the server',
        description: 'Needs the role `admin`. The text is in the format of Prometheus.',
        'x-responses': { 206: refTo('responses', 'ApiMetricsPart') },
        ...problems.of(
          codesOf('metrics'),
          {
            200: {
              description: 'The metrics.',
              content: { [metricsType]: { schema: { type: 'string' } } },
            },
          },
          atRoot,
        ),
      },
    },
    '/health/live': health('live', 'Whether the server runs', 'It runs.'),
    '/health/ready': health(
      'ready',
      'Whether the server can answer, its database included',
      'It can; or there is maintenance, and it says so.',
    ),
  }
}
