/** Canonical JSON, and short hashes that tell whether a shape or a set of access rules has changed. */
import { createHash, hash } from 'node:crypto'
import type { AccessRule, Action } from './declaration.ts'
import type { Catalog, Field, Resource } from './resource.ts'

/** JSON with sorted keys: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const members = Object.keys(value).sort()
  const texts = members.map((key) => `${JSON.stringify(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`)
  return `{${texts.join()}}`
}

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
 * A digest of the access rules of an action, and of the rules of other resources that they lead to. A function counts
 * by its source text, without what it refers to.
 */
export function accessDigest(catalog: Catalog, resource: Resource, action: Action): string {
  return hash('sha256', JSON.stringify(rulesOf(catalog, resource, action)), 'base64url').slice(0, 22)
}

function rulesOf(catalog: Catalog, resource: Resource, action: Action): unknown[] {
  return resource.access[action].map((rule) => written(catalog, resource, rule))
}

// Rules have no cycles: checkDeclaration refuses them.
function written(catalog: Catalog, resource: Resource, rule: AccessRule): unknown {
  if (typeof rule === 'function') return String(rule)
  if (typeof rule !== 'object' || !('through' in rule)) return rule
  const collection = resource.field.get(rule.through)?.reference?.collection
  const target = catalog.resources.get(collection ?? '')
  return [rule.through, collection, target === undefined ? [] : rulesOf(catalog, target, rule.action)]
}
