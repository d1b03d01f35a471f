/**
 * Compares two interfaces, version by version: which differences break clients of the old one, and which do not
 * (VER-5). The same difference in many places is reported once, with all its operations, and without its consequences.
 */
import { canonicalJson } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import { compareDeclarations } from './compare-declarations.ts'
import { compareOperations } from './compare-operations.ts'
import { type PairResult, schemaComparison } from './compare-schemas.ts'
import { type Difference, type Finding, judge, type Kind, severities, severityOf } from './finding.ts'
import { type Document, stepBudget } from './openapi-document.ts'
import { type Operation, operationsOf } from './read-operations.ts'
import { schemaReader } from './read-schemas.ts'

export interface ServedVersion {
  readonly document: Document
  /** Such as `v1`; left out where it is unknown, or the document has several. */
  readonly version?: string
  /** The version is not in the paths but elsewhere, such as in a header. */
  readonly pathless?: boolean
  /** The declaration that the document was generated from. */
  readonly catalog?: Catalog
  /** From when on it is no longer served: milliseconds since 1970. */
  readonly sunset?: number
}

/**
 * Compares an interface with a newer one: each version that the old one serves with the same version of the new one.
 *
 * @param old every version that the old one serves
 * @param now every version that the new one serves; older versions as their `changes` make them
 * @param at the present, in milliseconds since 1970: a version may be removed after its sunset
 * @returns breaking findings first
 * @throws DocumentError where a document cannot be compared
 */
export function compareInterfaces(old: readonly ServedVersion[], now: readonly ServedVersion[], at: number): Finding[] {
  const isRetired = (version: string) =>
    [...old, ...now].some((each) => each.version === version && each.sunset !== undefined && each.sunset <= at)
  const differences = old.flatMap((was): Difference[] => {
    const is = sameIn(now, was)
    if (is === undefined) {
      return [wholeVersion(isRetired(was.version ?? '') ? 'version-retired' : 'version-removed', was, now)]
    }
    const declared = was.catalog && is.catalog ? compareDeclarations(was.catalog, is.catalog) : []
    return [...compareDocuments(was, is, isRetired), ...declared]
  })
  const added = now.filter((is) => sameIn(old, is) === undefined).map((is) => wholeVersion('version-added', is, old))
  return mergeDifferences([...differences, ...added])
    .map(judge)
    .sort((left, right) => severities.indexOf(left.severity) - severities.indexOf(right.severity))
}

/** The same version elsewhere. A document of an unknown version is compared by its paths. */
function sameIn(others: readonly ServedVersion[], served: ServedVersion): ServedVersion | undefined {
  const same = others.find(({ version }) => version === served.version)
  return same ?? others.findLast(({ version }) => version === undefined || served.version === undefined)
}

function wholeVersion(kind: Kind, { version }: ServedVersion, others: readonly ServedVersion[]): Difference {
  const names = others.flatMap((each) => each.version ?? [])
  const place = { in: kind === 'version-added' ? 'new' : 'old', of: 'openapi', pointer: '' } as const
  return { kind, version, resources: [], operations: [], names, places: [place] }
}

type IsRetired = (version: string) => boolean

function compareDocuments(old: ServedVersion, now: ServedVersion, isRetired: IsRetired): Difference[] {
  const read = ({ document, version, pathless }: ServedVersion) =>
    operationsOf(document, pathless === true ? version : undefined)
  const [was, is] = [read(old), read(now)]
  const both = [...was.values()].flatMap((each) => {
    const after = is.get(each.key)
    return after === undefined ? [] : [[each, after] as const]
  })
  return [
    ...compareAddresses([...was.values()], is, 'old', isRetired),
    ...compareAddresses([...is.values()], was, 'new', isRetired),
    ...compareCommon(old.document, now.document, both),
  ]
}

/** What only one side has, reported once for a whole version, a whole resource, or an address with its methods. */
function compareAddresses(
  own: readonly Operation[],
  others: ReadonlyMap<string, Operation>,
  side: 'old' | 'new',
  isRetired: IsRetired,
): Difference[] {
  const change = side === 'old' ? 'removed' : 'added'
  const versions = new Set([...others.values()].map((each) => each.version))
  const resources = new Set([...others.values()].map((each) => `${each.version} ${each.resource}`))
  const only = Map.groupBy(
    own.filter(({ key }) => !others.has(key)),
    (each) => each.version,
  )
  const differs = (kind: Kind, [first, ...more]: readonly Operation[], about: Partial<Difference>): Difference => ({
    ...{ kind, version: first!.version, resources: [first!.resource] },
    operations: [first!, ...more].map((each) => each.name),
    places: [{ in: side, of: 'openapi', pointer: first!.pointer }],
    ...about,
  })
  return [...only].flatMap(([version, operations]) => {
    if (version !== '' && !versions.has(version)) {
      const kind = side === 'old' && isRetired(version) ? 'version-retired' : (`version-${change}` as const)
      return [differs(kind, operations, { resources: [], names: [...versions].filter((each) => each !== '').sort() })]
    }
    return [...Map.groupBy(operations, (each) => each.resource)].flatMap(([resource, some]) => {
      if (!resources.has(`${version} ${resource}`) && some.length > 1) return [differs(`resource-${change}`, some, {})]
      return [...Map.groupBy(some, (each) => each.path).values()].map((group) =>
        differs(`operation-${change}`, group, {}),
      )
    })
  })
}

