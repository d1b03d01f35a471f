/** What a resource's access rules say, in a few characters: to see whether a declaration has changed them. */
import { hash } from 'node:crypto'
import type { AccessRule, Action } from './declaration.ts'
import type { Catalog, Resource } from './resource.ts'

/**
 * A digest of the rules for an action, and of those of other resources that they lead to. Of a function it has the text: what
 * the function refers to is not seen.
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
