/** What two schemas admit, side by side: `null`, types, and each form with the one that takes its place. */
import type { Budget } from '../budget.ts'
import type { Kind } from '../kinds.ts'
import { annotation } from './annotation.ts'
import { compareObjects } from './compare-objects.ts'
import { compareValues } from './compare-values.ts'
import { type Compared, type Pair, placesOf, type SchemaDifference } from './pair.ts'
import { type Shape, sizeOf, type Union } from './shape.ts'
import type { Reader } from './union.ts'

/** Compares one pair; what lies inside of it are pairs of their own. */
export function compareUnions(older: Reader, newer: Reader, pair: Pair, { spend }: Budget): Compared {
  const before = older.union(pair.old)
  const after = newer.union(pair.new)
  const places = placesOf(pair)
  const differs = (kind: Kind, more: Partial<SchemaDifference> = {}): SchemaDifference => ({
    kind,
    field: pair.field,
    ...(pair.within !== undefined && { within: pair.within }),
    places,
    ...more,
  })
  const differences = [...compareNull(before, after), ...compareTypes(before, after)].map(({ kind, ...more }) =>
    differs(kind, more),
  )
  if (pair.way === 'request') {
    const [was, is] = [annotation(older, pair.old, 'default'), annotation(newer, pair.new, 'default')]
    spend(((was?.text.length ?? 0) + (is?.text.length ?? 0)) / 64)
    if (was?.text !== is?.text) differences.push(differs('default-changed', { before: was?.value, after: is?.value }))
  }
  let all: readonly SchemaDifference[] = differences
  let inside: readonly Pair[] = []
  for (const [was, is] of matched(before.shapes, after.shapes, pair.way === 'request', spend)) {
    spend(sizeOf(was) + sizeOf(is))
    const values = compareValues(was, is, pair.way).map(({ kind, ...more }) => differs(kind, more))
    const objects = compareObjects(older, newer, pair, [was, is])
    all = [...all, ...values, ...objects.differences]
    inside = [...inside, ...objects.inside]
  }
  return { differences: all, inside }
}

type Change = Pick<SchemaDifference, 'kind' | 'before' | 'after'>

function compareNull(before: Union, after: Union): Change[] {
  if (before.nullable === after.nullable) return []
  return [{ kind: after.nullable ? 'null-added' : 'null-removed' }]
}

function compareTypes(before: Union, after: Union): Change[] {
  const [was, is] = [typesOf(before), typesOf(after)]
  const lost = was.filter((type) => !covers(is, type))
  const gained = is.filter((type) => !covers(was, type))
  if (lost.length === 0 && gained.length === 0) return []
  const kind = lost.length === 0 ? 'type-widened' : gained.length === 0 ? 'type-narrowed' : 'type-changed'
  return [{ kind, before: was.join(' or ') || 'null', after: is.join(' or ') || 'null' }]
}

function typesOf({ shapes }: Union): string[] {
  return [...new Set(shapes.map((shape) => shape.type))].sort()
}

function covers(types: readonly string[], type: string): boolean {
  return types.includes(type) || types.includes('any') || (type === 'integer' && types.includes('number'))
}

/**
 * Which form takes the place of which. A request of the old interface needs a form in the new one, an answer of the new one
 * a form in the old: each of those has a partner, found by the name of its component, or by what it has in common.
 */
function matched(
  before: readonly Shape[],
  after: readonly Shape[],
  request: boolean,
  spend: Budget['spend'],
): [old: Shape, new: Shape][] {
  spend(before.length * after.length)
  const [from, to] = request ? [before, after] : [after, before]
  const taken = new Set<Shape>()
  const partners = new Map<Shape, Shape>()
  const take = (shape: Shape, partner: Shape | undefined) => {
    if (partner === undefined) return
    partners.set(shape, partner)
    taken.add(partner)
  }
  for (const shape of from) {
    if (shape.name === undefined) continue
    take(
      shape,
      to.find((each) => each.name === shape.name && comparable(each, shape) && !taken.has(each)),
    )
  }
  for (const shape of from) {
    if (partners.has(shape)) continue
    const fit = to.filter((each) => comparable(each, shape))
    const free = fit.filter((each) => !taken.has(each))
    take(shape, mostLike(shape, free.length > 0 ? free : fit, spend))
  }
  return [...partners].map(([shape, partner]) => (request ? [shape, partner] : [partner, shape]))
}

function comparable(left: Shape, right: Shape): boolean {
  const numeric = [left, right].every(({ type }) => type === 'integer' || type === 'number')
  return numeric || left.type === right.type
}

function mostLike(shape: Shape, others: readonly Shape[], spend: Budget['spend']): Shape | undefined {
  if (others.length < 2) return others[0]
  spend(others.length * sizeOf(shape))
  const scored = others.map((other) => ({ other, score: likeness(shape, other) }))
  return scored.sort((left, right) => right.score - left.score)[0]?.other
}

/** From 0 to 3: how much two forms have in common of names, demands and values. */
function likeness(left: Shape, right: Shape): number {
  return (
    overlap(left.properties, right.properties) +
    overlap(left.required, right.required) +
    overlap(left.values ?? new Map(), right.values ?? new Map())
  )
}

function overlap(left: Keyed, right: Keyed): number {
  const common = [...left.keys()].filter((name) => right.has(name)).length
  return common === 0 ? Number(left.size + right.size === 0) : common / (left.size + right.size - common)
}

type Keyed = ReadonlyMap<string, unknown> | ReadonlySet<string>
