/** Two interfaces compared, version by version: what would break clients of the old one, and what would not (VER-5). */
import type { Catalog } from '../model/resource.ts'
import { compareCatalogs } from './catalogs.ts'
import { compareDocuments, type Served } from './documents.ts'
import type { Difference, Finding } from './finding.ts'
import { type Kind, type Severity, severityOf } from './kinds.ts'
import { merged } from './merge.ts'
import type { Document } from './openapi/document.ts'
import { remedyOf } from './remedies.ts'
import { messageOf } from './words.ts'

/** One version of an interface, as it is served. */
export interface ServedVersion {
  /** What its clients see. */
  readonly document: Document
  /** Such as `v1`; left out where it is not known, or the document holds several. */
  readonly version?: string
  /** The version is not in the paths but elsewhere, such as in a header. */
  readonly pathless?: boolean
  /** Where it was declared: what the document does not tell. */
  readonly catalog?: Catalog
  /** From when on it is no longer served: milliseconds since 1970. */
  readonly sunset?: number
}

/**
 * Compares an interface with a newer one: each version that the old one serves with the same one as the new one serves it.
 *
 * @param old every version that the old one serves
 * @param now every version that the new one serves; of an older version what `changes` make of it
 * @param at the present: milliseconds since 1970. A version that is gone breaks nobody after its sunset
 * @returns what breaks first
 * @throws DocumentError where a document cannot be compared
 */
export function compareInterfaces(old: readonly ServedVersion[], now: readonly ServedVersion[], at: number): Finding[] {
  const retired = (version: string) =>
    [...old, ...now].some((each) => each.version === version && each.sunset !== undefined && each.sunset <= at)
  const differences = old.flatMap((was): Difference[] => {
    const is = sameIn(now, was)
    if (is === undefined) return [changed(retired(was.version ?? '') ? 'version-retired' : 'version-removed', was, now)]
    const declared =
      was.catalog === undefined || is.catalog === undefined ? [] : compareCatalogs(was.catalog, is.catalog)
    return [...compareDocuments(servedOf(was), servedOf(is), retired), ...declared]
  })
  const come = now.filter((is) => sameIn(old, is) === undefined).map((is) => changed('version-added', is, old))
  return withoutSaid(merged([...differences, ...come]))
    .map(judged)
    .sort(byWeight)
}

/** The same version elsewhere. Where it is not known which one a document is, its paths tell. */
function sameIn(others: readonly ServedVersion[], served: ServedVersion): ServedVersion | undefined {
  const same = others.find(({ version }) => version === served.version)
  return same ?? others.findLast(({ version }) => version === undefined || served.version === undefined)
}

/** A version that came or went as a whole. */
function changed(kind: Kind, { version }: ServedVersion, others: readonly ServedVersion[]): Difference {
  const names = others.flatMap((each) => each.version ?? [])
  const place = { in: kind === 'version-added' ? 'new' : 'old', of: 'openapi', pointer: '' } as const
  return { kind, version, resources: [], operations: [], names, places: [place] }
}

function servedOf({ document, version, pathless }: ServedVersion): Served {
  return { document, ...(pathless === true && { version }) }
}

/** Codes that a declared difference brings: it says why, and the document only that. */
function withoutSaid(differences: readonly Difference[]): Difference[] {
  const said = new Set(
    differences.flatMap(({ kind, names = [] }) => [
      ...(kind === 'rule-added' ? names : []),
      ...(kind === 'unique-added' ? ['DUPLICATE_VALUE'] : []),
      ...(kind === 'transitions-removed' ? ['INVALID_TRANSITION'] : []),
    ]),
  )
  return differences.flatMap((each) => {
    if (each.kind !== 'code-added' || each.names === undefined || each.names.length === 0) return [each]
    const names = each.names.filter((name) => !said.has(name))
    return names.length === 0 ? [] : [{ ...each, names }]
  })
}

const rules: Readonly<Record<Severity, string>> = {
  breaking: 'spec 9.3, VER-5',
  review: 'spec 9.3, VER-5',
  compatible: 'spec 9.4',
}
const otherRules: Partial<Readonly<Record<Kind, string>>> = {
  'version-retired': 'spec 9.7',
  'operation-deprecated': 'spec 9.6',
  'field-deprecated': 'spec 9.6',
}

function judged(difference: Difference): Finding {
  const severity = severityOf(difference.kind, difference.direction)
  return {
    severity,
    rule: otherRules[difference.kind] ?? rules[severity],
    ...difference,
    message: messageOf(difference),
    remedy: remedyOf(difference, severity),
  }
}

const weights: readonly Severity[] = ['breaking', 'review', 'compatible']

function byWeight(left: Finding, right: Finding): number {
  return weights.indexOf(left.severity) - weights.indexOf(right.severity)
}
