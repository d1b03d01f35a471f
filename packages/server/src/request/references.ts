/**
 * References in the bodies of operations (BLK-4): `{"$ref": "box.id"}` stands for a value of an earlier result, and
 * `{"$value": …}` for anything as it is.
 */

import { escapeStep } from 'resourced-contract/model/place'
import { isObject } from 'resourced-contract/model/plain-copy'

/** A reference, and its place. */
export interface Reference {
  /** The name of the operation. */
  readonly name: string
  /** The member of its result. */
  readonly member: string
  /** The text of both. */
  readonly text: string
  /** A JSON Pointer into the body. */
  readonly pointer: string
  /** In how many objects and arrays of the body it lies. */
  readonly depth: number
}

/**
 * A body with its references replaced.
 *
 * @param resultOf the value for a reference; `undefined`: it names no operation, and stays as it is
 */
export function replaceReferences(body: unknown, resultOf: (reference: Reference) => unknown): unknown {
  const replaced = (value: unknown, pointer: string, depth: number): unknown => {
    if (Array.isArray(value)) return value.map((each, index) => replaced(each, `${pointer}/${index}`, depth + 1))
    if (!isObject(value)) return value
    const members = Object.entries(value)
    const [name, sole] = members.length === 1 ? (members[0] as [string, unknown]) : []
    if (name === '$value') return sole
    const reference = name === '$ref' ? referenceOf(sole) : undefined
    const known = reference === undefined ? undefined : resultOf({ ...reference, pointer, depth })
    if (known !== undefined) return known
    return Object.fromEntries(
      members.map(([key, each]) => [key, replaced(each, `${pointer}/${escapeStep(key)}`, depth + 1)]),
    )
  }
  return replaced(body, '', 0)
}

/** The two parts of a reference: `box.id`. */
export function referenceOf(text: unknown): Pick<Reference, 'name' | 'member' | 'text'> | undefined {
  const point = typeof text === 'string' ? text.indexOf('.') : -1
  if (typeof text !== 'string' || point < 1) return undefined
  return { name: text.slice(0, point), member: text.slice(point + 1), text }
}
