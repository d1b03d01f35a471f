/**
 * Request + versions -> the version that the request is for (VER-1). The result is a value: refusals are thrown later,
 * after authentication (CON-6).
 */

import { parseContentType } from 'resourced-contract/fields/content-type'
import { type Fault, fault, issue, type Place } from 'resourced-contract/spec/faults'
import { decodeTargetPart, type HttpRequest } from '../http/message.ts'
import { mediaRanges } from '../http/preferences.ts'
import type { Version, Versions } from './versions.ts'

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
 * Otherwise a request that names no version gets the current one.
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
