/** The catalog as an OpenAPI 3.1 document (DOC-1). Every response of the server fits it. */
import { type Catalog, isRestorable, type Resource } from '../model/resource.ts'
import { onlyVersion, type Version, type Versions } from '../versions/versions.ts'
import { headerComponents, type Json } from './openapi/components.ts'
import { namesOf, type ResourceNames } from './openapi/names.ts'
import { bulkDeletePath, collectionPath, type OperationParts, recordPath, restorePath } from './openapi/operations.ts'
import { parameterComponents } from './openapi/parameters.ts'
import { problemResponses } from './openapi/problems.ts'
import { resourceSchemas } from './openapi/schemas.ts'
import { sharedSchemas } from './openapi/shared-schemas.ts'
import { exportPaths, servicePaths, systemPaths } from './openapi/system-operations.ts'
import { serverOf, versionCodes, versionParameters, versionText, withNotice, withVersion } from './openapi/versions.ts'

/** Settings of the document. */
export interface OpenApiOptions {
  /**
   * The URL of the server, without a slash at its end: `https://api.example.org`. By default relative to the document.
   */
  readonly serverUrl?: string
  /** All versions, among them the version of the catalog. By default it is the only one. */
  readonly versions?: Versions
  /** The time at which deprecations are judged, in milliseconds since 1970. By default 0: no version is deprecated. */
  readonly now?: number
}

const text = [
  'Every request carries `Authorization: Bearer`; only the health addresses are open.',
  '',
  'HEAD is answered wherever GET is, with the same status and header fields and no body. A method that an address ' +
    'does not',
  'support is answered with 405 (the response in `x-other-methods`), and `Allow` names those that it does; nothing ' +
    'at an',
  'address is 404, whatever the method.',
  '',
  'OPTIONS says in `Allow` what an address supports. A list too large to be asked for in an address is asked for by ' +
    'QUERY (RFC',
  '10008), which OpenAPI 3.1 cannot describe: its body is a JSON object of the same parameter names, with arrays ' +
    'for those that',
  'repeat, and its answer is that of GET, without `Link`.',
  '',
  'Too many requests are answered with 429, and `Retry-After` says when the next one passes. Until then `RateLimit` ' +
    'says how many',
  'are left.',
  '',
  'Errors are `application/problem+json` (RFC 9457): look at `code`, show `detail`.',
].join('\n')

/**
 * Generates the OpenAPI document of a catalog. The same catalog always gives the same document, byte for byte.
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
  const partsOf = (resource: Resource) => ({ catalog, names: nameOf(resource), problems })
  // The paths come first, because they collect the error responses that become components.
  const paths = {
    ...resourcePaths(catalog, partsOf),
    ...systemPaths(catalog, partsOf),
    ...exportPaths(catalog, problems),
    ...servicePaths(serverUrl, problems),
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
    // A Path Item cannot describe the response to methods that it does not have.
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

function resourcePaths(catalog: Catalog, partsOf: (resource: Resource) => OperationParts): Json {
  const paths: Record<string, Json> = {}
  for (const resource of catalog.resources.values()) {
    const parts = partsOf(resource)
    const path = `/${resource.name}`
    const { bulk } = resource.deletion
    paths[path] = collectionPath(resource, parts)
    if (bulk !== undefined) paths[`${path}/bulk-delete`] = bulkDeletePath(resource, bulk.max, parts)
    paths[`${path}/{id}`] = recordPath(resource, parts)
    if (isRestorable(resource)) paths[`${path}/{id}/restore`] = restorePath(resource, parts)
    for (const child of resource.children.flatMap((name) => catalog.resources.get(name) ?? [])) {
      paths[`${path}/{id}/${child.name}`] = collectionPath(child, partsOf(child), { resource, names: parts.names })
    }
  }
  return paths
}
