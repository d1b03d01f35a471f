/** JSON Merge Patch (RFC 7396). */

/**
 * The value that a merge patch makes of `target`. Neither argument is changed.
 *
 * @param patch read by `model/json/read-json.ts`, which refuses keys that could reach a prototype
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = mergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value)
  }
  return merged
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
