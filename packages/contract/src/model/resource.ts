/**
 * The catalog: the declaration made complete, which is all that the rest of the program reads. Here are its types, the
 * names that lists can be filtered and sorted by (QRY-2, QRY-7) and records identified by, and the indexes that serve
 * them.
 */

import type { Issue } from '../spec/faults.ts'
import { ruleFields } from './access-rules.ts'
import type { DecimalForm } from './decimal.ts'
import type {
  AccessRule,
  Action,
  DeletionDeclaration,
  InterfaceDeclaration,
  OnDelete,
  ResourceDeclaration,
  ServerValue,
  TenantsDeclaration,
} from './declaration.ts'
import type { KeptSummary, Total } from './kept-summary.ts'
import type { CompleteKeywords } from './keywords.ts'
import type { Limits } from './limits.ts'
import { historyCollection, secretParameters } from './names.ts'
import { filterOperators, type Operator } from './operators.ts'
import { remembered } from './plain-copy.ts'
import type { ValidateValue } from './schema.ts'
import type { Period } from './time.ts'

/** How a field's values are stored and compared. `json` is any value of no other type. */
export type FieldType = 'string' | 'integer' | 'number' | 'decimal' | 'boolean' | 'array' | 'object' | 'json'

/** A declared field. */
export interface Field extends CompleteKeywords {
  readonly name: string
  readonly type: FieldType
  /** JSON Schema without the words of Resourced. It validates values, and the OpenAPI document contains it. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly format: string | undefined
  /** The precision and scale of a decimal field. */
  readonly decimal: DecimalForm | undefined
  /** The allowed texts of an enum. */
  readonly enum: readonly string[] | undefined
  /** Every record has a value: `null` is refused, or replaced by the default. */
  readonly required: boolean
  /** `undefined`: no default, or one that the server finds (`serverDefault`). */
  readonly default: unknown
  /** The default that the server finds when it creates a record (RES-14). */
  readonly serverDefault: ServerValue | undefined
  /** Set by the server. The owner field is always read-only, and so are fields with `set` or `sequence`. */
  readonly readOnly: boolean
  readonly writeOnly: boolean
  /** Finds all issues of a value. Their pointers begin with the field's own. It is never called with `null`. */
  readonly validate: ValidateValue
  /** How much its words count under `sort=-relevance` (WHR-6). */
  readonly weight: number
  /** How the items of an array are compared, if requests may filter by it (WHR-4). */
  readonly items: Field | undefined
  /** The members of an object that requests may filter by (WHR-4), each with its whole name: `attributes.size`. */
  readonly members: readonly Field[]
}

/** Deletion with every default filled in. */
export interface Deletion extends Required<Omit<DeletionDeclaration, 'gracePeriod' | 'asynchronous' | 'bulk'>> {
  /** Milliseconds. */
  readonly gracePeriod: number
  /** A deletion of more records than this becomes a job (DEL-8); 0: always, infinity: never. */
  readonly asynchronous: { readonly above: number }
  /** The most ids of one bulk deletion; `undefined`: bulk deletion is off. */
  readonly bulk: { readonly max: number } | undefined
}

/** A reference seen from its target: the field that refers to it. */
export interface Dependent {
  readonly collection: string
  readonly field: string
  readonly onDelete: OnDelete
}

/** The functions that convert the values of a field to the older version and back. */
export interface Conversion {
  readonly older: (value: unknown) => unknown
  readonly newer: (value: unknown) => unknown
}

/**
 * How a resource of an older version differs from the stored resource, which is that of the current version (VER-2).
 */
export interface VersionMapping {
  readonly version: string
  readonly stored: Resource
  /** The stored field behind each field of the version that has one. */
  readonly toStored: ReadonlyMap<string, string>
  /** The field of the version for each stored field that it has. */
  readonly fromStored: ReadonlyMap<string, string>
  /** The values of the fields that are not stored, which are the same in all records. */
  readonly constants: ReadonlyMap<string, unknown>
  /** By the field's name in the version. */
  readonly conversions: ReadonlyMap<string, Conversion>
  /** The version's name of each stored collection that it has, and of the stored fields of that collection. */
  readonly collections: ReadonlyMap<string, { readonly name: string; readonly fields: ReadonlyMap<string, string> }>
}

