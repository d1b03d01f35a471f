/** Values that cannot be changed any more, all the way down. */

/** Freezes plain data, arrays and maps. Functions are left alone: they are the user's. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (value instanceof Map) {
    for (const each of value.values()) deepFreeze(each)
    const refuse = () => {
      throw new TypeError('The catalog cannot be changed.')
    }
    // Freezing an object leaves a map's own contents open.
    for (const method of ['set', 'delete', 'clear']) Object.defineProperty(value, method, { value: refuse })
    return Object.freeze(value)
  }
  Object.freeze(value)
  for (const each of Object.values(value)) deepFreeze(each)
  return value
}
