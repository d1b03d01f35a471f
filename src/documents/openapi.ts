/** The catalog as an OpenAPI 3.1 document (DOC-1): valid, and true, so that every answer of the server fits it. */
import { type Catalog, isRestorable, type Resource } from '../model/resource.ts'
import { onlyVersion, type Version, type Versions } from '../versions/versions.ts'
import { exportPaths, jobDeletion } from './openapi/exports.ts'
import { headerComponents, headers, openHeaders } from './openapi/headers.ts'
import { type Json, refTo } from './openapi/json.ts'
import { keyPaths } from './openapi/keys.ts'
import { namesOf, type ResourceNames } from './openapi/names.ts'
import {
  answer,
  bulkDeletePath,
  collectionPath,
  part,
  recordPath,
  restorePath,
  shownPath,
} from './openapi/operations.ts'
import { parameterComponents, rangeHeaders } from './openapi/parameters.ts'
import { codesOf, type ProblemResponses, problemResponses } from './openapi/problems.ts'
import { resourceSchemas } from './openapi/schemas.ts'
import { sharedSchemas } from './openapi/shared-schemas.ts'
import { serverOf, versionCodes, versionParameters, versionText, withNotice, withVersion } from './openapi/versions.ts'

/** What the document says beside the catalog. */
export interface OpenApiOptions {
  /** Where the server is, without a slash at the end: `https://api.example.org`. Left out: where the document came from. */
  readonly serverUrl?: string
  /** All versions, that of the catalog among them. Left out: it is the only one. */
  readonly versions?: Versions
  /** By when a version is deprecated, in milliseconds since 1970. Left out: 0, when none was. */
  readonly now?: number
}

const text = `Every request carries \`Authorization: Bearer\`; only the health addresses are open.

HEAD is answered wherever GET is, with the same status and header fields and no body. A method that an address does not
support is answered with 405 (the response in \`x-other-methods\`), and \`Allow\` names those that it does; nothing at an
address is 404, whatever the method.

OPTIONS says in \`Allow\` what an address supports. A list too large to be asked for in an address is asked for by QUERY (RFC
10008), which OpenAPI 3.1 cannot describe: its body is a JSON object of the same parameter names, with arrays for those that
repeat, and its answer is that of GET, without \`Link\`.

Too many requests are answered with 429, and \`Retry-After\` says when the next one passes. Until then \`RateLimit\` says how many
are left.

Errors are \`application/problem+json\` (RFC 9457): look at \`code\`, show \`detail\`.`

/**
 * Describes a catalog. Pure: the same catalog makes the same document, to the byte.
 *
 * @returns a JSON object of OpenAPI 3.1
 *
 * @example
 * const document = openApiDocument(catalog, { serverUrl: 'https://api.example.org' })
 */
export function openApiDocument(catalog: Catalog, options: OpenApiOptions = {}): object {
  const { serverUrl = '', versions = onlyVersion(catalog), now = 0 } = options
  const version = versions.all.get(catalog.version) as Version
  const resources = [...catalog.resources.values(), ...catalog.system.values()]
  const names = namesOf(catalog)
  const problems = problemResponses(versionCodes(versions, version))
  const nameOf = (resource: Resource) => names.get(resource.name) as ResourceNames
  // The paths first: they ask for the error responses that become components.
  const paths = {
    ...resourcePaths(catalog, nameOf, problems),
    ...exportPaths(catalog, problems),
    ...fixedPaths(serverUrl, problems),
  }
  const otherMethods = problems.of(['METHOD_NOT_ALLOWED'])
  const words = `${text}${versionText(versions, version, now)}`
  const responses = Object.entries(problems.components).map(([name, each]) => [
    name,
    withNotice(each, versions, version),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: catalog.title,
      version: catalog.version,
      description: catalog.description === undefined ? words : `${catalog.description}\n\n${words}`,
    },
    servers: [serverOf(serverUrl, version)],
    security: [{ bearer: [] }],
    tags: [
      ...resources.map(({ name, title, description }) => ({ name, description: description ?? `${title}.` })),
      { name: 'exports', description: 'Files of whole collections.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: withVersion(paths, versions, version, now),
    // No path item can say what the methods get that it does not have.
    'x-other-methods': otherMethods[405],
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key or, where the server is told whose to accept, a JWT; sent as Authorization: Bearer.',
        },
      },
      parameters: { ...parameterComponents(catalog), ...versionParameters(versions, version) },
      headers: headerComponents,
      responses: Object.fromEntries(responses),
      schemas: {
        ...Object.assign({}, ...resources.map((resource) => resourceSchemas(resource, nameOf(resource)))),
        ...sharedSchemas,
      },
    },
  }
}

