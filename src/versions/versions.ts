/**
 * The versions of an interface: their catalogs, how requests name them, and when they end (VER-1, VER-3, VER-4).
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
  /** The catalog of the version; its `version` is this name. */
  readonly catalog: Catalog
  /** The beginning of its paths: `/v1`, or empty if the path is not a carrier. */
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
  /** The catalog of what is stored: the current version, with the catalogs of all versions. */
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

/** The beginning of a version's paths: `/v1`, or empty if the path is not a carrier. */
export function basePathOf({ carriers }: Pick<Versions, 'carriers'>, version: string): string {
  return carriers.includes('path') ? `/${version}` : ''
}

/** Whether a version is deprecated at a time. */
export function isDeprecated({ deprecatedAt }: Version, now: number): boolean {
  return deprecatedAt !== undefined && deprecatedAt <= now
}

/** Whether a version is retired at a time. */
export function isRetired({ sunsetAt }: Version, now: number): boolean {
  return sunsetAt !== undefined && sunsetAt <= now
}

/** Whether a version is or will be deprecated or retired. */
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

/** The media type that names a version: `application/vnd.studio.v1+json`. */
export function mediaTypeOf({ name, version }: Pick<Catalog, 'name' | 'version'>): string {
  return `application/vnd.${name}.${version}+json`
}
