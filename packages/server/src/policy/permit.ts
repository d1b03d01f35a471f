/**
 * Caller x action x resource -> the records allowed, as a predicate (AUT-3 to AUT-6); and caller x resource -> the
 * fields that the caller may not read or write in every record (AUT-13, AUT-14).
 */
import { isLookup, leadingFields, lookupCollection } from 'resourced-contract/model/access-rules'
import { conditionProblems } from 'resourced-contract/model/check/conditions'
import type { AccessRule, Action, Condition } from 'resourced-contract/model/declaration'
import { callDeclared, FunctionFault } from 'resourced-contract/model/declared-function'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { type FieldGrants, recordedField } from 'resourced-contract/model/field-grants'
import { operators } from 'resourced-contract/model/operators'
import { below, type Steps } from 'resourced-contract/model/place'
import {
  allOf,
  always,
  anyOf,
  type EventGrant,
  isOfAllRecords,
  mapTerms,
  never,
  type Predicate,
} from 'resourced-contract/model/predicate'
import { isBinding } from 'resourced-contract/model/related-conditions'
import { resolveCondition, resolveLookup } from 'resourced-contract/model/resolve-condition'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { isHistory, isRecordedIn } from 'resourced-contract/model/resource'
import type { Caller, FunctionCredential } from './caller.ts'

/** The role that undeclared actions require (AUT-3). */
const administrator = 'admin'

/** Whether the caller has the role `admin`. */
export function isAdministrator(caller: CallerView): boolean {
  return caller.roles.includes(administrator)
}

/**
 * Whether a caller is the server itself, as a function of the declaration asks for by `asServer()`: it may act on every
 * record and field, set read-only fields, and need not send conditions. All other rules hold.
 */
export function isServer(caller: CallerView & Partial<Pick<Caller, 'credential'>>): boolean {
  return caller.credential === ('server' satisfies FunctionCredential)
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
  const grant = grantFor(catalog, caller, action, resource)
  const ofCaller: Grants = grants.get(caller) ?? new Map()
  const ofResource = ofCaller.get(resource) ?? new Map<Action, Predicate>()
  grants.set(caller, ofCaller.set(resource, ofResource.set(action, grant)))
  return grant
}

function grantFor(catalog: Catalog, caller: CallerView, action: Action, resource: Resource): Predicate {
  if (resource.order === 'by-position' && action === 'read') {
    return isHistory(resource) ? readableRevisions(catalog, caller) : readableEvents(catalog, caller)
  }
  if (isServer(caller)) return always
  const place = `resources.${resource.name}.access.${action}`
  const granted = allowedByRules(catalog, caller, resource.access[action], { place, resource }, 'any')
  const isOfDeliveries = resource === catalog.system.get('deliveries') && action === 'read'
  if (!isOfDeliveries || granted.kind !== 'always') return granted
  // A delivery names its record: administrators read those of others only where they may read the event (AUT-9).
  const own = allowedBy(catalog, caller, { rule: 'owner', place, resource })
  return anyOf([own, deliveriesOfEvents(catalog, readableEvents(catalog, caller))])
}

/** The deliveries of the events that a caller may read. */
function deliveriesOfEvents({ resources }: Catalog, events: Predicate): Predicate {
  const isWhole = [...resources.values()].every(
    ({ name, events: hasEvents }) =>
      !hasEvents || (isOfAllRecords(events) && events.grants.some(({ collection }) => collection === name)),
  )
  if (isWhole || events.kind === 'never') return isWhole ? always : never
  return { kind: 'through', field: 'event_id', collection: 'events', predicate: events }
}

/** The events that a caller may read: those of records that the caller may read (EVT-4). */
function readableEvents(catalog: Catalog, caller: CallerView): Predicate {
  const grants = [...catalog.resources.values()].flatMap((resource): EventGrant[] => {
    const read = resource.events ? permit(catalog, caller, 'read', resource) : never
    if (read.kind === 'never') return []
    // `readDeleted` holds together with `read` (AUT-9).
    const readDeleted = allOf([permit(catalog, caller, 'readDeleted', resource), read])
    return [{ collection: resource.name, read, readDeleted }]
  })
  return grants.length === 0 ? never : { kind: 'event', grants }
}

/** The revisions that a caller may read: those of live records whose history the caller may read (HIS-2). */
function readableRevisions(catalog: Catalog, caller: CallerView): Predicate {
  const grants = [...catalog.resources.values()].flatMap((resource) => {
    if (resource.history === undefined) return []
    const grant = historyGrant(catalog, caller, resource, undefined)
    return grant.read.kind === 'never' ? [] : [grant]
  })
  return grants.length === 0 ? never : { kind: 'event', grants }
}

