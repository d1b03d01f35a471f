/** Caller x action x resource -> the records allowed, as a predicate (AUT-3 to AUT-6). */
import { resolveCondition } from '../model/condition.ts'
import type { AccessRule, Action, CallerView, Condition } from '../model/declaration.ts'
import { always, anyOf, never, type Predicate } from '../model/predicate.ts'
import type { Catalog, Resource } from '../model/resource.ts'

const grants = new WeakMap<CallerView, Map<string, Predicate>>()

/**
 * The records of a resource on which the caller may do the action: `never` is a refusal outright (403), `always` no limit.
 * The same value guards one record and narrows a list (AUT-6). It is kept with the caller.
 */
export function permit(catalog: Catalog, caller: CallerView, action: Action, resource: Resource): Predicate {
  const known = grants.get(caller) ?? new Map<string, Predicate>()
  grants.set(caller, known)
  const key = `${action} ${resource.name}`
  let grant = known.get(key)
  if (grant === undefined) {
    grant = anyOf(resource.access[action].map((rule) => allowed(catalog, caller, rule, resource)))
    known.set(key, grant)
  }
  return grant
}

function allowed(catalog: Catalog, caller: CallerView, rule: AccessRule, resource: Resource): Predicate {
  if (typeof rule === 'function') {
    const answer: unknown = rule(caller)
    // A promise would read as a condition without terms, which always holds.
    if (answer instanceof Promise) throw new TypeError('An access rule answers true, false or a condition, at once.')
    if (typeof answer !== 'object' || answer === null) return answer === true ? always : never
    return resolveCondition(resource, answer as Condition, { caller })
  }
  if (typeof rule === 'object') {
    if ('where' in rule) return resolveCondition(resource, rule.where, { caller })
    const collection = resource.field.get(rule.through)?.reference?.collection
    const target = collection === undefined ? undefined : catalog.resources.get(collection)
    if (target === undefined) return never
    const predicate = permit(catalog, caller, rule.action, target)
    return predicate.kind === 'never'
      ? never
      : { kind: 'through', field: rule.through, collection: target.name, predicate }
  }
  if (rule === 'anyone') return always
  if (rule === 'owner' && resource.owner !== undefined) {
    return { kind: 'compare', field: resource.owner, operator: 'eq', value: caller.id }
  }
  if (rule.startsWith('role:')) return caller.roles.includes(rule.slice('role:'.length)) ? always : never
  return never
}

/** The reference fields that a resource's rules for an action read through: changing one needs the permission anew. */
export function throughFields(resource: Resource, action: Action): string[] {
  return resource.access[action].flatMap((rule) =>
    typeof rule === 'object' && 'through' in rule ? [rule.through] : [],
  )
}
