/**
 * Merges differences: the same one in many places is reported once, with all its operations, and without its
 * consequences.
 */
import { type Difference, type Kind, severityOf } from './finding.ts'
import { canonical } from './openapi-document.ts'

// Differences of whole operations: the same one in several resources is one change.
const ofAnyResource: readonly Kind[] = [
  'security-added', 'security-relaxed', 'header-removed', 'header-added', 'media-type-removed', 'media-type-added',
  'status-removed', 'status-added', 'part-status-added', 'code-removed', 'code-added',
] // biome-ignore format: two rows read best

/** Joins equal differences, and leaves out those that follow from others. */
export function mergeDifferences(differences: readonly Difference[]): Difference[] {
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
    return canonical([
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
  return [...Map.groupBy(differences, (each) => canonical(keyOf(each))).values()].map((same) => {
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
