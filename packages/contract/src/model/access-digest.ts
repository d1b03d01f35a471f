/** A digest of access rules: an export goes on only while the rules are those of its request (AUT-9). */
import { hash } from 'node:crypto'
import type { AccessRule, Action } from './declaration.ts'
import { exactText } from './plain-copy.ts'
import type { Catalog, Resource } from './resource.ts'

/**
 * A digest of the access rules of an action, and of the rules of other resources that they lead to. A function counts
 * by its source text, without what it refers to.
 *
 * @param related other collections whose records decide which ones are found
 */
export function accessDigest(
  catalog: Catalog,
  resource: Resource,
  action: Action,
  related: readonly string[] = [],
): string {
  const others = related.flatMap((name) => {
    const other = catalog.resources.get(name)
    return other === undefined ? [] : [[name, ofAction(catalog, other, action)]]
  })
  return hash('sha256', exactText([...ofAction(catalog, resource, action), ...others]), 'base64url').slice(0, 22)
}

function ofAction(catalog: Catalog, resource: Resource, action: Action): unknown[] {
  return [...rulesOf(catalog, resource, action), ...(action === 'read' ? fieldRulesOf(catalog, resource) : [])]
}

/** The rules by which callers may read single fields. */
function fieldRulesOf(catalog: Catalog, resource: Resource): unknown[] {
  return [...(resource.fieldAccess ?? [])].flatMap(([name, { read }]) =>
    read === undefined ? [] : [[name, read.map((rule) => written(catalog, resource, rule))]],
  )
}

function rulesOf(catalog: Catalog, resource: Resource, action: Action): unknown[] {
  return resource.access[action].map((rule) => written(catalog, resource, rule))
}

// Rules have no cycles: checkDeclaration refuses them.
function written(catalog: Catalog, resource: Resource, rule: AccessRule): unknown {
  if (typeof rule === 'function') return String(rule)
  if (typeof rule === 'object' && 'all' in rule)
    return ['all', rule.all.map((each) => written(catalog, resource, each))]
  if (typeof rule !== 'object' || !('through' in rule)) return rule
  const collection = resource.field.get(rule.through)?.reference?.collection
  const target = catalog.resources.get(collection ?? '')
  return [rule.through, collection, target === undefined ? [] : rulesOf(catalog, target, rule.action)]
}
