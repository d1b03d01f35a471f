/** What a representation looks like, in a few characters. */
import { createHash } from 'node:crypto'
import type { Field } from './resource.ts'

/**
 * Eight characters that differ where the fields' names, order or schemas do; the order of keywords makes no difference.
 *
 * @param constants the values of fields that are the same in all records; those without one are as they are where it is unset
 */
export function hashOf(
  fields: readonly Pick<Field, 'name' | 'schema'>[],
  constants: ReadonlyMap<string, unknown> = new Map(),
): string {
  const shape = JSON.stringify(
    fields.map(({ name, schema }) =>
      constants.get(name) == null ? [name, schema] : [name, schema, constants.get(name)],
    ),
    (_, value: unknown) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
      return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    },
  )
  return createHash('sha256').update(shape).digest('base64url').slice(0, 8)
}