/** A resource of an older version that differs from the stored one. */
export type MappedResource = Resource & { readonly mapping: VersionMapping }

/** The fields of an index, in its order. */
export interface Index {
  readonly fields: readonly string[]
  /** `list`: by comparison keys. `folded`: by text without case. `unique`: no two live records have the same values. */
  readonly kind: 'list' | 'folded' | 'unique'
}

/** Whether conditions name members below a field or a member. */
export function hasMembers({ member }: { readonly member: ReadonlyMap<string, unknown> }, name: string): boolean {
  return [...member.keys()].some((each) => each.startsWith(`${name}.`))
}

/** A name that lists can be filtered by. Of an array, type and field are those of its items. */
export interface Filterable {
  readonly name: string
  readonly isArray: boolean
  readonly type: 'id' | 'string' | 'integer' | 'number' | 'decimal' | 'boolean' | 'timestamp'
  /** `undefined`: the id, or a timestamp that the server sets. */
  readonly field: Field | undefined
}

/** The access rules of one field; `undefined`: it follows the permission for the record. */
export interface FieldAccess {
  readonly read: readonly AccessRule[] | undefined
  readonly write: readonly AccessRule[] | undefined
}

type KeptAsDeclared = 'on' | 'rules' | 'preconditions' | 'maxAge' | 'events'

/** One resource, complete. */
export interface Resource extends Required<Pick<ResourceDeclaration, KeptAsDeclared>> {
  /**
   * Who creates its records. `by-server`: jobs, which clients only read. `for-clients`: API keys, which the server
   * creates on request.
   */
  readonly made: 'by-clients' | 'by-server' | 'for-clients'
  /** The collection's name, as in the path. */
  readonly name: string
  readonly title: string
  readonly description: string | undefined
  readonly fields: readonly Field[]
  readonly field: ReadonlyMap<string, Field>
  /** The members of objects that requests may filter by, by their whole names. */
  readonly member: ReadonlyMap<string, Field>
  readonly owner: string | undefined
  /** The reference whose target also nests the records. */
  readonly within: { readonly field: string; readonly collection: string } | undefined
  /** Sets of fields that are unique among live records; sets of one field come first. */
  readonly unique: readonly (readonly string[])[]
  readonly deletion: Deletion
  readonly updates: Required<NonNullable<ResourceDeclaration['updates']>>
  /** Whether each state of each record is kept (HIS-1), and for how long; without `keep`: for good. */
  readonly history: { readonly keep: Period | undefined } | undefined
  /**
   * The order of lists without `sort`. `by-position`: that of the positions at which the rows were written (`_row`),
   * which clients never see.
   */
  readonly order: 'by-id' | 'by-position'
  /** One matching rule is enough; an empty list allows nobody. */
  readonly access: Readonly<Record<Action, readonly AccessRule[]>>
  /** Completes records that requests create or change (RES-13). */
  readonly prepare: ResourceDeclaration['prepare']
  /** The stored fields that have access rules of their own, in the order of the fields; `undefined`: there are none. */
  readonly fieldAccess?: ReadonlyMap<string, FieldAccess>
  /** The fields by which access rules, also of other resources, look up records of this one. */
  readonly lookedUp: readonly string[]
  /** The references to this resource from all collections. */
  readonly dependents: readonly Dependent[]
  /** The collections nested under a record of this one. */
  readonly children: readonly string[]
  /** How an older version's resource differs from the stored one; `undefined`: not at all. */
  readonly mapping?: VersionMapping
  /** What lists can be filtered by: the id, declared filters, then the timestamps. */
  readonly filterables: readonly Filterable[]
  readonly indexes: readonly Index[]
  /** The summaries whose figures are kept (SUM-3); left out: none. */
  readonly summaries?: readonly KeptSummary[]
  /** The sums of its records that others keep; left out: none. */
  readonly totals?: readonly Total[]
  /** A short hash of the fields and schemas: a change of it changes all entity tags. */
  readonly shape: string
}

