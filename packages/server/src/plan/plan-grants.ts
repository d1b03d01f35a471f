/**
 * The permissions of plans: the one that a request cannot do without, those of fields (AUT-13, AUT-14) and of
 * references (AUT-5), and what a request selects records by, in stored terms, as far as its caller may read what it
 * names: filters, conditions and sort orders (WHR-3). Fields count as `null`, and related records as missing, where the
 * caller may not read them.
 */
import type { Action } from 'resourced-contract/model/declaration'
import { type FieldGrants, grantOf, mapGrants, maskTerm } from 'resourced-contract/model/field-grants'
import { fieldOfName } from 'resourced-contract/model/members'
import {
  allOf,
  always,
  collectionsOf,
  comparedNames,
  linkOf,
  mapTerms,
  type Predicate,
  type SortStep,
  type SortTerm,
} from 'resourced-contract/model/predicate'
import { relationsOf } from 'resourced-contract/model/relations'
import { resolveCondition } from 'resourced-contract/model/resolve-condition'
import { type Resource, resourceOfStored, storedResource } from 'resourced-contract/model/resource'
import { fault, type Issue, issue, type Place } from 'resourced-contract/spec/faults'
import { permit, permitFields } from '../policy/permit.ts'
import type { AskedCondition } from '../request/condition.ts'
import type { IncludedPath } from '../request/include.ts'
import type { Selected } from '../request/list-query.ts'
import { translatePredicate } from '../versions/translate-request.ts'
import type { Create, Presentation, Removal } from './plan.ts'
import { eventsIn } from './plan-events.ts'
import type { Planning } from './planning.ts'

const verbs: Readonly<Record<Action, string>> = {
  read: 'read',
  create: 'create',
  update: 'change',
  delete: 'delete',
  restore: 'restore',
  readDeleted: 'see deleted',
  readHistory: 'read the history of',
}

/**
 * The records on which the caller may act.
 *
 * @throws Fault FORBIDDEN if there can be none
 */
export function requiredGrant(
  { catalog, versionCatalog, caller }: Pick<Planning, 'catalog' | 'versionCatalog' | 'caller'>,
  action: Action,
  resource: Resource,
): Predicate {
  const granted = permit(catalog, caller, action, resource)
  const predicate = granted.kind === 'event' ? eventsIn(versionCatalog, granted) : granted
  if (predicate.kind !== 'never') return predicate
  const { name } = resourceOfStored(versionCatalog, resource.name) ?? resource
  throw fault('FORBIDDEN', { detail: `Your credential does not allow you to ${verbs[action]} ${name}.` })
}

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

/** One part of what a request selects records by, in stored terms. */
export interface SelectionPart {
  readonly filter: Predicate
  /** The place of a mistake about a field, by the name that the client's version has for it: `author.born`. */
  readonly placeOf: (name: string) => Place
}

type Selecting = Pick<Planning, 'caller' | 'catalog' | 'versionCatalog'>

/**
 * What a request selects: its parts, and all of it in terms of the older version that the client uses (`undefined`:
 * they are the same). The condition has the values of the caller.
 */
export function selectionOf(
  selecting: Selecting,
  stored: Resource,
  { filter, versionFilter, related, where }: Selected,
): { readonly parts: readonly SelectionPart[]; readonly versionFilter: Predicate | undefined } {
  const placeOf = (name: string) => ({ parameter: name })
  const parts: SelectionPart[] = [{ filter, placeOf }]
  if (related.kind === 'always' && where === undefined) return { parts, versionFilter }
  const { versionCatalog } = selecting
  const resource = versionOf(selecting, stored)
  if (related.kind !== 'always') parts.push({ filter: translatePredicate(versionCatalog, resource, related), placeOf })
  const asked = where === undefined ? always : resolveAsked(selecting, resource, where)
  if (where !== undefined) {
    const translated = translatePredicate(versionCatalog, resource, asked)
    parts.push({ filter: translated, placeOf: () => ({ parameter: 'where' }) })
  }
  return { parts, versionFilter: versionFilter && allOf([versionFilter, related, asked]) }
}

/** A condition of a request with the values of its caller, in terms of its version. */
export function resolveAsked(
  { caller, versionCatalog }: Selecting,
  resource: Resource,
  { condition, zone }: Pick<AskedCondition, 'condition' | 'zone'>,
): Predicate {
  return resolveCondition(resource, condition, { caller, zone, related: versionCatalog })
}

