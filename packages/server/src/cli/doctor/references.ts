/**
 * Checks references against access rules: a caller can refer only to records that they may read (AUT-5). The rules of
 * the declaration say which writers may read nothing, and which may read a part; data is not looked at.
 */
import { simpleRules } from 'resourced-contract/model/access-rules'
import type { AccessRule, Action } from 'resourced-contract/model/declaration'
import { type Catalog, type Field, fieldAccessOf, type Resource } from 'resourced-contract/model/resource'
import { type Diagnosis, ok, warning } from './diagnosis.ts'

/** The roles with which a rule lets callers pass; empty: without any role. */
type Roles = ReadonlySet<string>

const check = 'references'

/** A warning for each reference whose writers may read no record of its target, and a line with the partial ones. */
export function checkReferences(catalog: Catalog): Diagnosis[] {
  const found: Diagnosis[] = []
  const partial: string[] = []
  for (const resource of catalog.resources.values()) {
    for (const field of resource.fields) {
      const target = catalog.resources.get(field.reference?.collection ?? '')
      if (target === undefined || field.reference?.requires !== 'read' || field.readOnly) continue
      const writers = writersOf(catalog, resource, field)
      const place = `${resource.name}.${field.name}`
      const shut = writers.filter((roles) => extentOf(catalog, target, 'read', roles) === 'none')
      if (shut.length > 0) {
        const who = [...new Set(shut.map(named))].join(', ')
        const finding = `${place} refers to ${target.name}, of which some writers may read nothing: ${who}.`
        const remedy = `Let them read ${target.name}, or declare "requires": "none" on ${field.name}.`
        found.push(warning(check, finding, remedy))
      }
      const isPartial = writers.some((roles) => extentOf(catalog, target, 'read', roles) === 'some')
      if (isPartial && !isByTarget(resource, field)) partial.push(`${place} (${target.name})`)
    }
  }
  if (partial.length === 0) return found
  const finding = `Writers can refer only to those records that they may read: ${partial.join(', ')}.`
  return [...found, ok(check, finding)]
}

/** The roles of those who may set a field on creation or by an update, each set once. */
function writersOf(catalog: Catalog, resource: Resource, field: Field): Roles[] {
  const own = fieldAccessOf(resource, field.name)?.write
  const ofField = own === undefined ? [new Set<string>()] : passing(catalog, resource, own)
  const all = (['create', 'update'] as const).flatMap((action) =>
    passing(catalog, resource, resource.access[action]).flatMap((roles) => ofField.map((more) => roles.union(more))),
  )
  return [...new Map(all.map((roles) => [named(roles), roles])).values()]
}

/** The least roles that rules ask for. Rules have no cycles: `checkDeclaration` refuses them. */
function passing(catalog: Catalog, resource: Resource, rules: readonly AccessRule[]): Roles[] {
  return rules.flatMap((rule): Roles[] => {
    const through = throughOf(catalog, resource, rule)
    if (through !== undefined) return passing(catalog, through.target, through.target.access[through.action])
    if (typeof rule === 'object' && 'all' in rule) {
      // Of each rule, one way to pass.
      const ways = rule.all.map((each) => passing(catalog, resource, [each]))
      return ways.reduce((before, next) => before.flatMap((roles) => next.map((more) => roles.union(more))))
    }
    if (rule === 'nobody') return []
    return [new Set(typeof rule === 'string' && rule.startsWith('role:') ? [rule.slice('role:'.length)] : [])]
  })
}

/** Whether callers with some roles may act on all records, perhaps on some, or on none. */
function extentOf(catalog: Catalog, resource: Resource, action: Action, roles: Roles): Extent {
  const extents = resource.access[action].map((rule) => extentOfRule(catalog, resource, rule, roles))
  return extents.find((each) => each === 'all') ?? extents.find((each) => each === 'some') ?? 'none'
}

type Extent = 'all' | 'some' | 'none'

function extentOfRule(catalog: Catalog, resource: Resource, rule: AccessRule, roles: Roles): Extent {
  const through = throughOf(catalog, resource, rule)
  if (through !== undefined) {
    return extentOf(catalog, through.target, through.action, roles) === 'none' ? 'none' : 'some'
  }
  if (typeof rule === 'object' && 'all' in rule) {
    const extents = rule.all.map((each) => extentOfRule(catalog, resource, each, roles))
    return extents.find((each) => each === 'none') ?? extents.find((each) => each === 'some') ?? 'all'
  }
  if (rule === 'anyone') return 'all'
  if (typeof rule !== 'string' || rule === 'owner') return 'some'
  return roles.has(rule.slice('role:'.length)) ? 'all' : 'none'
}

function throughOf(
  { resources }: Catalog,
  { field }: Resource,
  rule: AccessRule,
): { readonly target: Resource; readonly action: Action } | undefined {
  if (typeof rule !== 'object' || !('through' in rule)) return undefined
  const target = resources.get(field.get(rule.through)?.reference?.collection ?? '')
  return target && { target, action: rule.action }
}

/** Whether the permission to write is itself decided by the record that the field refers to. */
function isByTarget({ access }: Resource, { name }: Field): boolean {
  return simpleRules([...access.create, ...access.update]).some(
    (rule) => typeof rule === 'object' && 'through' in rule && rule.through === name,
  )
}

function named(roles: Roles): string {
  return roles.size === 0 ? 'callers without a role' : `callers with the role ${[...roles].sort().join(' and ')}`
}