/** An interface, complete and frozen. */
export interface Catalog {
  readonly name: string
  readonly title: string
  readonly description: string | undefined
  /** The current version: the first path segment. */
  readonly version: string
  /** The declared resources. */
  readonly resources: ReadonlyMap<string, Resource>
  /** The resources that every interface has, jobs and API keys; events and revisions, where a resource has them. */
  readonly system: ReadonlyMap<string, Resource>
  /**
   * Every version by its name, the oldest first: a catalog with the version's resources, and without versions. Empty in
   * what `completeCatalog` makes; `completeVersions` adds them.
   */
  readonly versions: ReadonlyMap<string, Catalog>
  /** How requests find their tenant (TEN-1); `undefined`: there are no tenants. */
  readonly tenants: Required<TenantsDeclaration> | undefined
  /** Decides about each request of an authenticated caller (AUT-12). */
  readonly authorize: InterfaceDeclaration['authorize']
  readonly limits: Limits
}

/** The fields that every record has in addition to the declared ones (RES-4 to RES-6). */
export const systemFields = ['id', 'created_at', 'updated_at', 'deleted_at'] as const

/**
 * The values of a record, of declared and system fields; a field without a value is `null`. A field that is absent was
 * not read, because it has no influence on the change (`plan/unread-fields.ts`).
 */
export type RecordValues = Readonly<Record<string, unknown>>

/** A record as a request would make it. */
export interface Draft {
  /** Each value fits its field: a value that does not is `null`, so that readers of a draft need not check it. */
  readonly values: RecordValues
  /** What makes it invalid: 400. */
  readonly issues: readonly Issue[]
  /** The declared fields whose value differs from the current one; on creation all that have a value. */
  readonly changed: readonly string[]
  /** The fields whose value the function `prepare` has given. */
  readonly prepared?: readonly string[]
  /** The fields that the request sets or changes, of those that the caller may not write in every record (AUT-14). */
  readonly assigned?: readonly string[]
  /** The fields that the request sets or changes, and may not: 403. */
  readonly refused?: readonly string[]
}

/** Whether deleted records of a resource can be restored (DEL-6). */
export function isRestorable({ deletion }: Resource): boolean {
  return deletion.variant === 'soft' && deletion.restorable
}

/** Whether a resource differs from the stored one. */
export function isMapped(resource: Resource): resource is MappedResource {
  return resource.mapping !== undefined
}

/** The resource as it is stored. */
export function storedResource(resource: Resource): Resource {
  return resource.mapping?.stored ?? resource
}

/** The access rules of a field, by the name that the resource's version has for it. */
export function fieldAccessOf({ fieldAccess, mapping }: Resource, name: string): FieldAccess | undefined {
  return fieldAccess?.get(mapping === undefined ? name : (mapping.toStored.get(name) ?? ''))
}

/** Whether values of an older version differ from the stored ones: then SQL alone cannot write its JSON. */
export function hasConversions({ mapping }: Resource): boolean {
  return mapping !== undefined && mapping.conversions.size > 0
}

/** The resource that a version has for a stored collection; `undefined`: none. */
export function resourceOfStored({ resources }: Pick<Catalog, 'resources'>, collection: string): Resource | undefined {
  const same = resources.get(collection)
  if (same !== undefined && storedResource(same).name === collection) return same
  for (const resource of resources.values()) if (storedResource(resource).name === collection) return resource
  return undefined
}

/** The resource that a named version has for a stored collection; an unknown version counts as the current one. */
export function resourceInVersion(catalog: Catalog, version: string, collection: string): Resource | undefined {
  return resourceOfStored(catalog.versions.get(version) ?? catalog, collection)
}

/** Adds what follows from the fields of a resource and from its access rules. */
export function withIndexes(resource: Omit<Resource, 'member' | 'filterables' | 'indexes'>): Resource {
  const derived = { member: membersOf(resource.fields), filterables: filterablesOf(resource) }
  return { ...resource, ...derived, indexes: indexesOf(resource) }
}