/**
 * The revisions of a resource that a caller may read.
 *
 * @param deletedSince since when deleted records count; `undefined`: none do
 */
export function historyGrant(
  catalog: Catalog,
  caller: CallerView,
  resource: Resource,
  deletedSince: string | undefined,
): EventGrant {
  const granted = (action: Action) => permit(catalog, caller, action, resource)
  const read = allOf([granted('read'), granted('readHistory')])
  const readDeleted = allOf([granted('readDeleted'), read])
  return { collection: resource.name, read, readDeleted, history: { deletedSince } }
}

/** The records that any of some rules allows, or all of them. Where one decides, the rules after it are not asked. */
function allowedByRules(
  catalog: Catalog,
  caller: CallerView,
  rules: readonly AccessRule[],
  placed: Omit<PlacedRule, 'rule'>,
  needed: 'any' | 'all',
): Predicate {
  const decisive = needed === 'any' ? always : never
  const allowed: Predicate[] = []
  for (const rule of rules) {
    const one = allowedBy(catalog, caller, { rule, ...placed })
    if (one.kind === decisive.kind) return decisive
    allowed.push(one)
  }
  return needed === 'any' ? anyOf(allowed) : allOf(allowed)
}

/** A rule of a resource, and its place in the declaration. */
interface PlacedRule {
  readonly rule: AccessRule
  readonly place: string
  readonly resource: Resource
}

