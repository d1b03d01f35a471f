/** Canonical JSON, and short hashes that tell whether a shape or a set of access rules has changed. */
import { createHash, hash } from 'node:crypto'
import type { AccessRule, Action } from './declaration.ts'
import type { Catalog, Field, Resource } from './resource.ts'

/** A value as JSON with the keys of every object in order: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const members = Object.keys(value).sort()
  const texts = members.map((key) => `${JSON.stringify(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`)
  return `{${texts.join()}}`
}

/**
 * Eight characters that differ where the fields' names, order or schemas do; the order of keywords makes no difference.
 *
 * @param constants the values of fields that are the same in all records; those without one are as they are where it is
 *   unset
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

/**
 * A digest of the rules for an action, and of those of other resources that they lead to. Of a function it has the
 * text: what the function refers to is not seen.
 */
export function accessDigest(catalog: Catalog, resource: Resource, action: Action): string {
  return hash('sha256', JSON.stringify(rulesOf(catalog, resource, action)), 'base64url').slice(0, 22)
}

function rulesOf(catalog: Catalog, resource: Resource, action: Action): unknown[] {
  return resource.access[action].map((rule) => written(catalog, resource, rule))
}

// Rules do not lead round in circles: such a declaration is refused.
function written(catalog: Catalog, resource: Resource, rule: AccessRule): unknown {
  if (typeof rule === 'function') return String(rule)
  if (typeof rule !== 'object' || !('through' in rule)) return rule
  const collection = resource.field.get(rule.through)?.reference?.collection
  const target = catalog.resources.get(collection ?? '')
  return [rule.through, collection, target === undefined ? [] : rulesOf(catalog, target, rule.action)]
}
