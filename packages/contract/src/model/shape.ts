/** The shapes of resources: hashes that change entity tags when a resource changes. */
import { createHash } from 'node:crypto'
import { recordedNames } from './recorded.ts'
import type { Field, Resource } from './resource.ts'

/**
 * A hash of eight characters of the fields' names, order and schemas; the order of keywords does not matter.
 *
 * @param constants the values of fields that have the same value in all records
 */
export function shapeHash(
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

/**
 * The shape of events or revisions, which show a record of one of these resources: a change of a resource changes their
 * entity tags too.
 */
export function recordedShape(
  recording: Pick<Resource, 'name' | 'order' | 'fields'>,
  shown: readonly Pick<Resource, 'name' | 'shape'>[],
): string {
  const shapes = { 'x-shapes': shown.map(({ name, shape }) => `${name} ${shape}`) }
  return shapeHash([...recording.fields, { name: recordedNames(recording).shown, schema: shapes }])
}
