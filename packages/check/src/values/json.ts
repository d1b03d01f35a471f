/** JSON values: objects, equality and JSON Pointers (RFC 6901). */

export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object: not an array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value as a JSON object; every other value counts as an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Whether two JSON values are equal. The order of members does not matter. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame((left as never)[name], (right as never)[name]))
  )
}

/** The value of a JSON text; `undefined` if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value at a pointer; `undefined` if there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}

/** A value inside objects, so that a pointer leads to it. */
export function wrapAt(pointer: string, value: unknown): unknown {
  const names = pointer.split('/').slice(1)
  return names.reduceRight<unknown>(
    (inner, name) => ({ [name.replaceAll('~1', '/').replaceAll('~0', '~')]: inner }),
    value,
  )
}

/** The pointer of an object inside a value, found by identity; `undefined` if the value does not hold it. */
export function pointerTo(whole: unknown, part: object): string | undefined {
  if (whole === part) return ''
  if (typeof whole !== 'object' || whole === null) return undefined
  for (const [name, value] of Object.entries(whole)) {
    const within = pointerTo(value, part)
    if (within !== undefined) return memberPointer(name) + within
  }
  return undefined
}

/** The pointer of a member, from the object that holds it. */
export function memberPointer(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** An object with some of its members. */
export function pick(whole: JsonObject, isWanted: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => isWanted(name)))
}

export function without(whole: JsonObject, names: readonly string[]): JsonObject {
  return pick(whole, (name) => !names.includes(name))
}

/** An object with the same names and other values. */
export function mapMembers<Value>(whole: JsonObject, make: (value: unknown, name: string) => Value) {
  return Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, make(value, name)]))
}
