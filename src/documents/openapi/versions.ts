/**
 * Versions in the document: how clients choose one, which header fields name it, and deprecation (VER-1, VER-3, VER-4).
 */

import type { FaultCode } from '../../spec/faults.ts'
import { isDeprecated, isLeaving, mediaTypeOf, type Version, type Versions } from '../../versions/versions.ts'
import { type HeaderName, type Json, refTo, versionHeaders } from './components.ts'

/** The error codes that versions add to every operation. */
export function versionCodes({ carriers }: Versions, { sunsetAt }: Version): readonly FaultCode[] {
  const alone = carriers.length === 1 && carriers[0] === 'path'
  return [
    ...(alone ? [] : (['VERSION_MISMATCH', 'UNKNOWN_VERSION'] as const)),
    ...(sunsetAt === undefined ? [] : (['VERSION_RETIRED'] as const)),
  ]
}

/** The server of a version: where its paths begin. */
export function serverOf(serverUrl: string, version: Version): Json {
  return { url: `${serverUrl}${version.basePath}` || '/' }
}

/** A paragraph about the version; empty if there is one version, in the path. */
export function versionText({ carriers, all, current }: Versions, version: Version, now: number): string {
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
    const said = carriers.includes('path') ? `${ways['path']}; it may be repeated by` : ''
    const otherwise = carriers.includes('path') ? '' : ` Who names none gets ${current.name}.`
    sentences.push(`The version is said by ${said} ${rest.join(', or by ')}.${otherwise}`.replace('  ', ' '))
  }
  if (isDeprecated(version, now)) sentences.push('It is deprecated: `Deprecation` says since when.')
  if (sunsetAt !== undefined) {
    const after = version.afterSunset === 'gone' ? '410' : '308 to its successor'
    sentences.push(`From ${new Date(sunsetAt).toISOString()} on it answers ${after}.`)
  }
  if (guide !== undefined) sentences.push(`What to do is at ${guide}.`)
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
export function withVersion(paths: Json, versions: Versions, version: Version, now: number): Json {
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
          ([status, response]) => [status, withNotice(response as Node, versions, version)],
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

/** Adds the header fields of a version to a response, if it is one of authenticated callers (it has `RateLimit`). */
export function withNotice(response: Json, versions: Versions, version: Version): Json {
  const { headers } = response as { readonly headers?: Node }
  if (headers === undefined || !('RateLimit' in headers)) return response
  const names: HeaderName[] = [...versionHeaders]
  if (isLeaving(version)) names.push('Deprecation', 'Sunset', 'Link')
  if (['header', 'media-type'].some((carrier) => versions.carriers.includes(carrier as never))) names.push('Vary')
  const all: Node = { ...headers, ...Object.fromEntries(names.map((name) => [name, refTo('headers', name)])) }
  const sorted = Object.fromEntries(
    Object.keys(all)
      .sort()
      .map((name) => [name, all[name]]),
  )
  return withType({ ...response, headers: sorted }, versions, version)
}

/** The parameters that choose a version. */
export function versionParameters({ carriers }: Versions, { name }: Version): Record<string, Json> {
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
  headers: Object.fromEntries(
    ['Cache-Control', 'Location', 'RateLimit', 'RateLimit-Policy', 'X-Request-Id'].map((name) => [
      name,
      refTo('headers', name),
    ]),
  ),
}
