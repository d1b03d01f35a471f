/** Message + versions -> the version that a request is for (VER-1). A value: nothing is refused here, so that authentication comes first (CON-6). */
import { parseContentType } from '../http/fields/content-type.ts'
import { mediaRanges } from '../http/fields/media-ranges.ts'
import type { HttpRequest } from '../http/message.ts'
import { mediaTypeOf, type Version, type Versions } from '../model/versions.ts'
import { type Fault, fault, type Issue } from '../spec/faults.ts'

/** What may say which version is meant. */
export interface Asked {
  /** As in the request target, without query. */
  readonly path: string
  readonly query: string
  readonly headers: HttpRequest['headers']
}

/** The version that a request is for. */
export interface Choice {
  /** Where its address is looked up; the current one where nothing names one that there is. */
  readonly version: Version
  /** Whether the request is for that one indeed: not where the path begins with none that there is, or there is a refusal. */
  readonly known: boolean
  /** Why it cannot be said which one is meant. It is thrown once the caller is known. */
  readonly refusal: Fault | undefined
  /** The query string without the version. */
  readonly query: string
  /** The media type that `Accept` named the version by: the answer has it too. */
  readonly mediaType: string | undefined
  /** Whether a header field named it: who follows a redirect sends the same again. */
  readonly byHeader: boolean
}

/** Something that names a version, and where it stands. */
interface Named {
  readonly name: string
  readonly in: 'path' | 'API-Version' | 'Accept' | 'Content-Type' | 'version'
}

/**
 * Chooses the version. Where the path is a carrier it always says it, and the others may repeat it; where it is not,
 * and no other carrier is used, it is the current one.
 */
export function chooseVersion(versions: Versions, asked: Asked): Choice {
  const { all, current, carriers } = versions
  const inPath = carriers.includes('path')
  const segment = inPath ? firstSegment(asked.path) : ''
  const fromPath = all.get(segment)
  const version = fromPath ?? current
  const known = fromPath !== undefined || !inPath
  const { query } = asked
  if (inPath && carriers.length === 1) {
    return { version, known, refusal: undefined, query, mediaType: undefined, byHeader: false }
  }
  const sent = carriers.includes('query') ? takeVersion(query) : { values: [], rest: query }
  const named = namesIn(versions, asked, sent.values)
  const refusal = refusalOf(versions, inPath && form.test(segment) ? [{ name: segment, in: 'path' }, ...named] : named)
  if (refusal !== undefined) {
    return { version, known: false, refusal, query: sent.rest, mediaType: undefined, byHeader: false }
  }
  const chosen = all.get(named[0]?.name ?? '') ?? version
  return {
    version: inPath ? version : chosen,
    known,
    refusal,
    query: sent.rest,
    mediaType: named.some((each) => each.in === 'Accept') ? mediaTypeOf(chosen.catalog) : undefined,
    byHeader: named.some((each) => each.in !== 'version'),
  }
}

const form = /^v[1-9]\d{0,5}$/

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  const segment = path.slice(1, end === -1 ? undefined : end)
  return segment.includes('%') ? (decoded(segment) ?? segment) : segment
}

/** Everything beside the path that names a version; one place may name several. */
function namesIn({ all, current, carriers }: Versions, { headers }: Asked, values: readonly string[]): Named[] {
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
    return form.test(version) ? version : undefined
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
function takeVersion(query: string): { readonly values: readonly string[]; readonly rest: string } {
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

/** What stands against a choice: a carrier that names several, one that is not there, or carriers that disagree. */
function refusalOf({ all }: Versions, named: readonly Named[]): Fault | undefined {
  const inRequest = named.filter((each) => each.in !== 'path')
  const repeated = inRequest.filter((each, index) => inRequest.findIndex((other) => other.in === each.in) < index)
  if (repeated.length > 0) {
    const places = new Map(repeated.map((each) => [each.in, each]))
    const errors = [...places.values()].map((each) =>
      issue('VERSION_MISMATCH', each, `${wordsFor(each)} names several`),
    )
    return fault('VERSION_MISMATCH', { detail: `${errors[0]?.message} Name one.`, errors })
  }
  const unknown = inRequest.filter(({ name }) => !all.has(name))
  if (unknown.length > 0) {
    // What was sent is not repeated: it may be anything.
    const detail = `There is no such version. There ${all.size === 1 ? 'is' : 'are'} ${listOf([...all.keys()])}.`
    const errors = unknown.map((each) => issue('UNKNOWN_VERSION', each, `${wordsFor(each)} names none that there is`))
    return fault('UNKNOWN_VERSION', { detail, errors })
  }
  if (named.every(({ name }) => name === named[0]?.name)) return undefined
  const said = sentence(named.map((each) => `${wordsFor(each)} says ${each.name}`).join(', '))
  const detail = `${said} Name one version, in one place.`
  const errors = inRequest.map((each) => issue('VERSION_MISMATCH', each, `${wordsFor(each)} says ${each.name}`))
  return fault('VERSION_MISMATCH', { detail, errors })
}

function wordsFor(named: Named): string {
  if (named.in === 'path') return 'the path'
  return named.in === 'version' ? 'the parameter version' : `the header ${named.in}`
}

function issue(code: 'VERSION_MISMATCH' | 'UNKNOWN_VERSION', { in: place }: Named, message: string): Issue {
  const where = place === 'version' ? { parameter: place } : { header: place }
  return { code, message: sentence(message), ...where }
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