/** The members of objects that requests may filter by, by their whole names. */
export function membersOf(fields: readonly Field[]): Resource['member'] {
  return new Map(fields.flatMap(({ members }) => members.map((each) => [each.name, each] as const)))
}

/** Whether values of a type can be compared: those that have a column of their own. */
export function isComparable(type: FieldType): type is Exclude<FieldType, 'array' | 'object' | 'json'> {
  return type !== 'array' && type !== 'object' && type !== 'json'
}

/** The fields of a resource, and the members of objects that requests may filter by, by name. */
export type NamedFields = Pick<Resource, 'field' | 'member'>

/** A declared field, or a member of an object that requests may filter by; `undefined`: a system field, or none. */
export function namedField({ field, member }: NamedFields, name: string): Field | undefined {
  return field.get(name) ?? member.get(name)
}

/** The same, and of an array its items: what values are compared with. */
export function comparedField(resource: NamedFields, name: string): Field | undefined {
  const found = namedField(resource, name)
  return found?.items ?? found
}

/** The timestamps that lists are filtered and sorted by. Rows in the order of their positions are never updated. */
function timestampsOf(order: Resource['order']): string[] {
  return order === 'by-position' ? ['created_at'] : ['created_at', 'updated_at']
}

function filterablesOf({ fields, order }: Pick<Resource, 'fields' | 'order'>): Filterable[] {
  const declared = fields.flatMap((field): Filterable[] => {
    if (field.writeOnly) return []
    const { name, items } = field
    const compared = [...(field.filter ? [items ?? field] : []), ...field.members]
    return compared.flatMap((each) => {
      const { type } = each
      if (!isComparable(type)) return []
      return [{ name: items === undefined ? each.name : name, isArray: items !== undefined, type, field: each }]
    })
  })
  const system = { isArray: false, field: undefined } as const
  const kept = timestampsOf(order).map((name): Filterable => ({ name, type: 'timestamp', ...system }))
  return [{ name: 'id', type: 'id', ...system }, ...declared, ...kept]
}

/** Whether an operator fits: order needs an ordered type, and parts of texts need free text. */
export function isFitting({ operand, fits }: Operator, { type, field, isArray }: Filterable): boolean {
  if (isArray) return fits === 'arrays' || operand === 'flag'
  if (fits === 'arrays') return false
  const isFree = type === 'string' && field?.enum === undefined && field?.reference === undefined
  if (fits === 'texts') return isFree && field?.format === undefined
  // Every record has an id, and the order of ids is that of `created_at` (WHR-5).
  if (type === 'id') return fits === 'all' && operand !== 'flag'
  return fits === 'all' || isFree || (type !== 'boolean' && type !== 'string')
}

/** The names of the operators that fit. */
export function operatorsFor(filterable: Filterable): string[] {
  return [...filterOperators.values()].flatMap((row) => (isFitting(row, filterable) ? [row.query] : []))
}

/** The names that a collection can be sorted by: declared sorts, then the timestamps. */
export function sortableNames({ fields, order }: Pick<Resource, 'fields' | 'order'>): string[] {
  return [...fields.filter((field) => field.sort).map((field) => field.name), ...timestampsOf(order)]
}

/**
 * The order of how well records match `q` (WHR-6), in `sort`, and as the field of a term. No field has the second name.
 */
export const relevance = { name: 'relevance', field: '_relevance' } as const

/** Whether lists of a resource can be sorted by relevance: words are searched, and no sorted field has its name. */
export function hasRelevance(resource: Pick<Resource, 'fields' | 'order'>): boolean {
  return resource.fields.some(({ search }) => search) && !sortableNames(resource).includes(relevance.name)
}

/**
 * The unique fields by whose values an address may identify a record (BLK-2): the stored name by the name that the
 * resource's version has. No secret stands in an address (QRY-9), and clients send no value of a read-only field.
 */
