/**
 * What the server wrote into the page: the little that the console learns before anybody signs in. Everything else
 * comes from the public interface, with the caller's credential.
 */

/** A version of the interface. */
export interface VersionSetting {
  readonly name: string
  /** The beginning of its addresses, relative to the page's folder: `v2`, or empty if paths carry no version. */
  readonly base: string
  readonly current?: boolean
  /** When it becomes deprecated, and when it ends (VER-3): date-times. */
  readonly deprecated_at?: string
  readonly sunset?: string
  /** The URL of a migration guide. */
  readonly guide?: string
}

/** The OpenID provider that people sign in with. */
export interface OpenIdSetting {
  readonly issuer: string
  /** The interface that the tokens are for. */
  readonly audience: string
  readonly client_id: string
  readonly scope: string
}

export interface PageSettings {
  /** The declared name: `studio`. */
  readonly name: string
  readonly title: string
  readonly versions: readonly VersionSetting[]
  /** The version that the page shows first. */
  readonly version?: string
  /** How a request says its version where paths do not; `path` by default. */
  readonly carrier?: 'path' | 'header' | 'media-type' | 'query'
  readonly openid: OpenIdSetting | null
}

/** @throws Error if the page was not served by Resourced */
export function readPageSettings(page: Document): PageSettings {
  const content = page.querySelector<HTMLMetaElement>('meta[name="resourced"]')?.content
  if (content === undefined) throw new Error('This page has no settings. Open the /console of a running server.')
  return JSON.parse(content) as PageSettings
}

/** @throws Error if the server named no version */
export function currentVersion({ versions }: PageSettings): VersionSetting {
  const version = versions.find(({ current }) => current) ?? versions[0]
  if (version === undefined) throw new Error('The server named no version of its interface.')
  return version
}

/** The folder that the page lies in, with a slash at its end: `/`, or the prefix of a proxy. */
export const rootUrl = new URL('.', location.href).href
