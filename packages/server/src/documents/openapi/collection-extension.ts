/**
 * The extension `x-collection` of a tag: what a client has to know of a collection, and JSON Schema cannot say. User
 * interfaces and generators read this extension in place of the descriptions, which are for people.
 */
import type { AccessRule } from 'resourced-contract/model/declaration'
import { keywordsOf } from 'resourced-contract/model/keywords'
import { relationsOf } from 'resourced-contract/model/relations'
import {
  type Catalog,
  type Field,
  type FieldAccess,
  fieldAccessOf,
  isHistory,
  operatorsFor,
  type Resource,
  sortableNames,
} from 'resourced-contract/model/resource'
import { type FigureKind, figuresOf, groupsOf } from 'resourced-contract/model/summary'
import type { Json } from './components.ts'
import type { ResourceNames } from './schemas.ts'

/** Describes a collection. Field names and collections are those of the document's version. */
export function collectionExtension(catalog: Catalog, resource: Resource, { one }: ResourceNames): Json {
  const { name, made, fields, owner, within, deletion, preconditions, filterables } = resource
  const isWritable = made === 'by-clients'
  const operators = new Map(
    filterables.map((each) => [each.name, [...(each.isArray ? [] : ['eq']), ...operatorsFor(each)]]),
  )
  const membersOf = ({ name, members }: Field) =>
    Object.fromEntries(members.map((each) => [each.name.slice(name.length + 1), operators.get(each.name)]))
  const relations = [...relationsOf(catalog, resource).values()].map(({ name, ...relation }) => [name, relation])
  const sortable = new Set(sortableNames(resource))
  // What clients neither see nor send is not theirs.
  const isOwn = ({ readOnly, writeOnly }: Field) => writeOnly && (readOnly || isHistory(resource))
  const shown = fields.filter((field) => !isOwn(field))
  const stamps = isHistory(resource) ? ['created_at'] : ['created_at', 'updated_at']
  const described = ['id', ...shown.map(({ name }) => name), ...stamps].map((name) => {
    const field = resource.field.get(name)
    const traits = {
      ...traitsOf(field),
      ...accessTraits(fieldAccessOf(resource, name)),
      ...(operators.has(name) && { filter: operators.get(name) }),
      ...(field !== undefined && field.members.length > 0 && { members: membersOf(field) }),
      ...(sortable.has(name) && { sort: true }),
    }
    return [name, traits] as const
  })
  return {
    path: `/${name}`,
    made,
    schemas: {
      record: one,
      ...(isWritable && { create: `${one}Create`, replace: `${one}Replace`, patch: `${one}Patch` }),
    },
    fields: Object.fromEntries(described.filter(([, traits]) => Object.keys(traits).length > 0)),
    ...(relations.length > 0 && { relations: Object.fromEntries(relations) }),
    ...(isWritable && { summary: summaryOf(resource) }),
    search: fields.some(({ search }) => search),
    ...(within !== undefined && { within: { field: within.field, collection: within.collection } }),
    ...(owner !== undefined && { owner }),
    ...(isWritable && { deletion: deletionOf(deletion), updates: updatesOf(catalog, resource), preconditions }),
  }
}

/** What records can be grouped by, the fields of sums and averages, and those of least and greatest values. */
function summaryOf(resource: Resource): Json {
  const figures = (kind: FigureKind) => [...figuresOf(resource, kind).keys()]
  return { group: [...groupsOf(resource).keys()], sum: figures('sum'), min: figures('min') }
}

function traitsOf(field: Field | undefined): Json {
  if (field === undefined) return { read_only: true }
  return {
    ...Object.assign({}, ...keywordsOf(field).map(({ row, value }) => row.traits?.(value))),
    ...(field.readOnly && { read_only: true }),
    ...(field.writeOnly && { write_only: true }),
  }
}

/** The rules of a field; those with content of the server's own by their kind. */
function accessTraits(access: FieldAccess | undefined): Json {
  if (access === undefined) return {}
  const shown = (rules: readonly AccessRule[]) => rules.map((rule) => (typeof rule === 'string' ? rule : 'condition'))
  const { read, write } = access
  return { access: { ...(read && { read: shown(read) }), ...(write && { write: shown(write) }) } }
}

function deletionOf({ variant, gracePeriod, restorable, bulk, byFilter }: Resource['deletion']): Json {
  return {
    variant,
    ...(variant === 'soft' && { grace_period: gracePeriod / 1000, restorable }),
    bulk: bulk?.max ?? false,
    by_filter: byFilter,
  }
}

function updatesOf({ limits }: Catalog, { updates, preconditions }: Resource): Json {
  // An array has no conditions (BLK-2).
  return { bulk: preconditions === 'required' ? false : limits.bulk, by_filter: updates.byFilter }
}
