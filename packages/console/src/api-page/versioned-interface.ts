/** One version of the interface: where its addresses begin, and how a request names it. */
import { type PageSettings, rootUrl, type VersionSetting } from '../console/interface/page-settings.ts'

/** The part of a request that can name a version. */
export interface NamedRequest {
  readonly url: string
  readonly headers: Record<string, string>
}

/** A version, as requests are sent to it. */
export interface VersionedInterface {
  /** The beginning of its addresses, without a slash at the end. */
  readonly base: string
  /** Adds the name of the version to a request, where paths do not have it. */
  name(request: NamedRequest): NamedRequest
}

/** Finds how requests are sent to a version. */
export function versionedInterface(
  { name: interfaceName, carrier }: PageSettings,
  { name: version, base }: VersionSetting,
): VersionedInterface {
  return {
    base: new URL(base, rootUrl).href.replace(/\/$/, ''),
    name({ url, headers }) {
      if (carrier === 'header') return { url, headers: { ...headers, 'API-Version': version } }
      if (carrier === 'query') return { url: `${url}${url.includes('?') ? '&' : '?'}version=${version}`, headers }
      if (carrier !== 'media-type') return { url, headers }
      const { accept: _, ...others } = headers
      return { url, headers: { ...others, Accept: `application/vnd.${interfaceName}.${version}+json` } }
    },
  }
}
