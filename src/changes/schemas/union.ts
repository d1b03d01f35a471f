/** Schemas to what they admit: references followed, `allOf` joined, `anyOf` and `oneOf` laid side by side, `null` apart. */
import type { Budget } from '../budget.ts'
import {
  child,
  componentName,
  type Document,
  DocumentError,
  isObject,
  items,
  type Part,
  referenceOf,
  target,
} from '../openapi/document.ts'
import { intersect } from './intersect.ts'
import { type Local, localShapes, typeOf } from './local.ts'
import { limitsOf, type Schemas, type Shape, type TypeName, type Union, wholeType } from './shape.ts'

// What nobody writes, and a hostile document would.
const mostAlternatives = 256
const mostNested = 200

/** Reads schemas of one document; what was read is kept. */
export interface Reader {
  readonly document: Document
  union(schemas: Schemas): Union
  /** The same for the same schemas, by whatever references they were reached. */
  key(schemas: Schemas): string
}

/** Begins to read a document. */
export function reader(document: Document, budget: Budget): Reader {
  const ids = new Map<object, number>()
  const read = new Map<object, Local>()
  const unions = new Map<string, Union>()
  const open = new Set<object>()
  const both = (left: Local, right: Local, part: Part) => bothOf(left, right, part, budget)

  function key(schemas: Schemas): string {
    const each = schemas.map((part) => {
      const { value } = plainTarget(document, part)
      if (typeof value !== 'object' || value === null) return String(value)
      const id = ids.get(value) ?? ids.size
      ids.set(value, id)
      return id
    })
    return [...new Set(each)].sort().join()
  }

  /** @throws DocumentError where a schema is too intricate */
  function local(part: Part): Local {
    const { value, pointer } = part
    if (!isObject(value)) return localShapes(document, part)
    const known = read.get(value)
    if (known !== undefined) return known
    // A schema that is a part of itself at once says nothing by that.
    if (open.has(value)) return { nullable: 'implicit', shapes: [wholeType('any', pointer)] }
    if (open.size >= mostNested) throw new DocumentError(pointer, `is composed over more than ${mostNested} levels.`)
    open.add(value)
    const result = composed(part)
    open.delete(value)
    read.set(value, result)
    return result
  }

  function composed(part: Part): Local {
    const reference = referenceOf(part)
    const alone = reference !== undefined && document.dialect === '3.0'
    let all: Local = alone ? localShapes(document, { value: {}, pointer: part.pointer }) : localShapes(document, part)
    if (reference !== undefined) {
      const to = target(document, part.pointer, reference)
      all = both(local(to), all, part)
      all = { ...all, shapes: all.shapes.map((shape) => ({ ...shape, name: componentName(to.pointer) ?? shape.name })) }
    }
    if (!alone) {
      for (const each of items(child(part, 'allOf'))) all = both(all, local(each), part)
      for (const keyword of ['anyOf', 'oneOf']) {
        const alternatives = items(child(part, keyword))
        if (alternatives.length > 0) all = both(all, either(alternatives.map(local), part), part)
      }
      if (document.dialect === '3.0' && child(part, 'nullable')?.value === true) return { ...all, nullable: true }
    }
    return all
  }

  return {
    document,
    key,
    union(schemas) {
      const known = key(schemas)
      const found = unions.get(known)
      if (found !== undefined) return found
      const first = schemas[0] as Part
      const made = finish(schemas.map(local).reduce((left, right) => both(left, right, first)))
      unions.set(known, made)
      return made
    },
  }
}

/** Where a schema that is nothing but a reference leads; the schema itself where it says anything else. */
function plainTarget(document: Document, part: Part): Part {
  let at = part
  for (let steps = 0; steps < mostNested; steps++) {
    const reference = referenceOf(at)
    if (reference === undefined) return at
    if (Object.keys(at.value as object).length > 1 && document.dialect !== '3.0') return at
    at = target(document, at.pointer, reference)
  }
  throw new DocumentError(part.pointer, 'refers to itself.')
}

function bothOf(left: Local, right: Local, { pointer }: Part, budget: Budget): Local {
  const pairs = left.shapes.length * right.shapes.length
  if (pairs > mostAlternatives) {
    throw new DocumentError(pointer, `has more than ${mostAlternatives} alternatives, which is too many to compare.`)
  }
  const shapes = left.shapes.flatMap((one) => right.shapes.flatMap((other) => intersect(one, other, budget) ?? []))
  const nullable =
    left.nullable === 'implicit'
      ? right.nullable
      : right.nullable === 'implicit'
        ? left.nullable
        : left.nullable && right.nullable
  return { nullable, shapes }
}

function either(alternatives: readonly Local[], { pointer }: Part): Local {
  const shapes = alternatives.flatMap((each) => each.shapes)
  if (shapes.length > mostAlternatives) {
    throw new DocumentError(pointer, `has more than ${mostAlternatives} alternatives, which is too many to compare.`)
  }
  const nullable = alternatives.some((each) => each.nullable === true)
    ? true
    : alternatives.some((each) => each.nullable === 'implicit') && 'implicit'
  return { nullable, shapes }
}

/** Types that were left out are told from the rest, and alternatives that are one list of values become one. */
function finish({ nullable, shapes }: Local): Union {
  const typed = shapes.flatMap(inferred)
  const whole = typed.find((shape) => shape.type === 'any' && isWhole(shape))
  if (whole !== undefined) return { nullable: nullable !== false, shapes: [whole] }
  const open = typed.some((shape) => shape.type === 'any')
  return { nullable: nullable === 'implicit' ? open : nullable, shapes: mergedLists(typed) }
}

function isWhole({
  values,
  limits,
  patterns,
  formats,
  properties,
  required,
  additional,
  items,
  others,
}: Shape): boolean {
  return (
    values === undefined &&
    items === undefined &&
    additional === 'open' &&
    [limits, patterns, formats, properties, required, others].every((each) => each.size === 0)
  )
}

function inferred(shape: Shape): Shape[] {
  if (shape.type !== 'any') return [shape]
  if (shape.values !== undefined) {
    const byType = Map.groupBy(shape.values, ([, value]) => typeOf(value))
    return [...byType].map(([type, values]) => ({ ...shape, type, values: new Map(values) }))
  }
  const type = typeToldBy(shape)
  return [type === undefined ? shape : { ...shape, type }]
}

function typeToldBy({
  properties,
  required,
  additional,
  items,
  limits,
  patterns,
  formats,
}: Shape): TypeName | undefined {
  if (properties.size > 0 || required.size > 0 || additional !== 'open') return 'object'
  if (items !== undefined) return 'array'
  if (patterns.size > 0) return 'string'
  const limited = (['string', 'number', 'array', 'object'] as const).find((type) =>
    limitsOf[type].some((keyword) => limits.has(keyword)),
  )
  return limited ?? (formats.size > 0 ? 'string' : undefined)
}

function mergedLists(shapes: readonly Shape[]): Shape[] {
  const merged: Shape[] = []
  for (const shape of shapes) {
    const at = merged.findIndex((each) => each.type === shape.type && isList(each) && isList(shape))
    const known = merged[at]
    if (known === undefined) merged.push(shape)
    else merged[at] = { ...known, values: new Map([...(known.values ?? []), ...(shape.values ?? [])]) }
  }
  return merged
}

function isList(shape: Shape): boolean {
  return shape.values !== undefined && isWhole({ ...shape, values: undefined })
}
