/** Two OpenAPI documents: versions and addresses that come and go, and everything within those that stay. */
import { budget } from './budget.ts'
import type { Difference } from './finding.ts'
import type { Direction } from './kinds.ts'
import type { Document } from './openapi/document.ts'
import { type Operation, operationsOf } from './openapi/operations.ts'
import { compareOperations, placesOf } from './operations.ts'
import { schemaComparison } from './schemas/compare.ts'
import type { Way } from './schemas/pair.ts'
import { reader } from './schemas/union.ts'

/** What is served under one version, or in all that a document has. */
export interface Served {
  readonly document: Document
  /** The version of what carries none in its path; left out: it has none. */
  readonly version?: string
}

/**
 * Everything in which two documents differ, not judged yet.
 *
 * @param retired whether a version was past its sunset
 * @throws DocumentError where a document cannot be compared
 */
export function compareDocuments(
  old: Served,
  now: Served,
  retired: (version: string) => boolean = () => false,
): Difference[] {
  const was = operationsOf(old.document, old.version)
  const is = operationsOf(now.document, now.version)
  const gone = [...was.values()].filter(({ key }) => !is.has(key))
  const come = [...is.values()].filter(({ key }) => !was.has(key))
  return [
    ...comings(gone, [...is.values()], { side: 'old', retired }),
    ...comings(come, [...was.values()], { side: 'new', retired }),
    ...comparedInside(
      old,
      now,
      [...was.values()].flatMap((each) => {
        const after = is.get(each.key)
        return after === undefined ? [] : [[each, after] as const]
      }),
    ),
  ]
}

interface Coming {
  readonly side: 'old' | 'new'
  readonly retired: (version: string) => boolean
}

/** What only one side has, said once for a whole version, a whole resource, or an address with its methods. */
function comings(only: readonly Operation[], there: readonly Operation[], { side, retired }: Coming): Difference[] {
  const found: Difference[] = []
  const old = side === 'old'
  const versions = new Set(there.map((each) => each.version))
  const resources = new Set(there.map((each) => `${each.version} ${each.resource}`))
  for (const [version, operations] of Map.groupBy(only, (each) => each.version)) {
    const all = operations.map((each) => each.name)
    if (version !== '' && !versions.has(version)) {
      const kind = !old ? 'version-added' : retired(version) ? 'version-retired' : 'version-removed'
      const names = [...versions].filter((each) => each !== '').sort()
      found.push({ kind, version, resources: [], operations: all, names, places: placeOf(operations, side) })
      continue
    }
    for (const [resource, some] of Map.groupBy(operations, (each) => each.resource)) {
      const whole = !resources.has(`${version} ${resource}`) && some.length > 1
      const kind = whole ? (old ? 'resource-removed' : 'resource-added') : old ? 'operation-removed' : 'operation-added'
      const groups = whole ? [some] : [...Map.groupBy(some, (each) => each.path).values()]
      for (const group of groups) {
        const names = group.map((each) => each.name)
        found.push({ kind, version, resources: [resource], operations: names, places: placeOf(group, side) })
      }
    }
  }
  return found
}

function placeOf([first]: readonly Operation[], side: 'old' | 'new'): Difference['places'] {
  return side === 'old' ? placesOf(first?.pointer, undefined) : placesOf(undefined, first?.pointer)
}

function comparedInside(
  old: Served,
  now: Served,
  operations: readonly (readonly [old: Operation, now: Operation])[],
): Difference[] {
  const steps = budget()
  const schemas = schemaComparison(reader(old.document, steps), reader(now.document, steps), steps)
  const compared = operations.map(([was, is]) => {
    const { differences, pairs } = compareOperations(was, is)
    return { operation: was, differences, pairs: pairs.map((pair) => schemas.add(pair)) }
  })
  schemas.run()
  const touched = new Map<number, Operation[]>()
  for (const { operation, pairs } of compared) {
    for (const pair of schemas.different(pairs)) {
      steps.spend(1)
      const known = touched.get(pair)
      if (known === undefined) touched.set(pair, [operation])
      else known.push(operation)
    }
  }
  const inside = [...touched].flatMap(([pair, by]) =>
    schemas.differences(pair).map(
      (each): Difference => ({
        ...each,
        version: by[0]?.version ?? '',
        direction: directionOf(schemas.way(pair)),
        resources: [...new Set(by.map(({ resource }) => resource))].sort(),
        operations: by.map(({ name }) => name),
      }),
    ),
  )
  return [...compared.flatMap(({ differences }) => differences), ...inside]
}

function directionOf(way: Way): Direction {
  return way === 'request' ? 'request' : 'response'
}
