/** Access rules of fields in plans: of representations, filters, sort orders and references (AUT-13, AUT-14). */
import { type FieldGrants, grantOf, maskFilter } from 'resourced-contract/model/field-grants'
import { fieldOfName } from 'resourced-contract/model/members'
import { allOf, always, comparedNames, type Predicate, type SortTerm } from 'resourced-contract/model/predicate'
import { resolveCondition } from 'resourced-contract/model/resolve-condition'
import { isMapped, type Resource, resourceOfStored } from 'resourced-contract/model/resource'
import { fault, type Issue, issue, type Place } from 'resourced-contract/spec/faults'
import { permit, permitFields } from '../policy/permit.ts'
import type { Selected } from '../request/list-query.ts'
import { translateQuery } from '../versions/translate-request.ts'
import type { Create, Presentation, Removal } from './plan.ts'
import type { Planning } from './planning.ts'

/** The fields that the caller may not read in every record. */
export function readableFieldsOf(
  { catalog, caller }: Planning,
  resource: Resource,
): Pick<Presentation, 'readableFields'> {
  const { readable } = permitFields(catalog, caller, resource)
  return readable === undefined ? {} : { readableFields: readable }
}

/** The fields that the caller may not read or write in every record. */
export function fieldGrantsOf(
  { catalog, caller }: Planning,
  resource: Resource,
): Pick<Create, 'readableFields' | 'writableFields'> {
  const { readable, writable } = permitFields(catalog, caller, resource)
  return { ...(readable && { readableFields: readable }), ...(writable && { writableFields: writable }) }
}

/** The records that reference fields may be set to, where the caller needs permission to read them (AUT-5). */
export function targetsOf({ catalog, caller }: Planning, { fields }: Resource): Pick<Create, 'targets'> {
  const targets = fields.flatMap(({ name, reference, set }): [string, Predicate][] => {
    const target = catalog.resources.get(reference?.collection ?? '')
    // Clients never send a field that the server sets.
    if (target === undefined || reference?.requires !== 'read' || set !== undefined) return []
    const readable = permit(catalog, caller, 'read', target)
    return readable.kind === 'always' ? [] : [[name, readable]]
  })
  return targets.length === 0 ? {} : { targets: new Map(targets) }
}

/** The fields of some collections that the caller may not read in every record. */
export function readableReferencesOf(
  { catalog, caller }: Planning,
  resources: Iterable<Resource>,
): Pick<Removal, 'readableReferences'> {
  const grants = [...resources].flatMap((each): [string, FieldGrants][] => {
    const { readable } = permitFields(catalog, caller, each)
    return readable === undefined ? [] : [[each.name, readable]]
  })
  return grants.length === 0 ? {} : { readableReferences: new Map(grants) }
}

/**
 * The records that a request selects, in stored terms and in those of the client's version: its condition has the
 * values of the caller.
 */
export function resolveSelected(
  { caller, versionCatalog }: Pick<Planning, 'caller' | 'versionCatalog'>,
  stored: Resource,
  { filter, versionFilter, where }: Selected,
): Omit<Selected, 'where'> {
  if (where === undefined) return { filter, versionFilter }
  const { resources, system } = versionCatalog
  const resource = resourceOfStored({ resources }, stored.name) ?? system.get(stored.name) ?? stored
  const asked = resolveCondition(resource, where.condition, { caller, zone: where.zone })
  const query = isMapped(resource) ? translateQuery(resource, { filter: asked, sort: [] }) : { filter: asked }
  return {
    filter: allOf([filter, query.filter]),
    versionFilter: isMapped(resource) ? allOf([versionFilter ?? always, asked]) : versionFilter,
  }
}

/** What a request selects records by, in stored terms. */
interface Selection {
  readonly filter: Predicate
  readonly sort?: readonly SortTerm[]
  /** The reference by which a nested address selects records. */
  readonly parentField?: string | undefined
}

/** The place of a mistake about a stored field, by the name that the client's version has for it. */
type PlaceOf = (part: 'filter' | 'sort', name: string, field: string) => Place

/** The places in a query: fields that no filter compares are in its condition. */
export function placesIn({ filter }: Pick<Selected, 'filter'>): PlaceOf {
  const filtered = comparedNames(filter)
  return (part, name, field) => {
    if (part === 'sort') return { parameter: 'sort' }
    return { parameter: filtered.includes(field) ? name : 'where' }
  }
}

/**
 * The filter of a request, in which fields count as `null` in the records where the caller may not read them. A list
 * cannot be sorted by a field that the caller may not read in every record: its order would tell the values.
 *
 * @throws Fault FORBIDDEN if the request filters by a field that the caller may read in no record, or sorts by one that
 *   the caller may not read in every record
 */
export function permittedFilter(
  planning: Planning,
  resource: Resource,
  { filter, sort = [], parentField }: Selection,
  placeOf: PlaceOf,
): Predicate {
  const { readableFields } = readableFieldsOf(planning, resource)
  if (readableFields === undefined) return filter
  const parentGrant = parentField === undefined ? undefined : grantOf(readableFields, parentField)
  const nameOf = versionNames(planning, resource)
  const issues: Issue[] = []
  for (const field of new Set(comparedNames(filter))) {
    if (grantOf(readableFields, fieldOfName(field))?.kind !== 'never') continue
    const name = nameOf(field)
    issues.push(issue('unfilterable', { ...placeOf('filter', name, field), name }))
  }
  for (const { field } of sort) {
    if (grantOf(readableFields, field) === undefined) continue
    const name = nameOf(field)
    issues.push(issue('unorderable', { ...placeOf('sort', name, field), name }))
  }
  if (parentGrant?.kind === 'never' && issues.length === 0) {
    const message = `You may not read ${nameOf(String(parentField))}, by which this address finds its records.`
    throw fault('FORBIDDEN', { detail: message })
  }
  if (issues.length > 0) throw fault('FORBIDDEN', { errors: issues })
  return allOf([maskFilter(filter, readableFields), ...(parentGrant === undefined ? [] : [parentGrant])])
}

/** The name that the client's version has for a stored field. */
function versionNames({ versionCatalog }: Planning, { name }: Resource): (field: string) => string {
  const mapping = resourceOfStored(versionCatalog, name)?.mapping
  return (name) => {
    const field = fieldOfName(name)
    return `${mapping?.fromStored.get(field) ?? field}${name.slice(field.length)}`
  }
}
