/** Plans the records that a read includes (REL-1 to REL-4): each path with the permissions of the caller. */
import { grantOf, mapGrants } from 'resourced-contract/model/field-grants'
import { allOf, always, type Position, type Predicate } from 'resourced-contract/model/predicate'
import { relationsOf } from 'resourced-contract/model/relations'
import { isMapped, type Resource, storedResource } from 'resourced-contract/model/resource'
import { permit, withDeletedParents } from '../policy/permit.ts'
import type { IncludedPath } from '../request/include.ts'
import { readListQuery } from '../request/list-query.ts'
import { readParameters } from '../request/parameters.ts'
import { translateSort } from '../versions/translate-request.ts'
import { retainedSince } from './check-record.ts'
import { bindingOf, sealCursor } from './cursor.ts'
import type { Conditions, Include, RelatedPath } from './plan.ts'
import { permittedSelection, readableFieldsOf, selectionOf } from './plan-grants.ts'
import type { Planning } from './planning.ts'

/**
 * Plans the related records of a read.
 *
 * @param includesDeleted whether deleted records are asked for
 * @throws Fault FORBIDDEN as `permittedSelection`
 */
export function includeOf(
  planning: Planning,
  paths: readonly IncludedPath[],
  { conditions, includesDeleted }: { readonly conditions: Conditions; readonly includesDeleted: boolean },
): Include {
  return { paths: paths.map((path) => planPath(planning, path, includesDeleted)), conditions }
}

const unfiltered = { filter: always, versionFilter: undefined, related: always }

function planPath(planning: Planning, asked: IncludedPath, includesDeleted: boolean): RelatedPath {
  const { catalog, caller, now } = planning
  const { path, above, relation, limit, fields } = asked
  const [source, resource] = [storedResource(asked.source), storedResource(asked.resource)]
  const inBin = (predicate: Predicate) => (includesDeleted ? withDeletedParents(planning, predicate) : predicate)
  const field = storedName(relation.to === 'one' ? asked.source : asked.resource, relation.field)
  const grants = readableFieldsOf(planning, resource).readableFields
  const ofReference = grantOf(relation.to === 'one' ? readableFieldsOf(planning, source).readableFields : grants, field)
  const referring = inBin(ofReference ?? always)
  const read = permit(catalog, caller, 'read', resource)
  const { parts } = selectionOf(planning, resource, { ...unfiltered, where: asked.where })
  const { filter: matching, sort } = permittedSelection(planning, resource, {
    parts: parts.map(({ filter }) => ({ filter, placeOf: () => ({ parameter: `include[${path}][where]` }) })),
    sort: translateSort(planning.versionCatalog, asked.resource, asked.sort),
    change: inBin,
    sortPlace: { parameter: `include[${path}][sort]` },
  })
  // To find records by a field tells its value.
  const isFound = (permitted: Predicate) =>
    relation.to === 'one' ? permitted : allOf([permitted, referring, matching])
  const readDeleted = allOf([permit(catalog, caller, 'readDeleted', resource), read])
  const mayReadDeleted = includesDeleted && readDeleted.kind !== 'never'
  const deleted = mayReadDeleted
    ? { permitted: isFound(inBin(readDeleted)), since: retainedSince(resource, now) }
    : undefined
  return {
    ...{ path, above, to: relation.to, source: source.name, collection: resource.name, field, limit, fields },
    ...{ referring, permitted: isFound(read), deleted, readableFields: grants && mapGrants(grants, inBin) },
    version: isMapped(asked.resource) ? asked.resource.mapping.version : undefined,
    sort,
    list: listOf(planning, asked, mayReadDeleted),
  }
}

function storedName({ mapping }: Resource, name: string): string {
  return mapping?.toStored.get(name) ?? name
}

function listOf({ versionCatalog }: Planning, asked: IncludedPath, withDeleted: boolean): RelatedPath['list'] {
  const { relation, source, resource, limit, query } = asked
  if (relation.to === 'one') return undefined
  const { field } = relation
  const isNested = resource.within?.field === field && source.children.includes(resource.name)
  const isFilterable = resource.filterables.some(({ name }) => name === field)
  const back = [...relationsOf(versionCatalog, resource).values()].find(
    (each) => each.to === 'one' && each.field === field,
  )
  // A deleted record has no nested lists, and no relation leads to it.
  const parent = isNested && !(withDeleted && isFilterable) ? source.name : undefined
  const filter = isFilterable || parent !== undefined ? field : back && !withDeleted ? `${back.name}.id` : undefined
  if (filter === undefined) return undefined
  const size = limit === 0 ? [] : [`limit=${limit}`]
  const parameters = [...query, ...(withDeleted ? ['include_deleted=true'] : []), ...size]
  return { parent, collection: resource.name, filter, parameters }
}

/**
 * Makes the address of the list that goes on with the related records of a record.
 *
 * @param kept parameters that every address of the request has
 * @returns for the id of the record and the keys of the last related one: the address; `null`: no list has them
 */
export function listAddresses(
  { versionCatalog, cursorSecret, basePath }: Pick<Planning, 'versionCatalog' | 'cursorSecret' | 'basePath'>,
  { list, source, collection }: RelatedPath,
  kept: readonly string[],
): (id: string, keys: Position['keys'] | undefined) => string | null {
  if (list === undefined) return () => null
  const resource = versionCatalog.resources.get(list.collection) as Resource
  const bindingFor = (parameters: readonly string[]) =>
    readListQuery(resource, readParameters(parameters.join('&')), versionCatalog).binding
  // That of a nested list is the same for all records.
  const ofNested = list.parent === undefined ? '' : bindingFor(list.parameters)
  return (id, keys) => {
    const isNested = list.parent !== undefined
    const path = isNested ? `${list.parent}/${id}/${list.collection}` : list.collection
    const parameters = isNested ? list.parameters : [`${list.filter}=${id}`, ...list.parameters]
    const parent = isNested ? { resource: { name: source }, id } : undefined
    const own = [...kept, ...parameters]
    if (keys !== undefined) {
      const query = isNested ? ofNested : bindingFor(parameters)
      const binding = bindingOf(versionCatalog, { name: collection }, parent, query)
      own.push(`cursor=${sealCursor(cursorSecret, binding, { direction: 'forward', keys })}`)
    }
    return `${basePath}/${path}${own.length === 0 ? '' : `?${own.join('&')}`}`
  }
}
