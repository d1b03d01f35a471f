/** The record that a JSON Patch makes of the record as the caller sees it (MET-4). */
import { canonicalValue } from 'resourced-contract/model/decimal'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { issue } from 'resourced-contract/spec/faults'
import type { RecordAccess } from './check-record.ts'
import { jsonPatch, type Patched, type PatchLimits } from './json-patch.ts'
import type { Update } from './plan.ts'

/** The whole record that a JSON Patch makes of the current one, as the body of an update. */
export function patchedBody(
  plan: Update,
  current: RecordValues,
  { hidden }: Pick<RecordAccess, 'hidden'> = {},
  limits?: PatchLimits,
): Patched {
  const shown = representationOf(plan.resource, current, hidden)
  const patched = jsonPatch(shown, withCanonicalTests(plan.resource, plan.body), limits)
  if (patched.kind !== 'patched' || isObject(patched.value)) return patched
  return { kind: 'invalid', issues: [issue('patchedAway', { pointer: '' })] }
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

/**
 * A record as clients see it: every field that is not writeOnly; unset and hidden ones are `null` (RES-8, AUT-13).
 * Fields that the patch does not name may be missing.
 */
function representationOf(
  resource: Resource,
  record: RecordValues,
  hidden: ReadonlySet<string> = new Set(),
): RecordValues {
  const shown = resource.fields
    .filter(({ name, writeOnly }) => !writeOnly && Object.hasOwn(record, name))
    .map(({ name }) => name)
  const names = ['id', ...shown, 'created_at', 'updated_at']
  return Object.fromEntries(names.map((name) => [name, hidden.has(name) ? null : (record[name] ?? null)]))
}
