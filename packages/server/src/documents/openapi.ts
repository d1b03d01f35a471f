/**
 * The catalog as an OpenAPI 3.1 document (DOC-1). Every response of the server fits it. Where there are versions, it
 * says how clients choose one, which header fields name it, and what is deprecated (VER-1, VER-3, VER-4).
 */

import { historyCollection } from 'resourced-contract/model/names'
import { relationsOf } from 'resourced-contract/model/relations'
import { type Catalog, isRecordedIn, isRestorable, type Resource } from 'resourced-contract/model/resource'
import { operatorsOf } from 'resourced-contract/model/tenants'
import type { FaultCode } from 'resourced-contract/spec/faults'
import { responseHeaders } from 'resourced-contract/spec/response-headers'
import { isDeprecated, isLeaving, mediaTypeOf, onlyVersion, type Version, type Versions } from '../versions/versions.ts'
import { collectionExtension } from './openapi/collection-extension.ts'
import {
  type Components,
  commonHeaders,
  headers,
  type Json,
  parameterComponents,
  refTo,
  sharedSchemas,
} from './openapi/components.ts'
import { historyPath } from './openapi/history-operations.ts'
import {
  bulkDeletePath,
  collectionPath,
  deletionPath,
  type OperationParts,
  recordPath,
  restorePath,
  summaryPath,
} from './openapi/operations.ts'
import { filterText, ranges } from './openapi/parameters.ts'
import { collectProblems, sharedByMethod } from './openapi/problems.ts'
import { includedSchemas } from './openapi/related-schemas.ts'
import { sharedResponses } from './openapi/responses.ts'
import { namesOf, type ResourceNames, resourceSchemas } from './openapi/schemas.ts'
import { exportPaths, servicePaths, systemPaths } from './openapi/system-operations.ts'
import { transactionPaths } from './openapi/transaction-operation.ts'

/** What a server accepts besides API keys. */
export interface Credentials {
  /** The JWTs that it accepts; `undefined`: none. */
  readonly jwt: { readonly issuer: string; readonly audience: string } | undefined
  /** Whether the application checks credentials of its own, such as sessions. */
  readonly hasOwn: boolean
}

/** Settings of the document. */
export interface OpenApiOptions {
  /** All versions, among them the version of the catalog. By default it is the only one. */
  readonly versions?: Versions
  /** What a server accepts besides API keys. By default nothing is known about it. */
  readonly credentials?: Credentials
  /** The time at which deprecations are judged, in milliseconds since 1970. By default 0: no version is deprecated. */
  readonly now?: number
}

const textOf = (resources: readonly Resource[]) =>
  [
    'HEAD works wherever GET does, with the same status and header fields and no body. A method that an address does ' +
      'not support gets 405 (the response in `x-other-methods`), and `Allow` lists the supported methods. An address ' +
      'that does not exist is 404 with any method.',
    '',
    'OPTIONS lists the supported methods of an address in `Allow`. If the query of a list is too long for a URL, ' +
      'send it by QUERY (RFC 10008), which OpenAPI 3.1 cannot describe: the body is a JSON object of the same ' +
      'parameter names, with arrays for repeated ones, and the response is that of GET, without `Link`.',
    '',
    'Too many requests get 429, and `Retry-After` has the seconds until the next one succeeds. Until then ' +
      '`RateLimit` has the remaining requests.',
    '',
    `Lists are in pages, with exact totals. ${filterText(resources)}`,
    '',
    'Errors are `application/problem+json` (RFC 9457): programs read `code`, people read `detail`. Every ' +
      'operation can return the codes in `x-problems.everywhere` and, for its method, in `x-problems.methods`, if it ' +
      'needs a credential, and those in its own `x-problems`. ' +
      '`x-problems.codes` has the status of each code. `x-headers` has the header fields that every response ' +
      'can have.',
    '',
    'With the parameters in `x-parameters` of an operation, `fields` and `include`, the response has fewer ' +
      'properties than its schema says, or the schema `x-included`. Every GET also takes those of `x-ranges`: ' +
      'the response is then a part of the representation, as `x-ranges` or `x-responses` of the operation says. ' +
      '`x-default` is the value of what a request leaves out.',
  ].join('\n')

