/**
 * The versions of an interface: which there are, what carries them in a request, and when each of them ends (VER-1,
 * VER-3, VER-4).
 */
import { completeCatalog } from '../model/catalog.ts'
import type { Carrier, InterfaceDeclaration } from '../model/declaration.ts'
import { deepFreeze, plainCopy } from '../model/plain-copy.ts'
import type { Catalog } from '../model/resource.ts'
import { momentOf } from '../model/time.ts'
import { catalogsOfVersions } from './version-mapping.ts'

/** One version of the interface. */
export interface Version {
  /** `v1`. */
  readonly name: string
  /** What is served under it; its `version` is this name. */
  readonly catalog: Catalog
  /** What comes before collections in its addresses: `/v1`, or nothing where the path does not carry it. */
  readonly basePath: string
  /** The media type that means it, where media types carry versions. */
  readonly vendorType: string | undefined
  /** From when on it is deprecated, in milliseconds since 1970. */
  readonly deprecatedAt: number | undefined
  /** From when on it is retired, in milliseconds since 1970. */
  readonly sunsetAt: number | undefined
  readonly afterSunset: 'gone' | 'redirect'
  /** The address of a page on what to do about it. */
  readonly guide: string | undefined
}

/** All versions together. */
export interface Versions {
  /** By name, the oldest first. */
  readonly all: ReadonlyMap<string, Version>
  /** The newest: what those get who name none. It neither is deprecated nor ends. */
  readonly current: Version
  /** What is stored: the records of all versions, in the words of the current one. */
  readonly stored: Catalog
  readonly carriers: readonly Carrier[]
}

/** Completes all versions of a declaration without mistakes (`checkDeclaration`). */
export function completeVersions(declaration: InterfaceDeclaration): Versions {
  const current = completeCatalog(declaration)
  const versions = catalogsOfVersions(current, plainCopy(declaration) as InterfaceDeclaration)
  return versionsOf(declaration, deepFreeze({ ...current, versions }))
}

/** The versions of an interface that has only one, in the path. */
export function onlyVersion(catalog: Catalog): Versions {
  return versionsOf({}, catalog)
}

function versionsOf(
  declaration: Pick<InterfaceDeclaration, 'versions' | 'versionCarriers'>,
  catalog: Catalog,
): Versions {
  const declared = Object.entries(declaration.versions ?? { [catalog.version]: {} })
  const carriers: readonly Carrier[] = [...(declaration.versionCarriers ?? (['path'] as const))]
  const versions = declared.map(([name, { deprecated, sunset, afterSunset = 'gone', guide }]): Version => {
    const [deprecatedAt, sunsetAt] = [deprecated, sunset].map((text) => (text === undefined ? text : momentOf(text)))
    const basePath = basePathOf({ carriers }, name)
    const vendorType = carriers.includes('media-type') ? mediaTypeOf({ name: catalog.name, version: name }) : undefined
    // The only version is what is stored.
    const own = declared.length > 1 ? (catalog.versions.get(name) ?? catalog) : catalog
    return { name, catalog: own, basePath, vendorType, deprecatedAt, sunsetAt, afterSunset, guide }
  })
  return deepFreeze({
    all: new Map(versions.map((version) => [version.name, version])),
    current: versions.at(-1) as Version,
    stored: catalog,
    carriers,
  })
}

/** What comes before collections in the addresses of a version: `/v1`, or nothing where the path does not carry it. */
export function basePathOf({ carriers }: Pick<Versions, 'carriers'>, version: string): string {
  return carriers.includes('path') ? `/${version}` : ''
}

/** Whether a version is deprecated at a moment. */
export function isDeprecated({ deprecatedAt }: Version, now: number): boolean {
  return deprecatedAt !== undefined && deprecatedAt <= now
}

/** Whether a version is over at a moment. */
export function isRetired({ sunsetAt }: Version, now: number): boolean {
  return sunsetAt !== undefined && sunsetAt <= now
}

/** Whether it is declared that a version will not stay, be that moment past or to come. */
export function isLeaving({ deprecatedAt, sunsetAt }: Pick<Version, 'deprecatedAt' | 'sunsetAt'>): boolean {
  return deprecatedAt !== undefined || sunsetAt !== undefined
}

/** The next version that is not retired itself; `undefined` for the current one. */
export function successorOf({ all, current }: Versions, version: Version, now: number): Version | undefined {
  if (version === current) return undefined
  const names = [...all.keys()]
  const newer = names.slice(names.indexOf(version.name) + 1).map((name) => all.get(name) as Version)
  return newer.find((each) => !isRetired(each, now)) ?? current
}

/** The media type that means a version: `application/vnd.studio.v1+json`. */
export function mediaTypeOf({ name, version }: Pick<Catalog, 'name' | 'version'>): string {
  return `application/vnd.${name}.${version}+json`
}