export const uniqueKeysOf = remembered((resource: Resource): ReadonlyMap<string, string> => {
  const stored = storedResource(resource)
  const names = stored.unique.flatMap(([name = '', ...others]): [string, string][] => {
    const shown = resource.mapping === undefined ? name : (resource.mapping.fromStored.get(name) ?? '')
    const field = others.length === 0 ? resource.field.get(shown) : undefined
    const isKey = field?.writeOnly === false && (!field.readOnly || shown === resource.owner)
    return isKey && !secretParameters.includes(shown) ? [[shown, name]] : []
  })
  return new Map(names)
})

type Indexable = Pick<Resource, 'name' | 'fields' | 'unique' | 'owner' | 'access' | 'lookedUp' | 'order'>

function indexesOf(resource: Indexable): Index[] {
  const { unique } = resource
  if (resource.order === 'by-position') return isHistory(resource) ? revisionIndexes : positionIndexes
  const fields = resource.fields.flatMap((field) => [field, ...field.members])
  const namesOf = (wanted: (field: Field) => boolean) => fields.filter(wanted).map((field) => field.name)
  const sorts = namesOf((field) => field.sort)
  const single = [...namesOf((field) => isIndexed(resource, field)), 'created_at', 'updated_at']
  return [
    ...single.map((name): Index => ({ fields: [name], kind: 'list' })),
    ...namesOf(isFolded).map((name): Index => ({ fields: [name], kind: 'folded' })),
    // A filter with a sort: the page is read in its order, from where the filter's rows begin.
    ...namesOf(isEqualityFilter).flatMap((equality) =>
      sorts.filter((sort) => sort !== equality).map((sort): Index => ({ fields: [equality, sort], kind: 'list' })),
    ),
    ...unique.map((set): Index => ({ fields: set, kind: 'unique' })),
  ]
}

// Each index makes every change of a record slower. The rows are in the order of their positions already.
const positionIndexes: Index[] = [
  { fields: ['record'], kind: 'list' },
  { fields: ['created_at'], kind: 'list' },
]

// Revisions are listed for one record each.
const revisionIndexes: Index[] = [{ fields: ['record_id', 'collection', 'created_at'], kind: 'list' }]

/** Whether an index of this field alone has the records of each value together, ordered by id. */
export function isIndexed(resource: Pick<Resource, 'owner' | 'access' | 'lookedUp'>, field: Field): boolean {
  if (!isComparable(field.type)) return false
  if (field.filter || field.sort || field.reference !== undefined || field.name === resource.owner) return true
  if (resource.lookedUp.includes(field.name)) return true
  return Object.values(resource.access).some((rules) => rules.some((rule) => ruleFields(rule).includes(field.name)))
}

/** Whether a filter of this field selects one of few values: it has an index with each sort. */
export function isEqualityFilter(field: Field): boolean {
  return field.filter && (field.reference !== undefined || field.enum !== undefined || field.type === 'boolean')
}

/** Whether the operators on parts of texts are served by a case-folded text of this field. */
export function isFolded(field: Field): boolean {
  const isFree = field.format === undefined && field.enum === undefined && field.reference === undefined
  return field.type === 'string' && field.filter && isFree
}

/** A resource whose rows may show the records of others: events (EVT-3), and revisions (HIS-1). */
type Recording = Pick<Resource, 'name' | 'order'>

/** Whether the rows of a resource are the states of records. */
export function isHistory({ name, order }: Recording): boolean {
  return order === 'by-position' && name === historyCollection
}

/** Whether changes are written down, as events or as revisions, with the request that makes them. */
export function hasRecording({ system }: { readonly system: ReadonlyMap<string, unknown> }): boolean {
  return system.has('events') || system.has(historyCollection)
}

/** The fields of events and of revisions that hold the id of a record, and the record. */
export function recordedNames(recording: Recording): { readonly id: string; readonly shown: string } {
  return isHistory(recording) ? { id: 'record_id', shown: 'record' } : { id: 'record', shown: 'data' }
}

/** Whether the records of a resource are in events, or in revisions. */
export function isRecordedIn(
  recording: Recording,
  { events, history }: { readonly events: boolean; readonly history: object | undefined },
): boolean {
  return isHistory(recording) ? history !== undefined : events
}
