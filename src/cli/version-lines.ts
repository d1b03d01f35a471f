/** What `serve` says of versions, where there are several. */
import { isDeprecated, isRetired, type Version, type Versions } from '../versions/versions.ts'

/**
 * A line for each version: where it is, or how it is asked for, and whether it is to go.
 *
 * @param origin where the server is, without a slash at the end
 * @param now milliseconds since 1970
 */
export function versionLines(versions: Versions, origin: string, now: number): string[] {
  if (versions.all.size === 1) return []
  return [...versions.all.values()].map((version) => {
    const place = `${origin}${version.basePath || '/'}`
    return `  ${version.name}: ${place}${howToAsk(versions, version)}${stateOf(versions, version, now)}`
  })
}

function howToAsk({ carriers, current }: Versions, { name, catalog }: Version): string {
  if (carriers.includes('path')) return ''
  const ways: Readonly<Record<string, string>> = {
    header: `API-Version: ${name}`,
    'media-type': `Accept: application/vnd.${catalog.name}.${name}+json`,
    query: `?version=${name}`,
  }
  const words = carriers.map((carrier) => ways[carrier]).join(' or ')
  return name === current.name ? `, with ${words} or without` : `, with ${words}`
}

function stateOf({ current }: Versions, version: Version, now: number): string {
  const { sunsetAt, deprecatedAt, afterSunset } = version
  const day = (moment: number) => new Date(moment).toISOString().slice(0, 10)
  if (version === current) return ' (current)'
  if (sunsetAt !== undefined && isRetired(version, now)) {
    return ` (retired since ${day(sunsetAt)}: ${afterSunset === 'gone' ? '410' : 'redirects'})`
  }
  const until = sunsetAt === undefined ? '' : `, retired from ${day(sunsetAt)}`
  if (deprecatedAt === undefined) return until === '' ? '' : ` (${until.slice(2)})`
  return isDeprecated(version, now)
    ? ` (deprecated since ${day(deprecatedAt)}${until})`
    : ` (deprecated from ${day(deprecatedAt)}${until})`
}
