/**
 * What the body of an update makes of a record. A JSON Patch is applied to the record as clients see it (MET-4). A JSON
 * Merge Patch (RFC 7396) is merged field by field, where the draft judges each field.
 */
import { canonicalValue } from '../model/decimal.ts'
import { isObject } from '../model/plain-copy.ts'
import type { RecordValues, Resource } from '../model/resource.ts'
import { jsonPatch, type Patched } from './json-patch.ts'
import type { Update } from './plan.ts'

/** The body as it was sent; for a JSON Patch, the whole record that it makes of the current one. */
export function bodyOfUpdate(plan: Update, current: RecordValues): Patched {
  if (plan.kind !== 'patch') return { kind: 'patched', value: plan.body }
  const patched = jsonPatch(representationOf(plan.resource, current), withCanonicalTests(plan.resource, plan.body))
  if (patched.kind !== 'patched' || isObject(patched.value)) return patched
  const message = 'The patch would make something else of the record than a JSON object.'
  return { kind: 'invalid', issues: [{ code: 'INVALID_TYPE', message, pointer: '' }] }
}

/** A patch whose tests of decimal fields accept each spelling of a number: `19.9` is the value of `"19.90"`. */
function withCanonicalTests({ fields }: Resource, patch: unknown): unknown {
  const decimals = new Map(fields.flatMap((field) => (field.decimal === undefined ? [] : [[`/${field.name}`, field]])))
  if (decimals.size === 0 || !Array.isArray(patch)) return patch
  return patch.map((operation: unknown) => {
    if (!isObject(operation) || operation['op'] !== 'test') return operation
    const field = decimals.get(String(operation['path']))
    return field === undefined ? operation : { ...operation, value: canonicalValue(field, operation['value']) }
  })
}

/** A record as clients see it: every field that is not writeOnly, unset ones `null` (RES-8). */
function representationOf(resource: Resource, record: RecordValues): RecordValues {
  const shown = resource.fields.filter((field) => !field.writeOnly).map((field) => field.name)
  const names = ['id', ...shown, 'created_at', 'updated_at']
  return Object.fromEntries(names.map((name) => [name, record[name] ?? null]))
}

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
