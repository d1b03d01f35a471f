/** Caller x action x resource -> the records allowed, as a predicate (AUT-3 to AUT-6). */
import { comparedResource, conditionProblems } from '../model/check/conditions.ts'
import type { AccessRule, Action, CallerView, Condition } from '../model/declaration.ts'
import { callDeclared, FunctionFault } from '../model/declared-function.ts'
import { below, type Steps } from '../model/place.ts'
import { always, anyOf, never, type Predicate, resolveCondition } from '../model/predicate.ts'
import type { Catalog, Resource } from '../model/resource.ts'

/** The role that undeclared actions require (AUT-3). */
const administrator = 'admin'

/** Whether the caller has the role `admin`. */
export function isAdministrator(caller: CallerView): boolean {
  return caller.roles.includes(administrator)
}

type Grants = Map<Resource, Map<Action, Predicate>>
const grants = new WeakMap<CallerView, Grants>()

/**
 * The records of a resource on which the caller may perform the action: `never` is a 403, `always` means all records.
 * The same predicate decides about one record and filters a list (AUT-6). It is cached with the caller.
 */
export function permit(catalog: Catalog, caller: CallerView, action: Action, resource: Resource): Predicate {
  const known = grants.get(caller)?.get(resource)?.get(action)
  if (known !== undefined) return known
  const grant = anyOf(resource.access[action].map((rule) => allowed(catalog, caller, rule, action, resource)))
  const ofCaller: Grants = grants.get(caller) ?? new Map()
  const ofResource = ofCaller.get(resource) ?? new Map<Action, Predicate>()
  grants.set(caller, ofCaller.set(resource, ofResource.set(action, grant)))
  return grant
}

function allowed(
  catalog: Catalog,
  caller: CallerView,
  rule: AccessRule,
  action: Action,
  resource: Resource,
): Predicate {
  if (typeof rule === 'function') {
    const place = `resources.${resource.name}.access.${action}`
    const answer = callDeclared(place, caller, () => rule(caller))
    return callDeclared(place, caller, () => answerOf(place, answer, resource, caller))
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

/** @throws FunctionFault if an access function returns neither a boolean nor a condition on the resource */
function answerOf(place: string, answer: unknown, resource: Resource, caller: CallerView): Predicate {
  if (typeof answer === 'boolean') return answer ? always : never
  const subject = { resource: comparedResource(resource), record: undefined }
  // A value that does not fit its field, such as a claim that the caller does not have, matches no record.
  const problem = conditionProblems(answer, subject).find(
    ({ code, steps }) => structural.has(code) || !isValue(answer, steps),
  )
  if (problem === undefined) return resolveCondition(resource, answer as Condition, { caller })
  const where = problem.steps.length === 0 ? '' : ` at ${below('where', problem.steps)}`
  throw new FunctionFault(
    `${place} answered with neither true, false nor a condition on ${resource.name}${where} (${problem.code}).`,
  )
}

/** Whether a problem is about a value that a field is compared with: `field`, `field.gt`, `field.in[0]`. */
function isValue(condition: unknown, steps: Steps): boolean {
  let [value, rest] = [condition, steps]
  while (rest[0] === 'and' || rest[0] === 'or' || rest[0] === 'not') rest = rest.slice(rest[0] === 'not' ? 1 : 2)
  if (rest.length === 0 || typeof rest[0] !== 'string') return false
  for (const step of steps) value = Reflect.get(value as object, step)
  if (typeof value === 'object' && value !== null) return false
  const [, operator, index] = rest
  return operator === undefined || (operator === 'in' ? index !== undefined : valued.includes(String(operator)))
}

const structural: ReadonlySet<string> = new Set(['UNKNOWN_FIELD', 'INVALID_OPERATOR'])
const valued = ['gt', 'gte', 'lt', 'lte', 'not', 'contains', 'startsWith']

/** The reference fields that the rules of an action follow: a change of such a field needs the permission again. */
export function throughFields(resource: Resource, action: Action): string[] {
  return resource.access[action].flatMap((rule) =>
    typeof rule === 'object' && 'through' in rule ? [rule.through] : [],
  )
}
