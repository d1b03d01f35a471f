/**
 * The versions of an interface: their catalogs, when they end, and what responses say about that (VER-3, VER-4); the
 * version that a request is for (VER-1).
 */

import { formatHttpDate, formatLinks, type Link, parseContentType } from 'resourced-contract/fields/header-fields'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Carrier, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { deepFreeze, plainCopy } from 'resourced-contract/model/plain-copy'
import { type Catalog, resourceOfStored, storedResource } from 'resourced-contract/model/resource'
import { momentOf } from 'resourced-contract/model/time'
import { type Fault, fault, issue, type Place } from 'resourced-contract/spec/faults'
import { readBasePath } from '../http/base-path.ts'
import {
  decodeTargetPart,
  type HttpRequest,
  type HttpResponse,
  isFile,
  pathWithin,
  type ResponseHeaders,
} from '../http/message.ts'
import { mediaRanges } from '../http/preferences.ts'
import { catalogsOfVersions } from './version-mapping.ts'

export interface Version {
  /** `v1`. */
  readonly name: string
  /** The catalog of the version; its `version` is this name. */
  readonly catalog: Catalog
  /** The beginning of its paths: `/v1` or `/api/v1`, without the version if the path is not a carrier. */
  readonly basePath: string
  /** The media type that names the version; `undefined`: media types are not a carrier. */
  readonly vendorType: string | undefined
  /** When it becomes deprecated, in milliseconds since 1970. */
  readonly deprecatedAt: number | undefined
  /** When it is retired, in milliseconds since 1970. */
  readonly sunsetAt: number | undefined
  readonly afterSunset: 'gone' | 'redirect'
  /** The URL of a migration guide. */
  readonly guide: string | undefined
}

/** All versions together. */
export interface Versions {
  /** By name, the oldest first. */
  readonly all: ReadonlyMap<string, Version>
  /** The newest version, for requests that name none. It is never deprecated or retired. */
  readonly current: Version
  /** The stored catalog: the current version, with the catalogs of all versions. */
  readonly stored: Catalog
  readonly carriers: readonly Carrier[]
  /** The beginning of every address: `/api`, or empty. */
  readonly basePath: string
}

/**
 * Completes all versions of a declaration without mistakes (`checkDeclaration`).
 *
 * @param basePath the beginning of every address, such as `/api`; none by default
 * @throws ConfigurationError if it is no path of plain segments
 */
export function completeVersions(declaration: InterfaceDeclaration, basePath?: string): Versions {
  const current = completeCatalog(declaration)
  const versions = catalogsOfVersions(current, plainCopy(declaration) as InterfaceDeclaration)
  return versionsOf(declaration, deepFreeze({ ...current, versions }), readBasePath(basePath))
}

/** The versions of an interface that has only one, in the path. */
export function onlyVersion(catalog: Catalog): Versions {
  return versionsOf({}, catalog, '')
}

function versionsOf(
  declaration: Pick<InterfaceDeclaration, 'versions' | 'versionCarriers'>,
  catalog: Catalog,
  basePath: string,
): Versions {
  const declared = Object.entries(declaration.versions ?? { [catalog.version]: {} })
  const carriers: readonly Carrier[] = [...(declaration.versionCarriers ?? (['path'] as const))]
  const versions = declared.map(([name, { deprecated, sunset, afterSunset = 'gone', guide }]): Version => {
    const [deprecatedAt, sunsetAt] = [deprecated, sunset].map((text) => (text === undefined ? text : momentOf(text)))
    const vendorType = carriers.includes('media-type') ? mediaTypeOf({ name: catalog.name, version: name }) : undefined
    // The only version is the stored one.
    const own = declared.length > 1 ? (catalog.versions.get(name) ?? catalog) : catalog
    const path = carriers.includes('path') ? `${basePath}/${name}` : basePath
    return { name, catalog: own, basePath: path, vendorType, deprecatedAt, sunsetAt, afterSunset, guide }
  })
  return deepFreeze({
    all: new Map(versions.map((version) => [version.name, version])),
    current: versions.at(-1) as Version,
    stored: catalog,
    carriers,
    basePath,
  })
}

/** Whether a version is deprecated at a time. */
export function isDeprecated({ deprecatedAt }: Version, now: number): boolean {
  return deprecatedAt !== undefined && deprecatedAt <= now
}

/** Whether a version is retired at a time. */
export function isRetired({ sunsetAt }: Pick<Version, 'sunsetAt'>, now: number): boolean {
  return sunsetAt !== undefined && sunsetAt <= now
}

/** Whether a version is or will be deprecated or retired. */
export function isLeaving({ deprecatedAt, sunsetAt }: Pick<Version, 'deprecatedAt' | 'sunsetAt'>): boolean {
  return deprecatedAt !== undefined || sunsetAt !== undefined
}

