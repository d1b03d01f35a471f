/** What an update says that the record should be. A JSON Patch says it by operations on the record as it is answered (MET-4). */
import { canonicalValue } from '../model/decimal.ts'
import type { RecordValues, Resource } from '../model/resource.ts'
import { jsonPatch, type Patched } from './json-patch.ts'
import { isObject } from './merge-patch.ts'
import type { Update } from './plan.ts'

/** The body by which an update is judged: what was sent, or the whole record that a JSON Patch makes of the current one. */
export function bodyOfUpdate(plan: Update, current: RecordValues): Patched {
  if (plan.kind !== 'patch') return { kind: 'patched', value: plan.body }
  const patched = jsonPatch(representationOf(plan.resource, current), withCanonicalTests(plan.resource, plan.body))
  if (patched.kind !== 'patched' || isObject(patched.value)) return patched
  const message = 'The patch would make something else of the record than a JSON object.'
  return { kind: 'invalid', issues: [{ code: 'INVALID_TYPE', message, pointer: '' }] }
}

/** A patch whose tests of decimal fields hold for each spelling of the number: `19.9` is the value of `"19.90"`. */
function withCanonicalTests({ fields }: Resource, patch: unknown): unknown {
  const decimals = new Map(fields.flatMap((field) => (field.decimal === undefined ? [] : [[`/${field.name}`, field]])))
  if (decimals.size === 0 || !Array.isArray(patch)) return patch
  return patch.map((operation: unknown) => {
    const field =
      isObject(operation) && operation['op'] === 'test' ? decimals.get(String(operation['path'])) : undefined
    return field === undefined
      ? operation
      : { ...(operation as object), value: canonicalValue(field, Reflect.get(operation as object, 'value')) }
  })
}

/** A record as `storage/sql/represent.ts` has the database write it: every field that is answered, unset ones `null` (RES-8). */
function representationOf(resource: Resource, record: RecordValues): RecordValues {
  const shown = resource.fields.filter((field) => !field.writeOnly).map((field) => field.name)
  const names = ['id', ...shown, 'created_at', 'updated_at']
  return Object.fromEntries(names.map((name) => [name, record[name] ?? null]))
}
