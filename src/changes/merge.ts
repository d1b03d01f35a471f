/** The same difference at many places is one: said once, with every operation that it touches. */
import type { Difference } from './finding.ts'
import { type Kind, severityOf } from './kinds.ts'
import { canonical } from './openapi/canonical.ts'

// Of the operation as a whole: the same for several resources is one thing that was done.
const ofAnyResource: readonly Kind[] = [
  'security-added', 'security-relaxed', 'header-removed', 'header-added', 'media-type-removed', 'media-type-added',
  'status-removed', 'status-added', 'part-status-added', 'code-removed', 'code-added',
] // biome-ignore format: two rows read best

/** Joins differences that are the same, and leaves out what another one already says. */
export function merged(differences: readonly Difference[]): Difference[] {
  const atOnePlace = joined(differences, (each) => canonical([what(each), each.direction, each.places]))
  const ofOneResource = joined(atOnePlace, (each) => {
    const whole = each.resources.length === 0 ? each.operations : each.resources
    const where = ofAnyResource.includes(each.kind) ? [] : isComing(each) ? [...whole, ...each.operations] : whole
    return canonical([what(each), each.direction, where])
  })
  return withoutConsequences(worstWay(ofOneResource))
}

/** What differs both ways is said once: of the way in which it breaks, where it breaks in one only. */
function worstWay(differences: readonly Difference[]): Difference[] {
  const ways = Map.groupBy(differences, (each) =>
    canonical([
      what(each),
      each.resources,
      isComing(each) || each.field === undefined ? [each.direction, each.operations] : [],
    ]),
  )
  return [...ways.values()].flatMap((same) => {
    const worst = same.filter((each) => severityOf(each.kind, each.direction) !== 'compatible')
    return joined(worst.length === 0 ? same : worst, () => '')
  })
}

function isComing({ kind }: Difference): boolean {
  return kind === 'operation-removed' || kind === 'operation-added'
}

/** What a difference is, wherever it is. A filter with its operators is one thing: `born`, `born[gt]`. */
function what({ kind, version, field, names, within, keyword, before, after }: Difference): unknown[] {
  const ofParameter = kind.startsWith('parameter-')
  const about = ofParameter ? names?.map(baseName) : names
  return [kind, version, wayTo(field, within), about, within && baseName(within), keyword, before, after]
}

function baseName(name: string): string {
  return name.replace(/\[[^\]]*\]$/, '')
}

/** A parameter that repeats is a list of what it is about. */
function wayTo(field: string | undefined, within: string | undefined): string | undefined {
  return within === undefined ? field : field?.replace(/^\[\]/, '')
}

function joined(differences: readonly Difference[], keyOf: (difference: Difference) => string): Difference[] {
  return [...Map.groupBy(differences, keyOf).values()].map((same) => {
    const [first] = same as [Difference]
    if (same.length === 1) return first
    const oneWay = same.every((each) => each.direction === first.direction)
    const all = <Value>(of: (each: Difference) => readonly Value[]) => [
      ...new Set(same.flatMap((each) => [...of(each)])),
    ]
    return {
      ...first,
      direction: oneWay ? first.direction : undefined,
      resources: all((each) => each.resources).sort(),
      operations: all((each) => each.operations),
      ...(first.names !== undefined && { names: all((each) => each.names ?? []) }),
    }
  })
}

/**
 * That a field cannot be asked for in `fields` any more, or now can, follows from its being gone or there; that it is new,
 * from its being new and required.
 */
function withoutConsequences(differences: readonly Difference[]): Difference[] {
  const known = new Set(
    differences.flatMap(({ kind, resources, field, within }) =>
      (kind === 'field-removed' || kind === 'field-added') && within === undefined
        ? resources.map((resource) => `${kind} ${resource} ${field}`)
        : [],
    ),
  )
  const required = new Set(
    differences.flatMap(({ kind, resources, field }) =>
      kind === 'field-added-required' ? resources.map((resource) => `${resource} ${field}`) : [],
    ),
  )
  return differences.flatMap((each) => {
    const { kind, within, names = [], resources } = each
    if (kind === 'field-added' && within === undefined) {
      const said = resources.every((resource) => required.has(`${resource} ${each.field}`))
      return said && each.direction === 'request' ? [] : [said ? { ...each, direction: 'response' } : each]
    }
    if (within !== 'parameter fields' || (kind !== 'values-removed' && kind !== 'values-added')) return [each]
    const cause = kind === 'values-removed' ? 'field-removed' : 'field-added'
    const rest = names.filter((name) => !resources.every((resource) => known.has(`${cause} ${resource} ${name}`)))
    return rest.length === 0 ? [] : [{ ...each, names: rest }]
  })
}
