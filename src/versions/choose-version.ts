/** Message + versions -> the version that a request is for (VER-1). A value: nothing is refused here, so that authentication comes first (CON-6). */

import { type Fault, fault, type Issue } from '../spec/faults.ts'
import { type Asked, firstSegment, type Named, namesIn, takeVersion, versionName } from './named-versions.ts'
import type { Version, Versions } from './versions.ts'

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

/**
 * Chooses the version. Where the path is a carrier it always says it, and the others may repeat it; where it is not,
 * and no other carrier is used, it is the current one.
 */
export function chooseVersion(versions: Versions, asked: Asked): Choice {
  const { all, current, carriers } = versions
  const inPath = carriers.includes('path')
  const fromPath = inPath ? versionInPath(versions, asked.path) : undefined
  const version = fromPath ?? current
  const known = fromPath !== undefined || !inPath
  const { query } = asked
  if (inPath && carriers.length === 1) {
    return { version, known, refusal: undefined, query, mediaType: undefined, byHeader: false }
  }
  const sent = carriers.includes('query') ? takeVersion(query) : { values: [], rest: query }
  const segment = inPath ? firstSegment(asked.path) : ''
  const named = namesIn(versions, asked, sent.values)
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

/** The version that a path begins with. Most are for the current one, whose name is compared and not cut out and looked up. */
function versionInPath({ all, current }: Versions, path: string): Version | undefined {
  const { basePath } = current
  const isCurrent = path.startsWith(basePath) && path.charAt(basePath.length) === '/'
  return isCurrent ? current : all.get(firstSegment(path))
}

/** What stands against a choice: a carrier that names several, one that is not there, or carriers that disagree. */
function refusalOf({ all }: Versions, named: readonly Named[]): Fault | undefined {
  const inRequest = named.filter((each) => each.in !== 'path')
  const repeated = [...Map.groupBy(inRequest, (each) => each.in).values()].filter((names) => names.length > 1)
  if (repeated.length > 0) {
    const errors = repeated.map(([each]) =>
      issue('VERSION_MISMATCH', each as Named, `${wordsFor(each as Named)} names several`),
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