/**
 * Generates the OpenAPI document of a catalog. The same catalog always gives the same document, byte for byte.
 *
 * @returns a JSON object of OpenAPI 3.1
 *
 * @example
 * const document = openApiDocument(catalog, { versions, now: Date.now() })
 */
export function openApiDocument(catalog: Catalog, options: OpenApiOptions = {}): object {
  const { versions = onlyVersion(catalog), now = 0 } = options
  const version = versions.all.get(catalog.version) as Version
  const tenants = operatorsOf(catalog)?.resources.values() ?? []
  const resources = [...catalog.resources.values(), ...catalog.system.values(), ...tenants]
  const related = resources.filter((resource) => relationsOf(catalog, resource).size > 0)
  const names = namesOf(catalog)
  const problems = collectProblems([...versionCodes(versions, version), ...tenantCodes(catalog)])
  const components: Components = { parameters: {}, responses: {} }
  // Where paths name the version, the current one answers at the root.
  const atRoot = versions.carriers.includes('path') ? versions.current : version
  const nameOf = (resource: Resource) => names.get(resource.name) as ResourceNames
  const recordedIn = (resource: Resource) =>
    resource.order === 'by-position' ? resources.filter((each) => isRecordedIn(resource, each)).map(nameOf) : []
  const partsOf = (resource: Resource) => ({ catalog, names: nameOf(resource), problems, components })
  // The paths come first, because they collect what several of them share.
  const paths = {
    ...resourcePaths(catalog, partsOf),
    ...systemPaths(catalog, partsOf),
    ...transactionPaths(catalog, problems, nameOf),
    ...exportPaths(catalog, problems),
    ...servicePaths(versions.basePath, problems, [...versionCodes(versions, atRoot), ...tenantCodes(catalog)]),
  }
  const { paths: described, methods } = sharedByMethod(paths)
  const words = `${credentialText(options.credentials)}\n\n${textOf(resources)}${versionText(versions, version, now)}`
  const responses = Object.entries({ ...sharedResponses, ...components.responses }).map(([name, each]) => [
    name,
    withType(each as Node, versions, version),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: catalog.title,
      version: catalog.version,
      description: catalog.description === undefined ? words : `${catalog.description}\n\n${words}`,
    },
    servers: [{ url: version.basePath || '/' }],
    security: securityOf(options.credentials),
    tags: [
      ...resources.map((resource) => ({
        name: resource.name,
        description: resource.description ?? `${resource.title}.`,
        'x-collection': collectionExtension(catalog, resource, nameOf(resource)),
      })),
      { name: 'exports', description: 'Files of whole collections.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: withVersion(described, versions, version, now),
    // A Path Item cannot describe the response to methods that it does not have.
    'x-other-methods': refTo('responses', 'ApiMethodNotAllowed'),
    'x-headers': headersOf(versions, version),
    'x-ranges': ranges,
    'x-problems': problems.extension(methods),
    components: {
      securitySchemes: { bearer: bearerScheme(options.credentials) },
      parameters: {
        ...parameterComponents(catalog),
        ...components.parameters,
        ...versionParameters(versions, version),
      },
      headers: headersFor(version),
      responses: Object.fromEntries(responses),
      schemas: {
        ...Object.assign(
          {},
          ...resources.map((resource) =>
            resourceSchemas(resource, nameOf(resource), {
              recorded: recordedIn(resource),
              hasRelations: related.includes(resource),
            }),
          ),
        ),
        ...sharedSchemas,
        ...(related.length > 0 && includedSchemas(related, nameOf)),
      },
    },
  }
}

/**
 * A document as JSON text. Each operation and each component is one line, so that the text is short, and a comparison
 * of two texts by lines names what differs.
 */
export function openApiText(document: object): string {
  return `${linesOf(document, 3)}\n`
}

function linesOf(value: unknown, levels: number): string {
  if (levels === 0 || typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[\n${value.map((each) => linesOf(each, 0)).join(',\n')}\n]`
  const said = Object.entries(value).filter(([, each]) => each !== undefined)
  const members = said.map(([name, each]) => `${JSON.stringify(name)}:${linesOf(each, levels - 1)}`)
  return `{\n${members.join(',\n')}\n}`
}

function credentialText(credentials: Credentials | undefined): string {
  const own = credentials?.hasOwn === true ? ' or a credential of the application’s own, such as a session' : ''
  return `Every request needs \`Authorization: Bearer\`${own}, except those for the health addresses.`
}

/** API keys and JWTs are one scheme of HTTP. OpenAPI has no scheme for what a function of the application accepts. */
function securityOf(credentials: Credentials | undefined): Json[] {
  return [{ bearer: [] }, ...(credentials?.hasOwn === true ? [{}] : [])]
}

function bearerScheme(credentials: Credentials | undefined): Json {
  return { type: 'http', scheme: 'bearer', description: `${bearerText(credentials)}; sent as Authorization: Bearer.` }
}

function bearerText(credentials: Credentials | undefined): string {
  if (credentials === undefined) return 'An API key or, if the server is configured for an issuer, a JWT'
  const { jwt } = credentials
  return jwt === undefined ? 'An API key' : `An API key, or a JWT of ${jwt.issuer} for the audience ${jwt.audience}`
}

function resourcePaths(catalog: Catalog, partsOf: (resource: Resource) => OperationParts): Json {
  const paths: Record<string, Json> = {}
  for (const resource of catalog.resources.values()) {
    const parts = partsOf(resource)
    const path = `/${resource.name}`
    const { bulk } = resource.deletion
    paths[path] = collectionPath(resource, parts)
    paths[`${path}/summary`] = summaryPath(resource, parts)
    if (bulk !== undefined) paths[`${path}/bulk-delete`] = bulkDeletePath(resource, bulk.max, parts)
    paths[`${path}/{id}`] = recordPath(resource, parts)
    paths[`${path}/{id}/deletion`] = deletionPath(resource, parts)
    if (isRestorable(resource)) paths[`${path}/{id}/restore`] = restorePath(resource, parts)
    const revisions = resource.history && catalog.system.get(historyCollection)
    if (revisions !== undefined) {
      const under = { resource, names: parts.names }
      paths[`${path}/{id}/${historyCollection}`] = historyPath(revisions, partsOf(revisions), under)
    }
    for (const child of resource.children.flatMap((name) => catalog.resources.get(name) ?? [])) {
      paths[`${path}/{id}/${child.name}`] = collectionPath(child, partsOf(child), { resource, names: parts.names })
    }
  }
  return paths
}

/** The error codes that tenants add to every operation. */
function tenantCodes({ tenants }: Catalog): readonly FaultCode[] {
  return tenants === undefined ? [] : ['NO_TENANT', 'UNKNOWN_TENANT', 'TENANT_MIGRATING']
}

/** The error codes that versions add to every operation. */
function versionCodes({ carriers }: Versions, { sunsetAt }: Version): readonly FaultCode[] {
  const alone = carriers.length === 1 && carriers[0] === 'path'
  return [
    ...(alone ? [] : (['VERSION_MISMATCH', 'UNKNOWN_VERSION'] as const)),
    ...(sunsetAt === undefined ? [] : (['VERSION_RETIRED'] as const)),
  ]
}

/** A paragraph about the version; empty if there is one version, in the path. */
function versionText({ carriers, all, current }: Versions, version: Version, now: number): string {
  const { name, catalog, sunsetAt, guide } = version
  const type = mediaTypeOf(catalog)
  const ways: Readonly<Record<string, string>> = {
    path: `the path (\`/${name}\`)`,
    header: `\`API-Version: ${name}\``,
    'media-type': `\`Accept: ${type}\`, and the same as the \`Content-Type\` of bodies`,
    query: `\`?version=${name}\``,
  }
  const sentences: string[] = []
  if (all.size > 1)
    sentences.push(`This is version ${name} of ${[...all.keys()].join(', ')}; ${current.name} is current.`)
  if (carriers.length > 1 || carriers[0] !== 'path') {
    const rest = carriers.filter((carrier) => carrier !== 'path').map((carrier) => ways[carrier])
    const said = carriers.includes('path') ? `${ways['path']}; they may repeat it in` : ''
    const otherwise = carriers.includes('path') ? '' : ` A request without a version gets ${current.name}.`
    sentences.push(`Requests name the version in ${said} ${rest.join(', or in ')}.${otherwise}`.replace('  ', ' '))
  }
  if (isDeprecated(version, now)) sentences.push('It is deprecated: `Deprecation` has the date.')
  if (sunsetAt !== undefined) {
    const after = version.afterSunset === 'gone' ? '410' : '308 to its successor'
    sentences.push(`From ${new Date(sunsetAt).toISOString()} on every request gets ${after}.`)
  }
  if (guide !== undefined) sentences.push(`The migration guide is ${guide}.`)
  return sentences.length === 0 ? '' : `\n\n${sentences.join(' ')}`
}

type Node = Record<string, unknown>

const operations = ['get', 'post', 'put', 'patch', 'delete']

/**
 * Adds parameters, header fields and deprecation of a version to paths. Operations outside of the version stay as they
 * are.
 *
 * @param paths Path Items, by path
 */
function withVersion(paths: Json, versions: Versions, version: Version, now: number): Json {
  const parameters = parametersOf(versions)
  const marks = isDeprecated(version, now) ? { deprecated: true } : {}
  const moved = version.sunsetAt !== undefined && version.afterSunset === 'redirect' ? { 308: redirect } : {}
  const entries = Object.entries(paths as Record<string, Node>).map(([path, item]) => {
    if ('servers' in item) return [path, item]
    const changed = operations
      .filter((method) => method in item)
      .map((method) => {
        const operation = item[method] as Node
        const responses = Object.entries({ ...moved, ...(operation['responses'] as Node) }).map(
          ([status, response]) => [status, withType(response as Node, versions, version)],
        )
        const given = [...((operation['parameters'] as Json[] | undefined) ?? []), ...parameters]
        return [
          method,
          {
            ...operation,
            ...marks,
            ...(given.length > 0 && { parameters: given }),
            ...('requestBody' in operation && {
              requestBody: withType(operation['requestBody'] as Node, versions, version),
            }),
            responses: Object.fromEntries(responses),
          },
        ]
      })
    return [path, { ...item, ...Object.fromEntries(changed) }]
  })
  return Object.fromEntries(entries)
}

/** The header fields of every response, and of every response that needs a credential. */
function headersOf({ carriers }: Versions, version: Version): Json {
  const isInHeaders = carriers.includes('header') || carriers.includes('media-type')
  const { everywhere, authenticated } = commonHeaders
  return {
    everywhere: headers(...everywhere),
    authenticated: headers(
      ...(['API-Version', ...authenticated] as const),
      ...(isLeaving(version) ? leavingHeaders : []),
      ...(isInHeaders ? (['Vary'] as const) : []),
    ),
  }
}

const leavingHeaders = ['Deprecation', 'Link', 'Sunset'] as const

/** The header fields that responses of a version have. */
function headersFor(version: Version): Json {
  const { Deprecation, Sunset, ...usual } = responseHeaders
  return isLeaving(version) ? responseHeaders : usual
}

/** The parameters that choose a version. */
function versionParameters({ carriers }: Versions, { name }: Version): Record<string, Json> {
  const description = 'The version of the interface.'
  const schema = { type: 'string', const: name }
  return {
    ...(carriers.includes('header') && { ApiVersion: { name: 'API-Version', in: 'header', description, schema } }),
    ...(carriers.includes('query') && { Version: { name: 'version', in: 'query', description, schema } }),
  }
}

function parametersOf({ carriers }: Versions): Json[] {
  return [
    ...(carriers.includes('header') ? [refTo('parameters', 'ApiVersion')] : []),
    ...(carriers.includes('query') ? [refTo('parameters', 'Version')] : []),
  ]
}

/** Adds the media type of the version to JSON, if versions are chosen by media type. */
function withType(holder: Node, { carriers }: Versions, { catalog }: Version): Node {
  const content = holder['content'] as Node | undefined
  const json = content?.['application/json']
  if (json === undefined || !carriers.includes('media-type')) return holder
  return { ...holder, content: { ...content, [mediaTypeOf(catalog)]: json } }
}

const redirect: Json = {
  description: 'The version is retired; its successor has the same.',
  headers: headers('Location'),
}
