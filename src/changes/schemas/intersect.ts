/** What several schemas admit together: `allOf`, and keywords beside a `$ref` or an `anyOf`. */
import type { Budget } from '../budget.ts'
import { lowerLimits, type Schemas, type Shape, sizeOf, type TypeName } from './shape.ts'

/** What both shapes admit; `undefined`: nothing. */
export function intersect(left: Shape, right: Shape, { spend }: Budget): Shape | undefined {
  spend(sizeOf(left) + sizeOf(right))
  const type = commonType(left.type, right.type)
  if (type === undefined) return undefined
  const values = commonValues(left.values, right.values)
  if (values !== undefined && values.size === 0) return undefined
  return {
    type,
    // Of "this component, and a little more" it is still this component.
    name: left.name ?? right.name,
    pointer: left.name === undefined && right.name !== undefined ? right.pointer : left.pointer,
    values,
    limits: tighter(left.limits, right.limits),
    patterns: left.patterns.union(right.patterns),
    formats: left.formats.union(right.formats),
    properties: joined(left.properties, right.properties, spend),
    required: left.required.union(right.required),
    additional: commonAdditional(left.additional, right.additional),
    items:
      left.items === undefined || right.items === undefined
        ? (left.items ?? right.items)
        : [...left.items, ...right.items],
    others: joinedTexts(left.others, right.others),
  }
}

function commonType(left: TypeName, right: TypeName): TypeName | undefined {
  if (left === right || right === 'any') return left
  if (left === 'any') return right
  const numeric = [left, right].sort().join()
  return numeric === 'integer,number' ? 'integer' : undefined
}

function commonValues(left: Shape['values'], right: Shape['values']): Shape['values'] {
  if (left === undefined || right === undefined) return left ?? right
  return new Map([...left].filter(([text]) => right.has(text)))
}

function tighter(left: Shape['limits'], right: Shape['limits']): Shape['limits'] {
  const limits = new Map(left)
  for (const [keyword, value] of right) {
    const known = limits.get(keyword) ?? value
    limits.set(keyword, lowerLimits.includes(keyword) ? Math.max(known, value) : Math.min(known, value))
  }
  return limits
}

function joined(left: Shape['properties'], right: Shape['properties'], spend: Budget['spend']): Shape['properties'] {
  const all = new Map(left)
  for (const [name, schemas] of right) {
    const known = all.get(name) ?? []
    spend(known.length)
    all.set(name, [...known, ...schemas])
  }
  return all
}

function commonAdditional(left: Shape['additional'], right: Shape['additional']): Shape['additional'] {
  if (left === 'closed' || right === 'closed') return 'closed'
  if (left === 'open') return right
  return right === 'open' ? left : ([...left, ...right] satisfies Schemas)
}

function joinedTexts(left: Shape['others'], right: Shape['others']): Shape['others'] {
  const all = new Map(left)
  for (const [keyword, text] of right) {
    const known = all.get(keyword)
    all.set(keyword, known === undefined || known === text ? text : [known, text].sort().join(' and '))
  }
  return all
}