function resourcePaths(
  catalog: Catalog,
  nameOf: (resource: Resource) => ResourceNames,
  problems: ProblemResponses,
): Json {
  const paths: Record<string, Json> = {}
  for (const resource of catalog.resources.values()) {
    const parts = { catalog, names: nameOf(resource), problems }
    paths[`/${resource.name}`] = collectionPath(resource, parts)
    const { bulk } = resource.deletion
    if (bulk !== undefined) paths[`/${resource.name}/bulk-delete`] = bulkDeletePath(resource, bulk.max, parts)
    paths[`/${resource.name}/{id}`] = recordPath(resource, parts)
    if (isRestorable(resource)) paths[`/${resource.name}/{id}/restore`] = restorePath(resource, parts)
    for (const child of resource.children.flatMap((name) => catalog.resources.get(name) ?? [])) {
      const parent = { resource, names: nameOf(resource) }
      paths[`/${resource.name}/{id}/${child.name}`] = collectionPath(child, { ...parts, names: nameOf(child) }, parent)
    }
  }
  for (const resource of catalog.system.values()) {
    const parts = { catalog, names: nameOf(resource), problems }
    if (resource.made === 'for-clients') Object.assign(paths, keyPaths(resource, parts))
    else {
      paths[`/${resource.name}`] = collectionPath(resource, parts)
      const deletion = {
        operationId: `delete${parts.names.one}`,
        tags: [resource.name],
        summary: `Delete one of the ${resource.name} that has ended`,
        description: 'The file of an export goes with its job.',
        ...jobDeletion(problems),
      }
      paths[`/${resource.name}/{id}`] = { ...shownPath(resource, parts), delete: deletion }
    }
  }
  return paths
}

/** What every server has: this document under the version, and health at the root. */
function fixedPaths(serverUrl: string, problems: ProblemResponses): Json {
  // The health addresses are outside of the version.
  const root = [{ url: serverUrl === '' ? '/' : serverUrl }]
  const health = (probe: 'live' | 'ready', summary: string, found: string): Json => ({
    servers: root,
    get: {
      operationId: `getHealth${probe === 'live' ? 'Live' : 'Ready'}`,
      tags: ['service'],
      summary,
      security: [],
      parameters: rangeHeaders,
      responses: {
        200: { ...answer(found, [], refTo('schemas', 'Health')), headers: openHeaders('Accept-Ranges') },
        206: { ...part([]), headers: openHeaders('Accept-Ranges', 'Content-Range') },
        ...problems.of(codesOf(probe)),
      },
    },
  })
  return {
    '/openapi.json': {
      get: {
        operationId: 'getOpenApi',
        tags: ['service'],
        summary: 'Read this document',
        parameters: [refTo('parameters', 'IfNoneMatch'), ...rangeHeaders],
        responses: {
          200: answer('The interface as OpenAPI 3.1.', ['ETag', 'Vary', 'Accept-Ranges'], { type: 'object' }),
          206: part(['ETag', 'Vary']),
          304: { description: 'The document is as If-None-Match says.', headers: headers('ETag', 'Vary') },
          ...problems.of(codesOf('document')),
        },
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