/** What a request asks of the records of an address. */
export interface Asked {
  readonly selected?: Pick<Selected, 'related' | 'where'> & { readonly sort?: readonly SortTerm[] }
  readonly include?: readonly IncludedPath[]
}

/** The other collections that a request reads: those of its filters, conditions, sort orders and related records. */
export function collectionsAskedFor(selecting: Selecting, asked: Asked, resource: Resource): ReadonlySet<string> {
  const { selected, include = [] } = asked
  const { resources } = selecting.versionCatalog
  const found = new Set<string>()
  const add = (from: Resource, where: AskedCondition | undefined) =>
    where && collectionsOf(resolveAsked(selecting, from, where), found)
  if (selected !== undefined) collectionsOf(selected.related, found)
  add(resource, selected?.where)
  for (const path of include) {
    for (const each of [path.resource.name, ...sortedBy(path.sort)]) found.add(each)
    add(path.resource, path.where)
  }
  const stored = [...found].map((name) => storedResource(resources.get(name) as Resource).name)
  // The order of a list is in stored terms.
  return new Set([...stored, ...sortedBy(selected?.sort)])
}

function sortedBy(sort: readonly SortTerm[] = []): string[] {
  return sort.flatMap(({ through = [] }) => through.map(({ collection }) => collection))
}

/** The resource of the client's version. */
function versionOf({ versionCatalog }: Pick<Planning, 'versionCatalog'>, stored: Resource): Resource {
  return resourceOfStored(versionCatalog, stored.name) ?? versionCatalog.system.get(stored.name) ?? stored
}

/** What a request selects records by. */
interface Selection {
  readonly parts: readonly SelectionPart[]
  readonly sort?: readonly SortTerm[]
  /** The reference by which a nested address selects records. */
  readonly parentField?: string | undefined
  /** Changes the records in which the caller may read a field. */
  readonly change?: (grant: Predicate) => Predicate
  /** The place of a mistake in the sort order. */
  readonly sortPlace?: Place
}

/**
 * The filter and the order of a request, in which fields count as `null` in the records where the caller may not read
 * them, and records of relations as missing. A list cannot be sorted by a field of its records that the caller may not
 * read in every record: its order would tell the values.
 *
 * @throws Fault FORBIDDEN if the request names a field or a collection that the caller may read in no record, or sorts
 *   by a field that the caller may not read in every record
 */
export function permittedSelection(
  selecting: Selecting,
  resource: Resource,
  { parts, sort = [], parentField, change = (grant) => grant, sortPlace = { parameter: 'sort' } }: Selection,
): { readonly filter: Predicate; readonly sort: readonly SortTerm[] } {
  const { readable } = permitFields(selecting.catalog, selecting.caller, resource)
  const grants = readable && mapGrants(readable, change)
  const [only, ...others] = parts
  // The same objects come back where they can: statements and answers are found by them.
  const isPlain = grants === undefined && others.length === 0 && !sort.some(({ through }) => through)
  if (isPlain && only !== undefined && collectionsOf(only.filter).size === 0) return { filter: only.filter, sort }
  const issues: Issue[] = []
  const filters = parts.map(({ filter, placeOf }) => {
    const refuse = (name: string) => void issues.push(issue('unfilterable', { ...placeOf(name), name }))
    return new Mask(selecting, refuse).filter(resource, filter, grants, '')
  })
  const refuseOrder = (name: string) => void issues.push(issue('unorderable', { ...sortPlace, name }))
  const mask = new Mask(selecting, refuseOrder)
  const order = sort.map((term) => mask.order(resource, term, grants))
  const parentGrant = parentField === undefined ? undefined : grantOf(grants, parentField)
  if (parentGrant?.kind === 'never' && issues.length === 0) {
    const name = mask.nameOf(resource, String(parentField))
    throw fault('FORBIDDEN', { detail: `You may not read ${name}, by which this address finds its records.` })
  }
  if (issues.length > 0) throw fault('FORBIDDEN', { errors: issues })
  return { filter: allOf([...filters, ...(parentGrant === undefined ? [] : [parentGrant])]), sort: order }
}

