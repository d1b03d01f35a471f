/** What a request says of versions, wherever it says it: names as sent, nothing chosen yet. */
import { parseContentType } from '../http/fields/content-type.ts'
import { mediaRanges } from '../http/fields/media-ranges.ts'
import type { HttpRequest } from '../http/message.ts'
import type { Versions } from './versions.ts'

/** What may say which version is meant. */
export interface Asked {
  /** As in the request target, without query. */
  readonly path: string
  readonly query: string
  readonly headers: HttpRequest['headers']
}

/** Something that names a version, and where it stands. */
export interface Named {
  readonly name: string
  readonly in: 'path' | 'API-Version' | 'Accept' | 'Content-Type' | 'version'
}

/** What versions are called. */
export const versionName = /^v[1-9]\d{0,5}$/

/** The first segment of a path, decoded where it can be. */
export function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  const segment = path.slice(1, end === -1 ? undefined : end)
  return segment.includes('%') ? (decoded(segment) ?? segment) : segment
}

/** Everything beside the path that names a version; one place may name several. */
export function namesIn({ all, current, carriers }: Versions, { headers }: Asked, values: readonly string[]): Named[] {
  const named: Named[] = []
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

/** Makes the function that finds the version in a media type; `undefined` where it is none of ours. */
function vendorNames(name: string): (mediaType: string) => string | undefined {
  const prefix = `application/vnd.${name}.`
  return (mediaType) => {
    if (!mediaType.startsWith(prefix) || !mediaType.endsWith('+json')) return undefined
    const version = mediaType.slice(prefix.length, -'+json'.length)
    return versionName.test(version) ? version : undefined
  }
}

/**
 * The versions that `Accept` names with the greatest weight, of those that there are: who lists several takes any of them.
 * Where there is none of them, those that it names; other media types say nothing of versions, whatever their weight.
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

/** Takes the parameter `version` out of a query string; what else is wrong with it is seen when it is read. */
export function takeVersion(query: string): { readonly values: readonly string[]; readonly rest: string } {
  if (!query.includes('version') && !query.includes('%')) return { values: [], rest: query }
  const values: string[] = []
  const rest = query.split('&').filter((part) => {
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    if (decoded(name) !== 'version') return true
    values.push(equals === -1 ? '' : (decoded(part.slice(equals + 1)) ?? ''))
    return false
  })
  return { values, rest: rest.join('&') }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