/** Compares the operations that both have. A difference in a schema concerns every operation that leads to it. */
function compareCommon(
  old: Document,
  now: Document,
  operations: readonly (readonly [was: Operation, is: Operation])[],
): Difference[] {
  const spend = stepBudget()
  const schemas = schemaComparison(schemaReader(old, spend), schemaReader(now, spend), spend)
  const compared = operations.map(([was, is]) => {
    const { differences, pairs } = compareOperations(was, is)
    return { operation: was, differences, results: pairs.map(schemas.add) }
  })
  schemas.run()
  const concerned = new Map<PairResult, Operation[]>()
  for (const { operation, results } of compared) {
    for (const result of schemas.different(results)) {
      spend(1)
      const known = concerned.get(result)
      if (known === undefined) concerned.set(result, [operation])
      else known.push(operation)
    }
  }
  const inSchemas = [...concerned].flatMap(([{ differences }, by]) => {
    const resources = [...new Set(by.map(({ resource }) => resource))].sort()
    const who = { version: by[0]?.version ?? '', resources, operations: by.map(({ name }) => name) }
    return differences.map((each): Difference => ({ ...each, ...who }))
  })
  return [...compared.flatMap(({ differences }) => differences), ...inSchemas]
}

// Differences of whole operations: the same one in several resources is one change.
const ofAnyResource: readonly Kind[] = [
  'security-added', 'security-relaxed', 'header-removed', 'header-added', 'media-type-removed', 'media-type-added',
  'status-removed', 'status-added', 'part-status-added', 'code-removed', 'code-added',
] // biome-ignore format: two rows read best

/** Joins equal differences, and leaves out those that follow from others. */
function mergeDifferences(differences: readonly Difference[]): Difference[] {
  const inOnePlace = joinBy(differences, (each) => [subjectOf(each), each.direction, each.places])
  const inOneResource = joinBy(inOnePlace, (each) => {
    const { kind, resources, operations, direction } = each
    const whole = resources.length === 0 ? operations : resources
    const where = ofAnyResource.includes(kind) ? [] : isAddress(each) ? [...whole, ...operations] : whole
    return [subjectOf(each), direction, where]
  })
  return withoutConsequences(joinDirections(inOneResource))
}

/** Reports a difference in both directions once: for the direction that breaks, where it breaks in one only. */
function joinDirections(differences: readonly Difference[]): Difference[] {
  const groups = Map.groupBy(differences, (each) => {
    const { resources, direction, operations, field } = each
    return canonicalJson([
      subjectOf(each),
      resources,
      isAddress(each) || field === undefined ? [direction, operations] : [],
    ])
  })
  return [...groups.values()].flatMap((same) => {
    const worst = same.filter((each) => severityOf(each) !== 'compatible')
    return joinBy(worst.length === 0 ? same : worst, () => [])
  })
}

function isAddress({ kind }: Difference): boolean {
  return kind === 'operation-removed' || kind === 'operation-added'
}

/** What differs, wherever it is. A filter and its operators (`born`, `born[gt]`) are one subject. */
function subjectOf({ kind, version, field, names, within, keyword, before, after }: Difference): unknown[] {
  const base = (name: string) => name.replace(/\[[^\]]*\]$/, '')
  const about = kind.startsWith('parameter-') ? names?.map(base) : names
  // A parameter that repeats is a list of the values that it filters by.
  const path = within === undefined ? field : field?.replace(/^\[\]/, '')
  return [kind, version, path, about, within && base(within), keyword, before, after]
}

function joinBy(differences: readonly Difference[], keyOf: (difference: Difference) => unknown[]): Difference[] {
  return [...Map.groupBy(differences, (each) => canonicalJson(keyOf(each))).values()].map((same) => {
    const [first] = same as [Difference]
    if (same.length === 1) return first
    const isOneWay = same.every((each) => each.direction === first.direction)
    const all = (of: (each: Difference) => readonly string[]) => [...new Set(same.flatMap(of))]
    return {
      ...first,
      direction: isOneWay ? first.direction : undefined,
      resources: all((each) => each.resources).sort(),
      operations: all((each) => each.operations),
      ...(first.names !== undefined && { names: all((each) => each.names ?? []) }),
    }
  })
}

/** Leaves out what follows from another difference, which says more. */
function withoutConsequences(differences: readonly Difference[]): Difference[] {
  const known = new Set(
    differences.flatMap(({ kind, resources, field, within }) =>
      within === undefined ? resources.map((resource) => `${kind} ${resource} ${field}`) : [],
    ),
  )
  const isKnown = (kind: Kind, resources: readonly string[], field: string | undefined) =>
    resources.every((resource) => known.has(`${kind} ${resource} ${field}`))
  const codes = differences.flatMap(({ kind, names = [] }) => {
    if (kind === 'rule-added') return names
    return kind === 'unique-added' ? ['DUPLICATE_VALUE'] : kind === 'transitions-removed' ? ['INVALID_TRANSITION'] : []
  })
  return differences.flatMap((each) => {
    const { kind, within, names, resources } = each
    const keep = (isConsequence: (name: string) => boolean) => {
      const rest = names?.filter((name) => !isConsequence(name))
      return rest?.length === 0 && names?.length !== 0 ? [] : [{ ...each, names: rest }]
    }
    // A declared difference says why there is an error code.
    if (kind === 'code-added' && names !== undefined) return keep((name) => codes.includes(name))
    // A required field is reported as such; that it is in responses too is reported for those alone.
    if (kind === 'field-added' && within === undefined && isKnown('field-added-required', resources, each.field)) {
      return each.direction === 'request' ? [] : [{ ...each, direction: 'response' }]
    }
    // The parameter `fields` takes the names of the fields that there are.
    if (within !== 'parameter fields') return [each]
    if (kind === 'values-removed') return keep((name) => isKnown('field-removed', resources, name))
    return kind === 'values-added' ? keep((name) => isKnown('field-added', resources, name)) : [each]
  })
}
