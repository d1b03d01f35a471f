/**
 * Plain data: copies of declarations, on which later changes have no effect, freezing, canonical texts, members, and
 * what is made of an object once.
 */
import type { Steps } from './place.ts'

/** Called for values that cannot be in a declaration: where, what is wrong, and what to write instead. */
export type CopyFault = (steps: Steps, message: string, remedy: string) => void

// Far above every declaration that people write: larger values are an attack or an accident.
const mostLevels = 64
const mostValues = 200_000

/** TypeBox marks an optional field with this hidden property; data says `optional: true`. */
export const optionalMark = '~optional'

/**
 * Copies plain data. Functions are kept; keys without a value are dropped; `~optional` stays, hidden. Everything else
 * (cycles, dates, maps, getters that throw, deep nesting) is left out and reported.
 */
export function plainCopy(value: unknown, fault: CopyFault = () => {}): unknown {
  const open = new Set<object>()
  let values = 0
  let full = false

  function copy(value: unknown, steps: Steps): unknown {
    if (typeof value !== 'object' || value === null || full) return full ? undefined : value
    values += 1 + (Array.isArray(value) ? value.length : 0)
    if (values > mostValues) {
      full = true
      return refuse(steps, `has more than ${mostValues} values`, 'Split the interface into smaller ones.')
    }
    if (open.has(value)) return refuse(steps, 'contains itself', 'Write plain data, without circles.')
    if (open.size >= mostLevels) return refuse(steps, `is nested deeper than ${mostLevels} levels`, 'Nest less.')
    if (value instanceof RegExp) {
      return refuse(steps, 'is a regular expression', `Write its source as a string: ${JSON.stringify(value.source)}.`)
    }
    if (!isPlain(value))
      return refuse(steps, 'is not plain data', 'Write an object, an array, a string, a number or true/false.')
    open.add(value)
    const made = Array.isArray(value) ? copyArray(value, steps) : copyObject(value, steps)
    open.delete(value)
    return made
  }

  function copyArray(list: readonly unknown[], steps: Steps): unknown[] {
    return Array.from(list, (each, index) => copy(each, [...steps, index]))
  }

  function copyObject(object: object, steps: Steps): Record<string, unknown> {
    const made: Record<string, unknown> = {}
    if (Reflect.get(object, optionalMark) === true) Object.defineProperty(made, optionalMark, { value: true })
    for (const key of Object.keys(object)) {
      if (key === optionalMark || full) continue
      const place = [...steps, key]
      if (key === '__proto__') refuse(place, 'is a name that JavaScript keeps for itself', 'Choose another name.')
      else {
        const each = copy(Reflect.get(object, key), place)
        if (each !== undefined) made[key] = each
      }
    }
    return made
  }

  function refuse(steps: Steps, message: string, remedy: string): undefined {
    fault(steps, message, remedy)
  }

  try {
    return copy(value, [])
  } catch {
    return refuse([], 'cannot be read: reading one of its properties throws', 'Write plain data.')
  }
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  // An object of another realm has another Object.prototype, whose prototype is null too.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Freezes plain data, arrays and maps, but not functions, which belong to the declaration. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (value instanceof Map) {
    for (const each of value.values()) deepFreeze(each)
    const refuse = () => {
      throw new TypeError('The catalog cannot be changed.')
    }
    // `Object.freeze` does not protect the entries of a map.
    for (const method of ['set', 'delete', 'clear']) Object.defineProperty(value, method, { value: refuse })
    return Object.freeze(value)
  }
  Object.freeze(value)
  for (const each of Object.values(value)) deepFreeze(each)
  return value
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The text of plain data as a part of keys: different values have different texts, also those that JSON has no text
 * for (`NaN`, `Infinity`, `-0`, `undefined`). Of JSON values it is the JSON. The order of members counts.
 *
 * @throws TypeError for functions, symbols and objects that are no plain data
 */
export function exactText(value: unknown): string {
  // Requests wait for the keys of what they read, and almost all data is JSON.
  if (isJson(value)) return JSON.stringify(value)
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'bigint') return `${value}n`
  if (value === undefined) return 'undefined'
  if (Array.isArray(value)) return `[${Array.from(value, exactText).join()}]`
  if (!isObject(value) || !isPlain(value)) throw new TypeError('Keys are made of plain data alone.')
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${exactText(each)}`)
  return `{${members.join()}}`
}

/** Whether `JSON.stringify` leaves nothing out. Lone surrogates are escaped, so no hash of the text confuses them. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || value === null) {
    return value === null || typeof value === 'string' || typeof value === 'boolean'
  }
  if (!isPlain(value)) return false
  // `every` would skip the holes of an array, which JSON writes as null.
  if (Array.isArray(value)) {
    for (const each of value) if (!isJson(each)) return false
    return true
  }
  for (const name in value) if (!isJson((value as Record<string, unknown>)[name])) return false
  return true
}

/**
 * The text of a JSON value whatever the order of its members: equal values have equal texts, and no others. JSON has
 * one zero.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (!isObject(value)) return value === 0 ? '0' : exactText(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join()}}`
}

/** The value that a path of own members leads to; `undefined`: there is none. */
export function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, name) => {
    const isHere = typeof found === 'object' && found !== null && Object.hasOwn(found, name)
    return isHere ? Reflect.get(found, name) : undefined
  }, value)
}

/**
 * A function of objects that is called once for each: its result is kept as long as the object lives.
 *
 * @param make depends on nothing else, and never gives `undefined`
 */
export function remembered<Key extends object, Value extends NonNullable<unknown>>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = make(key)
      known.set(key, value)
    }
    return value
  }
}