/** Puts the permissions of a caller into what a request selects records by. */
class Mask {
  readonly #selecting: Selecting
  /** Notes what the caller may read in no record, by its name in the client's version. */
  readonly #refuse: (name: string) => void

  constructor(selecting: Selecting, refuse: (name: string) => void) {
    this.#selecting = selecting
    this.#refuse = refuse
  }

  /** @param before the relations that lead to the record, each with a dot after it */
  filter(resource: Resource, filter: Predicate, grants: FieldGrants | undefined, before: string): Predicate {
    return mapTerms(filter, (term, isNegated) => {
      if (term.kind === 'masked') return { ...term, readable: this.filter(resource, term.readable, grants, before) }
      for (const name of new Set(comparedNames(term))) {
        if (grantOf(grants, fieldOfName(name))?.kind !== 'never') continue
        this.#refuse(`${before}${this.nameOf(resource, name)}`)
      }
      const isLookup = term.kind === 'through' || term.kind === 'some'
      return maskTerm(isLookup ? this.#lookup(resource, term, before) : term, grants, isNegated)
    })
  }

  /** A lookup that finds only what the caller may read. */
  #lookup(resource: Resource, term: Lookup, before: string): Predicate {
    const target = this.#collection(term.collection)
    const field = term.kind === 'through' ? term.field : String(linkOf(term.predicate)?.field)
    const name = `${before}${this.#relationName(resource, target, { kind: term.kind, field })}`
    const predicate = this.filter(target, term.predicate, this.#grants(target), `${name}.`)
    return { ...term, predicate: allOf([predicate, this.#readable(target, name)]) }
  }

  order(resource: Resource, term: SortTerm, grants: FieldGrants | undefined): SortTerm {
    const { through = [], field } = term
    const [first] = through
    const own = grantOf(grants, first?.field ?? field)
    if (first === undefined) {
      if (own !== undefined) this.#refuse(this.nameOf(resource, field))
      return term
    }
    if (own?.kind === 'never') this.#refuse(this.nameOf(resource, first.field))
    let from = resource
    let name = ''
    const steps = through.map((step, index): SortStep => {
      const target = this.#collection(step.collection)
      name = `${name}${this.#relationName(from, target, { kind: 'through', field: step.field })}`
      const next = through[index + 1]?.field ?? field
      const grant = grantOf(this.#grants(target), next) ?? always
      const permitted = allOf([this.#readable(target, name), grant])
      name = `${name}.`
      if (grant.kind === 'never') this.#refuse(`${name}${this.nameOf(target, next)}`)
      from = target
      return permitted.kind === 'always' ? step : { ...step, permitted }
    })
    return { ...term, through: steps, ...(own !== undefined && { readable: own }) }
  }

  /** The name that the client's version has for a stored field, or for a member of it. */
  nameOf(resource: Resource, name: string): string {
    const field = fieldOfName(name)
    const own = versionOf(this.#selecting, resource).mapping?.fromStored.get(field) ?? field
    return `${own}${name.slice(field.length)}`
  }

  /** The name that the client's version has for a relation between stored resources. */
  #relationName(resource: Resource, target: Resource, { kind, field }: Reference): string {
    const [own, other] = [resource, target].map((each) => versionOf(this.#selecting, each)) as [Resource, Resource]
    const to = kind === 'through' ? 'one' : 'many'
    const name = this.nameOf(to === 'one' ? resource : target, field)
    const relations = relationsOf(this.#selecting.versionCatalog, own)
    const found = [...relations.values()].find(
      (each) => each.to === to && each.field === name && each.collection === other.name,
    )
    return found?.name ?? name
  }

  /** The records of a collection that the caller may read. */
  #readable(resource: Resource, name: string): Predicate {
    const { catalog, caller } = this.#selecting
    const readable = permit(catalog, caller, 'read', resource)
    if (readable.kind === 'never') this.#refuse(name)
    return readable
  }

  #grants(resource: Resource): FieldGrants | undefined {
    const { catalog, caller } = this.#selecting
    return permitFields(catalog, caller, resource).readable
  }

  #collection(name: string): Resource {
    return this.#selecting.catalog.resources.get(name) as Resource
  }
}

type Lookup = Extract<Predicate, { readonly kind: 'through' | 'some' }>

/** The reference field of a relation: of the resource itself (`through`), or of its target. */
type Reference = { readonly kind: 'through' | 'some'; readonly field: string }
