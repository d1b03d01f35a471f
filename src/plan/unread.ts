/**
 * Values that the caller of an update may not read: those of a record without permission to read it, and those of `writeOnly`
 * fields. No answer depends on them (AUT-9).
 */
import type { Field, Resource } from '../model/resource.ts'
import { isObject } from './merge-patch.ts'
import type { Update } from './plan.ts'

/**
 * Whether an update needs permission to read the record, because the present value of a field decides about the new one:
 * which transitions are allowed, or what a merge patch of an object makes.
 */
export function needsReading({ kind, body }: Pick<Update, 'kind' | 'body'>, { fields }: Resource): boolean {
  if (!isObject(body)) return false
  return fields.some(({ name, transitions }) => {
    const isSent = Object.hasOwn(body, name)
    if (transitions !== undefined && (isSent || kind === 'replace')) return true
    return kind === 'merge' && isSent && isObject(body[name])
  })
}

/**
 * Whether an update writes a field whose present value the caller may not read. That counts as a change even where the value
 * stays the same: otherwise an unchanged entity tag would confirm a guess. A PUT that leaves a `writeOnly` field out clears it,
 * and changes nothing where it has no value.
 *
 * @param body what was sent; for a JSON Patch the record that it makes, which has a `writeOnly` field only where the patch sets it
 */
export function isRewritten(
  { kind }: Pick<Update, 'kind'>,
  field: Field,
  body: Readonly<Record<string, unknown>>,
  isReadable: boolean,
): boolean {
  if (field.immutable || field.readOnly) return false
  return Object.hasOwn(body, field.name) || (kind === 'replace' && !isReadable)
}