/** The records of a resource that one of its rules allows to a caller. */
function allowedBy(catalog: Catalog, caller: CallerView, { rule, place, resource }: PlacedRule): Predicate {
  if (typeof rule === 'function') {
    const answer = callDeclared(place, caller, () => rule(caller))
    return callDeclared(place, caller, () => answerOf(place, answer, resource, caller))
  }
  if (typeof rule === 'object') {
    if ('all' in rule) return allowedByRules(catalog, caller, rule.all, { place, resource }, 'all')
    if (isLookup(rule)) {
      const looked = catalog.resources.get(lookupCollection(rule))
      return looked === undefined ? never : resolveLookup(looked, rule, caller)
    }
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
  const subject = { resource, record: undefined }
  // A value that does not fit its field, such as a claim that the caller does not have, matches no record. A number
  // that is not finite is a mistake: it would be missing, and who returns Infinity means every record.
  const problem = conditionProblems(answer, subject).find(
    ({ code, steps }) => structural.has(code) || !isValue(answer, steps) || isNotFinite(valueAt(answer, steps)),
  )
  if (problem === undefined) return resolveCondition(resource, answer as Condition, { caller })
  const { steps, code } = problem
  const where = steps.length === 0 ? '' : ` at ${below('where', steps)}`
  const value = valueAt(answer, steps)
  const what = isNotFinite(value)
    ? `a number that is not finite${where}: ${value}`
    : `neither true, false nor a condition on ${resource.name}${where} (${code})`
  throw new FunctionFault(`${place} answered with ${what}.`)
}

function valueAt(condition: unknown, steps: Steps): unknown {
  return steps.reduce((value: unknown, step) => Reflect.get(Object(value), step), condition)
}

function isNotFinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

/** Whether a problem is about a value that a field is compared with: `field`, `field.gt`, `field.in[0]`. */
function isValue(condition: unknown, steps: Steps): boolean {
  let rest = steps
  while (rest[0] === 'and' || rest[0] === 'or' || rest[0] === 'not') rest = rest.slice(rest[0] === 'not' ? 1 : 2)
  if (rest.length === 0 || typeof rest[0] !== 'string') return false
  const value = valueAt(condition, steps)
  // The name of an attribute is a part of the condition.
  if (isBinding(Object(valueAt(condition, steps.slice(0, -1))))) return false
  // Members of objects are named before the operator.
  const place = rest.findIndex((step, position) => position > 0 && operators.has(String(step)))
  const [operator, index] = place === -1 ? [] : rest.slice(place)
  // A list without values, such as the teams of a caller who is in none, selects no record.
  const operand = operators.get(String(operator))?.operand
  if (operand === 'list' && index === undefined) return Array.isArray(value)
  if (typeof value === 'object' && value !== null) return false
  return operator === undefined || (operand !== undefined && operand !== 'flag')
}

const structural: ReadonlySet<string> = new Set(['UNKNOWN_FIELD', 'INVALID_OPERATOR'])

/**
 * The fields by which the rules of an action find other records, by `through` or by a lookup: a record whose field
 * changes moves, so it needs the permission of a new record.
 */
export function throughFields(resource: Resource, action: Action): string[] {
  return resource.access[action].flatMap(leadingFields)
}

/** The restricted fields of a resource; `undefined`: the caller may use all fields of the records that they may use. */
interface FieldPermissions {
  readonly readable: FieldGrants | undefined
  readonly writable: FieldGrants | undefined
}

const unrestricted: FieldPermissions = { readable: undefined, writable: undefined }

const fieldPermissions = new WeakMap<CallerView, Map<Resource, FieldPermissions>>()

/** Whether some fields of a resource have access rules, or it shows the records of such resources, as events do. */
export function mayRestrictFields({ fieldAccess, order }: Resource): boolean {
  return fieldAccess !== undefined || order === 'by-position'
}

/**
 * The fields of a resource that are restricted for a caller, with the records in which the caller may read and write
 * them. It is cached with the caller.
 */
export function permitFields(catalog: Catalog, caller: CallerView, resource: Resource): FieldPermissions {
  if (!mayRestrictFields(resource) || isServer(caller)) return unrestricted
  const cached = fieldPermissions.get(caller)?.get(resource)
  if (cached !== undefined) return cached
  const permissions =
    resource.order === 'by-position'
      ? permitRecorded(catalog, caller, resource)
      : permitDeclared(catalog, caller, resource)
  const ofCaller = fieldPermissions.get(caller) ?? new Map<Resource, FieldPermissions>()
  fieldPermissions.set(caller, ofCaller.set(resource, permissions))
  return permissions
}

/** The fields of the records in events, or in revisions: `collection.field`. */
function permitRecorded(catalog: Catalog, caller: CallerView, recording: Resource): FieldPermissions {
  const restricted = [...catalog.resources.values()].flatMap((resource) => {
    const isRecorded = isRecordedIn(recording, resource)
    const { readable } = isRecorded ? permitFields(catalog, caller, resource) : unrestricted
    return Object.entries(readable ?? {}).map(([name, grant]) => [recordedField(resource.name, name), grant] as const)
  })
  return restricted.length === 0 ? unrestricted : { readable: Object.fromEntries(restricted), writable: undefined }
}

function permitDeclared(catalog: Catalog, caller: CallerView, resource: Resource): FieldPermissions {
  const grants = (use: 'read' | 'write'): FieldGrants | undefined => {
    const restricted = [...(resource.fieldAccess ?? [])].flatMap(([name, rules]): [string, Predicate][] => {
      const grant = permitField(catalog, caller, resource, { name, use, rules: rules[use] })
      return grant.kind === 'always' ? [] : [[name, grant]]
    })
    return restricted.length === 0 ? undefined : Object.fromEntries(restricted)
  }
  return { readable: grants('read'), writable: grants('write') }
}

function permitField(
  catalog: Catalog,
  caller: CallerView,
  resource: Resource,
  { name, use, rules }: { name: string; use: 'read' | 'write'; rules: readonly AccessRule[] | undefined },
): Predicate {
  if (rules === undefined) return { kind: 'always' }
  const place = `resources.${resource.name}.access.fields.${name}.${use}`
  return allowedByRules(catalog, caller, rules, { place, resource }, 'any')
}

/**
 * The rules of a list with deleted records (QRY-6): where a rule reads `through` a parent that was deleted together
 * with the record, the parent decides as it was deleted, for callers who may read it in the recycle bin.
 *
 * @param above the collections through whose deleted records the way has led. Rules for deleted records may lead back
 *   to a collection, which rules for one action may not: there the way ends, and such a parent permits nothing.
 * @returns a predicate whose `through` conditions also have `deleted`. Storage follows it from deleted records alone,
 *   to the parents of the same deletion.
 */
export function withDeletedParents(
  reader: { readonly catalog: Catalog; readonly caller: CallerView },
  predicate: Predicate,
  above: readonly string[] = [],
): Predicate {
  return mapTerms(predicate, (term) => {
    if (term.kind === 'masked') {
      const [readable, shown] = [term.readable, term.term].map((each) => withDeletedParents(reader, each, above))
      return { ...term, readable: readable as Predicate, term: shown as Predicate }
    }
    const { catalog, caller } = reader
    const target = term.kind === 'through' ? catalog.resources.get(term.collection) : undefined
    if (term.kind !== 'through' || target === undefined || above.includes(target.name)) return term
    // `readDeleted` holds together with `read` (AUT-9). The rule itself is often one of the two.
    const needed = (['readDeleted', 'read'] as const).map((action) => permit(catalog, caller, action, target))
    const permitted = allOf([...new Set([term.predicate, ...needed])])
    if (permitted.kind === 'never') return term
    return { ...term, deleted: withDeletedParents(reader, permitted, [...above, target.name]) }
  })
}