/** The next version that is not retired itself; `undefined` for the current one. */
function successorOf({ all, current }: Versions, version: Version, now: number): Version | undefined {
  if (version === current) return undefined
  const names = [...all.keys()]
  const newer = names.slice(names.indexOf(version.name) + 1).map((name) => all.get(name) as Version)
  return newer.find((each) => !isRetired(each, now)) ?? current
}

/** The media type that names a version: `application/vnd.studio.v1+json`. */
export function mediaTypeOf({ name, version }: Pick<Catalog, 'name' | 'version'>): string {
  return `application/vnd.${name}.${version}+json`
}

/** The header fields about a version. */
export interface VersionNotice {
  readonly version: string
  /** `Deprecation` and `Sunset`; `undefined`: the version stays. */
  readonly end: Readonly<ResponseHeaders> | undefined
  /** More links for `Link`; empty: none. */
  readonly links: string
  /** More names for `Vary`. */
  readonly vary: readonly string[]
  /** The media type that replaces `application/json`. */
  readonly mediaType: string | undefined
}

/**
 * The header fields about a version at a time. `Sunset` is sent as soon as it is declared, because it warns of the
 * future (RFC 8594). `Deprecation` is sent once the version is deprecated.
 *
 * @param path that of the request
 * @param now milliseconds since 1970
 */
export function noticeOf(
  versions: Versions,
  { version, mediaType }: { readonly version: Version; readonly mediaType: string | undefined },
  path: string,
  now: number,
): VersionNotice {
  const vary = varyOf(versions)
  if (!isLeaving(version)) return { version: version.name, end: undefined, links: '', vary, mediaType }
  const end: ResponseHeaders = {}
  const { deprecatedAt = 0, sunsetAt, guide } = version
  const deprecated = isDeprecated(version, now)
  const links: Link[] = []
  if (deprecated) {
    // A structured field's date (RFC 9745 section 2.1, RFC 9651 section 3.3.7).
    end['Deprecation'] = `@${Math.floor(deprecatedAt / 1000)}`
    if (guide !== undefined) links.push({ target: guide, rel: 'deprecation' })
  }
  if (sunsetAt !== undefined) {
    end['Sunset'] = formatHttpDate(sunsetAt / 1000)
    if (guide !== undefined) links.push({ target: guide, rel: 'sunset' })
  }
  const successor = successorOf(versions, version, now)
  const target = successor && addressIn(versions, version, successor, path)
  if (target !== undefined && (deprecated || sunsetAt !== undefined)) links.push({ target, rel: 'successor-version' })
  return { version: version.name, end, links: formatLinks(links), vary, mediaType }
}

/** The request header fields that can name the version. */
function varyOf({ carriers }: Versions): readonly string[] {
  if (carriers.length === 1) {
    const [only] = carriers
    return only === 'header' ? byVersion : only === 'media-type' ? byAccept : nothing
  }
  return [...(carriers.includes('header') ? byVersion : []), ...(carriers.includes('media-type') ? byAccept : [])]
}

const nothing: readonly string[] = []
const byVersion = ['API-Version']
const byAccept = ['Accept']

/** Adds the notice to the header fields of a response. */
export function addNotice(
  { headers, body }: HttpResponse,
  { version, end, links, vary, mediaType }: VersionNotice,
): void {
  headers['API-Version'] = version
  if (end !== undefined) Object.assign(headers, end)
  if (links !== '') headers['Link'] = headers['Link'] ? `${headers['Link']}, ${links}` : links
  if (vary.length > 0) {
    const names = headers['Vary']?.split(', ') ?? []
    headers['Vary'] = [...new Set([...names, ...vary])].join(', ')
  }
  // Files have the same media type in every version.
  if (mediaType !== undefined && headers['Content-Type'] === 'application/json' && !isFile(body)) {
    headers['Content-Type'] = mediaType
  }
}

/**
 * The response to a request for a retired version (VER-4): a redirect, if it is declared and the address exists in the
 * successor.
 *
 * @param asked `path` and `query` of the request, `query` without the version; `movable`: the address exists, and no
 *   header field named the version, which clients would send again
 * @throws Fault VERSION_RETIRED
 */
export function retiredResponse(
  versions: Versions,
  version: Version,
  asked: { readonly path: string; readonly query: string; readonly movable: boolean },
  now: number,
): HttpResponse {
  const successor = successorOf(versions, version, now) ?? versions.current
  const { path, query, movable } = asked
  const address = addressIn(versions, version, successor, path)
  if (version.afterSunset === 'redirect' && movable && address !== undefined) {
    const target = query === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${query}`
    return { status: 308, headers: { Location: target, 'Cache-Control': 'no-store' }, body: undefined }
  }
  const since = new Date(version.sunsetAt ?? now).toISOString().slice(0, 10)
  const guide = version.guide === undefined ? '' : ` What to do is at ${version.guide}.`
  const { carriers } = versions
  const isElsewhere = address !== undefined && (carriers.includes('path') || carriers.includes('query'))
  const at = isElsewhere ? `, at ${address}` : ''
  const detail = `Version ${version.name} was retired on ${since}. Its successor is ${successor.name}${at}.${guide}`
  throw fault('VERSION_RETIRED', { detail })
}

/**
 * The same address in another version, without query, whose fields may have other names. `undefined`: that version does
 * not have the collection.
 */
function addressIn(versions: Versions, from: Version, to: Version, path: string): string | undefined {
  const isInPath = versions.carriers.includes('path')
  const within = pathWithin(versions.basePath, path)
  if (within === undefined) return undefined
  const [, ...segments] = within.split('/')
  const moved = (isInPath ? segments.slice(1) : segments).map((segment, index) =>
    // A collection, or one nested under a record.
    index === 0 || index === 2 ? nameIn(from.catalog, to.catalog, segment) : segment,
  )
  if (moved.includes(undefined)) return undefined
  const address = [to.basePath, ...moved].join('/')
  // With header fields as the only carriers, all versions have the same address.
  return !isInPath && versions.carriers.includes('query') ? `${address}?version=${to.name}` : address
}

/** What another version calls a collection; other names are the same in every version. */
function nameIn(from: Catalog, to: Catalog, name: string): string | undefined {
  const resource = from.resources.get(name)
  return resource === undefined ? name : resourceOfStored(to, storedResource(resource).name)?.name
}

/** The parts of a request that can name a version. */
export interface VersionedRequest {
  /** As in the request target after the base path, without query. */
  readonly path: string
  readonly query: string
  readonly headers: HttpRequest['headers']
}

/** The name of a version, and where the request has it. */
interface NamedVersion {
  readonly name: string
  readonly in: 'path' | 'API-Version' | 'Accept' | 'Content-Type' | 'version'
}

/** The form of version names. */
const versionName = /^v[1-9]\d{0,5}$/

/** The version that a request is for. */
export interface Choice {
  /** Its catalog has the request's address; the current version if the request names no existing one. */
  readonly version: Version
  /** Whether the request is for this version: `false` if its path names no existing version, or with a refusal. */
  readonly known: boolean
  /** Why the version is unknown or ambiguous. It is thrown after authentication. */
  readonly refusal: Fault | undefined
  /** The query string without the version. */
  readonly query: string
  /** The media type in `Accept` that named the version; the response has it too. */
  readonly mediaType: string | undefined
  /** Whether a header field named the version: a client that follows a redirect sends it again. */
  readonly byHeader: boolean
}

/**
 * Chooses the version. If the path is a carrier, the path decides and other carriers may repeat the same name.
 * Otherwise a request that names no version gets the current one. A refusal is thrown later, after authentication
 * (CON-6).
 */
export function chooseVersion(versions: Versions, request: VersionedRequest): Choice {
  const { all, current, carriers } = versions
  const inPath = carriers.includes('path')
  const fromPath = inPath ? versionInPath(versions, request.path) : undefined
  const version = fromPath ?? current
  const known = fromPath !== undefined || !inPath
  const { query } = request
  if (inPath && carriers.length === 1) {
    return { version, known, refusal: undefined, query, mediaType: undefined, byHeader: false }
  }
  const sent = carriers.includes('query') ? takeVersion(query) : { values: [], rest: query }
  const segment = inPath ? firstSegment(request.path) : ''
  const named = namesIn(versions, request, sent.values)
  const refusal = refusalOf(
    versions,
    inPath && versionName.test(segment) ? [{ name: segment, in: 'path' }, ...named] : named,
  )
  if (refusal !== undefined) {
    return { version, known: false, refusal, query: sent.rest, mediaType: undefined, byHeader: false }
  }
  const chosen = all.get(named[0]?.name ?? '') ?? version
  return {
    version: inPath ? version : chosen,
    known,
    refusal,
    query: sent.rest,
    mediaType: named.some((each) => each.in === 'Accept') ? chosen.vendorType : undefined,
    byHeader: named.some((each) => each.in !== 'version'),
  }
}

/** The version that a path begins with. Most requests are for the current one, so its name is compared first. */
function versionInPath({ all, current }: Versions, path: string): Version | undefined {
  const { name } = current
  const isCurrent = path.startsWith(name, 1) && path.charAt(name.length + 1) === '/'
  return isCurrent ? current : all.get(firstSegment(path))
}

/** Why no version can be chosen: a carrier names several or an unknown one, or carriers disagree. */
function refusalOf({ all }: Versions, named: readonly NamedVersion[]): Fault | undefined {
  const inRequest = named.filter((each) => each.in !== 'path')
  const repeated = [...Map.groupBy(inRequest, (each) => each.in).values()].filter((names) => names.length > 1)
  if (repeated.length > 0) {
    return fault('VERSION_MISMATCH', { errors: repeated.map(([each]) => issue('severalVersions', placeOf(each!))) })
  }
  const unknown = inRequest.filter(({ name }) => !all.has(name))
  if (unknown.length > 0) {
    // Input is never repeated, because it may be anything.
    const detail = `There is no such version. There ${all.size === 1 ? 'is' : 'are'} ${listOf([...all.keys()])}.`
    return fault('UNKNOWN_VERSION', { detail, errors: unknown.map((each) => issue('UNKNOWN_VERSION', placeOf(each))) })
  }
  if (named.every(({ name }) => name === named[0]?.name)) return undefined
  const said = named.map((each) => `${wordsFor(each)} says ${each.name}`).join(', ')
  const errors = inRequest.map((each) => issue('saysVersion', { ...placeOf(each), name: each.name }))
  return fault('VERSION_MISMATCH', { detail: `T${said.slice(1)}. Name one version, in one place.`, errors })
}

function wordsFor(named: NamedVersion): string {
  if (named.in === 'path') return 'the path'
  return named.in === 'version' ? 'the parameter version' : `the header ${named.in}`
}

function placeOf({ in: place }: NamedVersion): Place {
  return place === 'version' ? { parameter: place } : { header: place }
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Every version name outside the path. One place may have several. */
function namesIn(
  { all, current, carriers }: Versions,
  { headers }: VersionedRequest,
  values: readonly string[],
): NamedVersion[] {
  const named: NamedVersion[] = []
  const header = headers['api-version']
  if (carriers.includes('header') && header !== undefined) {
    named.push(...header.split(',').map((name) => ({ name: name.trim(), in: 'API-Version' }) as const))
  }
  if (carriers.includes('media-type')) {
    const nameOf = vendorNames(current.catalog.name)
    const accepted = acceptedNames(all, headers['accept'] ?? '', nameOf)
    named.push(...accepted.map((name) => ({ name, in: 'Accept' }) as const))
    const sent = headers['content-type']
    const name = sent === undefined ? undefined : nameOf(parseContentType(sent)?.mediaType ?? '')
    if (name !== undefined) named.push({ name, in: 'Content-Type' })
  }
  named.push(...values.map((name) => ({ name, in: 'version' }) as const))
  return named
}

/** A function that finds the version in a media type; it returns `undefined` for media types of others. */
function vendorNames(name: string): (mediaType: string) => string | undefined {
  const prefix = `application/vnd.${name}.`
  return (mediaType) => {
    if (!mediaType.startsWith(prefix) || !mediaType.endsWith('+json')) return undefined
    const version = mediaType.slice(prefix.length, -'+json'.length)
    return versionName.test(version) ? version : undefined
  }
}

/**
 * The existing versions that `Accept` names with the greatest weight; if none of them exists, the names with the
 * greatest weight. Media types without a version do not count.
 */
function acceptedNames(
  all: Versions['all'],
  accept: string,
  nameOf: (mediaType: string) => string | undefined,
): readonly string[] {
  const wanted = mediaRanges(accept).flatMap(({ range, weight }) => {
    const name = weight > 0 ? nameOf(range) : undefined
    return name === undefined ? [] : [{ name, weight }]
  })
  const there = wanted.filter(({ name }) => all.has(name))
  const considered = there.length > 0 ? there : wanted
  const most = considered.reduce((highest, { weight }) => Math.max(highest, weight), 0)
  return [...new Set(considered.filter(({ weight }) => weight === most).map(({ name }) => name))]
}

/**
 * Takes the parameter `version` out of a query string. Other mistakes in the query string are found when it is read.
 */
function takeVersion(query: string): { readonly values: readonly string[]; readonly rest: string } {
  if (!query.includes('version') && !query.includes('%')) return { values: [], rest: query }
  const values: string[] = []
  const rest = query.split('&').filter((part) => {
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    if (decodeTargetPart(name) !== 'version') return true
    values.push(equals === -1 ? '' : (decodeTargetPart(part.slice(equals + 1)) ?? ''))
    return false
  })
  return { values, rest: rest.join('&') }
}

/** The first segment of a path, decoded where it can be. */
function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  const segment = path.slice(1, end === -1 ? undefined : end)
  return segment.includes('%') ? (decodeTargetPart(segment) ?? segment) : segment
}
