/**
 * Address + input + grants -> plan. Outright refusals end here (403); everything that depends on a record travels on. A
 * request of an older version is planned in stored terms, and its outcome is translated back (VER-2).
 */

import type { Action } from 'resourced-contract/model/declaration'
import { mapGrants } from 'resourced-contract/model/field-grants'
import { isObject } from 'resourced-contract/model/plain-copy'
import { allOf, type Predicate, type SortTerm } from 'resourced-contract/model/predicate'
import { type Field, isMapped, type MappedResource, type Resource } from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import type { Conditions } from '../http/preconditions.ts'
import { isAdministrator, permit, throughFields, withDeletedParents } from '../policy/permit.ts'
import type { Input } from '../request/input.ts'
import { filterRequired, type Selected } from '../request/list-query.ts'
import { readItems, unsettableMembers } from '../request/parameters.ts'
import { type HistoryTarget, isHistoryOf, type Target } from '../request/target.ts'
import { translateTarget } from '../versions/translate-request.ts'
import { mostRestored, retainedSince } from './check-record.ts'
import { bindingOf, openPage } from './cursor.ts'
import type {
  BulkDelete,
  Create,
  DeleteMatching,
  Parent,
  Plan,
  PreviewDeletion,
  ReadPage,
  Removal,
  Update,
  WriteMany,
} from './plan.ts'
import { jobsOf, planExport, planExportFile } from './plan-export.ts'
import {
  fieldGrantsOf,
  permittedSelection,
  readableFieldsOf,
  readableReferencesOf,
  requiredGrant,
  selectionOf,
  targetsOf,
} from './plan-grants.ts'
import { formerState, listedRevisions, planErasure, withDeletedRecords } from './plan-history.ts'
import { includeOf } from './plan-include.ts'
import { planKey } from './plan-key.ts'
import { planSummary } from './plan-summary.ts'
import { planTransaction } from './plan-transaction.ts'
import { planDelivery, planWebhook, planWebhookUpdate } from './plan-webhook.ts'
import { idempotencyOf, type Planning } from './planning.ts'

type ResourceTarget = Extract<Target, { readonly resource: Resource }>
/** Streams are planned anew for each read. */
type PlannedInput = Exclude<Input, { readonly kind: 'event-stream' }>
type ResourceInput = Exclude<PlannedInput, { readonly kind: 'document' | 'export' | 'read-summary' | 'transaction' }>
type InputOf<Kind extends Input['kind']> = Extract<Input, { readonly kind: Kind }>

/**
 * Plans a request.
 *
 * @throws Fault FORBIDDEN if no record could be allowed; INVALID_CURSOR
 */
export function planRequest(planning: Planning, target: Target, input: PlannedInput): Plan {
  if (input.kind === 'read-summary') {
    const { resource } = target as ResourceTarget
    const { query } = input
    // The page of the list has no meaning.
    const listed = { ...query.list, page: { style: 'offset', offset: 0, limit: 1 } as const }
    const records = { kind: 'read-page', query: listed, conditions: {} } as const
    return planSummary(planning, planRequest(planning, { kind: 'collection', resource }, records) as ReadPage, input)
  }
  if ('resource' in target && isMapped(target.resource)) {
    // The tag of an erasure is that of its record.
    const versionResource = input.kind === 'erase' && isHistoryOf(target) ? target.parent.resource : target.resource
    const plan = planRequest(planning, translateTarget(target), input)
    return isMapped(versionResource) ? inVersion(plan, versionResource) : plan
  }
  if (input.kind === 'export') return planExport(planning, input)
  if (input.kind === 'transaction') return planTransaction(planning, input, planRequest)
  if (input.kind === 'delete' && target.kind === 'export') {
    const job = madeRecord(planning, jobsOf(planning), target.id, input.conditions)
    return { kind: 'delete-job', ...job, mustExport: true }
  }
  if (input.kind === 'document') {
    if (target.kind === 'export-content') return planExportFile(planning, target.id, input.conditions)
    throw new Error(`No plan for ${target.kind}.`)
  }
  if (!('resource' in target)) throw new Error(`No plan for ${target.kind}.`)
  const { resource } = target
  if (resource.made !== 'by-clients') {
    const plan = planMade(planning, target, input)
    if (plan !== undefined) return plan
  }
  return planForResource(planning, target, input)
}

/** A plan in terms of an older version, with the plans that it has for single records. */
function inVersion<P extends object>(plan: P, versionResource: MappedResource): P {
  const { create, update } = plan as Partial<Pick<WriteMany, 'create' | 'update'>>
  return {
    ...plan,
    versionResource,
    ...(create && { create: { ...create, versionResource } }),
    ...(update && { update: { ...update, versionResource } }),
  }
}

/** Plans a change of what the server makes; `undefined`: the request is planned like others. */
function planMade(planning: Planning, target: ResourceTarget, input: ResourceInput): Plan | undefined {
  const { resource } = target
  if (input.kind === 'delete' && target.kind === 'record') {
    const made = madeRecord(planning, resource, target.id, input.conditions)
    if (resource.name === 'jobs') return { kind: 'delete-job', ...made, mustExport: false }
    if (resource.name === 'webhooks') return { kind: 'delete-webhook', ...made }
    if (resource.name !== 'api-keys') return undefined
    const roles = isAdministrator(planning.caller) ? undefined : planning.caller.roles
    return { kind: 'revoke-key', ...made, descendants: input.descendants, roles }
  }
  switch (resource.name) {
    case 'api-keys':
      if (input.kind === 'create') return planKey(planning, resource, input)
      break
    case 'webhooks': {
      if (input.kind === 'read-page' || input.kind === 'read-record') break
      const plan = planForResource(planning, target, input)
      if (plan.kind === 'create') return planWebhook(planning, plan)
      if ('movedBy' in plan) return planWebhookUpdate(planning, plan)
      break
    }
    case 'deliveries':
      if (input.kind === 'create') return planDelivery(planning, resource, input)
  }
  return undefined
}

/** What plans to delete something that the server makes have in common. */
function madeRecord({ caller, catalog, now }: Planning, resource: Resource, id: string, conditions: Conditions) {
  return { resource, id, permitted: permit(catalog, caller, 'delete', resource), conditions, caller, now }
}

function planForResource(planning: Planning, target: ResourceTarget, input: ResourceInput): Plan {
  const { caller, catalog, now } = planning
  const { resource } = target
  const id = 'id' in target ? target.id : ''
  const required = (action: Action) => requiredGrant(planning, action, resource)
  switch (input.kind) {
    case 'read-record': {
      const { fields, conditions, at, includeDeleted } = input
      const granted = required('read')
      const permitted = includeDeleted ? withDeletedRecords(planning, granted) : granted
      const included = input.include.length > 0
      const include = included ? includeOf(planning, input.include, { conditions, includesDeleted: false }) : undefined
      return {
        ...{ kind: 'read-record', resource, id, permitted, fields },
        ...(at !== undefined && { former: formerState(planning, resource, at, includeDeleted) }),
        ...(include === undefined ? { conditions } : { conditions: {}, include }),
        ...readableFieldsOf(planning, resource),
      }
    }
    case 'read-page':
      return planPage(planning, target, input)
    case 'create':
      return {
        kind: 'create',
        resource,
        id: uuidv7(),
        parent: parentOf(planning, target),
        body: input.body,
        permitted: required('create'),
        mayAssignOwner: isAdministrator(caller),
        ...fieldGrantsOf(planning, resource),
        ...targetsOf(planning, resource),
        idempotency: idempotencyOf(planning, placeOf(target), input),
        caller,
        now,
      }
    case 'write-many':
      return planMany(planning, target, input)
    case 'replace':
    case 'merge':
    case 'patch':
      return planUpdate(planning, resource, id, input)
    case 'delete':
      return {
        ...{ kind: 'delete', id, conditions: input.conditions },
        ...removalOf(planning, resource, required('delete')),
        ...readableFieldsOf(planning, resource),
      }
    case 'erase':
      return planErasure(planning, (target as HistoryTarget).parent, input)
    case 'preview':
      return planPreview(planning, resource, { ids: [id], isBulk: false })
    case 'bulk-delete':
    case 'delete-matching':
      return planBulkDeletion(planning, resource, input, allOf([required('delete'), required('read')]))
    case 'update-matching': {
      const permitted = allOf([required('update'), required('read')])
      const update = planUpdate(planning, resource, id, { kind: 'merge', body: input.body, conditions: {} })
      const { id: change, ...work } = workOf(planning, resource.updates.above)
      return {
        ...{ kind: 'update-matching', resource, update, change, ...work, permitted, caller, now },
        ...{ filter: matchedBy(planning, resource, input.selected, 'changed'), most: planning.preferred.most },
        conditions: input.conditions,
      }
    }
    case 'restore': {
      const { id: restoration, ...work } = workOf(planning, mostRestored, resource)
      return {
        kind: 'restore',
        resource,
        id,
        restoration,
        ...work,
        permitted: required('restore'),
        mayRead: permit(catalog, caller, 'read', resource),
        ...readableFieldsOf(planning, resource),
        readable: readableOf(planning, catalog.resources.values()),
        conditions: input.conditions,
        idempotency: idempotencyOf(planning, [resource.name, id, 'restore'], input),
        caller,
        now,
      }
    }
  }
}

function planPage(planning: Planning, target: ResourceTarget, input: InputOf<'read-page'>): ReadPage {
  const { versionCatalog, cursorSecret, now } = planning
  const { resource } = target
  // The access rules of events find deleted records by themselves (EVT-4).
  const isBin = input.query.includeDeleted !== false && resource.order === 'by-id'
  const inBin = (predicate: Predicate) => (isBin ? withDeletedParents(planning, predicate) : predicate)
  const { search, page, includeDeleted, binding, key: asked } = input.query
  const isTimeMap = isHistoryOf(target) && planning.prefersLinks === true
  const fields = isTimeMap ? ['kind', 'created_at'] : input.query.fields
  const key = isTimeMap ? undefined : asked
  const history = isHistoryOf(target) ? listedRevisions(planning, target.parent, includeDeleted !== false) : undefined
  const parent = history?.parent ?? parentOf(planning, target)
  const permitted = history?.permitted ?? requiredGrant(planning, 'read', resource)
  const { parts, versionFilter } = selectionOf(planning, resource, input.query)
  const selection = { parts, sort: input.query.sort, parentField: parent?.field, change: inBin }
  const selected = permittedSelection(planning, resource, selection)
  const filter = history === undefined ? selected.filter : allOf([history.filter, selected.filter])
  const sort = history === undefined || selected.sort.length > 0 ? selected.sort : newestFirst
  const deleted =
    includeDeleted && history === undefined
      ? {
          permitted: inBin(allOf([requiredGrant(planning, 'readDeleted', resource), permitted])),
          since: retainedSince(resource, now),
          only: includeDeleted === 'only',
        }
      : undefined
  const { include: paths } = input.query
  const include = paths.length > 0 ? includeOf(planning, paths, { ...input, includesDeleted: isBin }) : undefined
  const conditions = include === undefined ? input.conditions : {}
  const { readableFields } = readableFieldsOf(planning, resource)
  const list = {
    ...({ kind: 'read-page', resource, parent, filter, versionFilter, permitted, search, deleted, sort } as const),
    ...(readableFields && { readableFields: mapGrants(readableFields, inBin) }),
    ...(include && { include }),
    ...(isTimeMap && { isTimeMap }),
  }
  if (page.style !== 'cursor') return { ...list, page, fields, conditions, key }
  const cursorBinding = bindingOf(versionCatalog, resource, parent, binding)
  return { ...list, page: openPage(cursorSecret, cursorBinding, page), fields, conditions, key, cursorBinding }
}

/** The order of revisions. */
const newestFirst: readonly SortTerm[] = [{ field: 'created_at', descending: true }]

function planUpdate(
  planning: Planning,
  resource: Resource,
  id: string,
  { kind, body, conditions }: InputOf<'replace' | 'merge' | 'patch'>,
): Update {
  const { caller, catalog, now } = planning
  const permitted = requiredGrant(planning, 'update', resource)
  return {
    kind,
    resource,
    id,
    body,
    permitted,
    mayCreate: permit(catalog, caller, 'create', resource),
    movedBy: [...throughFields(resource, 'update'), ...throughFields(resource, 'create')],
    // A JSON Patch reads the record: callers who may read nothing are refused before it is looked up.
    mayRead: kind === 'patch' ? requiredGrant(planning, 'read', resource) : permit(catalog, caller, 'read', resource),
    mayAssignOwner: isAdministrator(caller),
    ...fieldGrantsOf(planning, resource),
    ...targetsOf(planning, resource),
    conditions,
    caller,
    now,
  }
}

/** Plans the creation and change of many records. If the caller may do neither, the request ends here. */
function planMany(planning: Planning, target: ResourceTarget, input: InputOf<'write-many'>): WriteMany {
  const { caller, catalog, now } = planning
  const { resource } = target
  const { method, bodies, key, isSingle, issues, conditions, idempotencyKey } = input
  const isPossible = (action: 'create' | 'update') => permit(catalog, caller, action, resource).kind !== 'never'
  const creates = method === 'POST' || (method === 'PUT' && isPossible('create'))
  const changes = method === 'PATCH' || (method === 'PUT' && (!creates || isPossible('update')))
  const kind = method === 'PUT' ? 'replace' : 'merge'
  const of = isSingle ? conditions : {}
  const create = { kind: 'create', body: undefined, idempotencyKey: undefined } as const
  return {
    kind: 'write-many',
    ...{ resource, issues, bodies, isSingle, conditions, caller, now },
    ids: bodies.map(() => uuidv7()),
    ...(key !== undefined && { key }),
    ...(creates && { create: planForResource(planning, target, create) as Create }),
    ...(changes && { update: planUpdate(planning, resource, '', { kind, body: undefined, conditions: of }) }),
    ...readableFieldsOf(planning, resource),
    idempotency: idempotencyOf(planning, placeOf(target), { idempotencyKey, body: bodies }),
  }
}

/** What distinguishes a collection from others, nested ones included. */
function placeOf(target: ResourceTarget): readonly string[] {
  const parent = target.kind === 'collection' ? target.parent : undefined
  return parent === undefined ? [target.resource.name] : [parent.resource.name, parent.id, target.resource.name]
}

function parentOf({ catalog, caller }: Planning, target: ResourceTarget): Parent | undefined {
  if (target.kind !== 'collection' || target.parent === undefined) return undefined
  const { resource, id } = target.parent
  const field = target.resource.within?.field as string
  return { resource, id, field, permitted: permit(catalog, caller, 'read', resource) }
}

/** Plans the preview of a deletion, of which the caller sees only records that they may read (AUT-9). */
function planPreview(
  planning: Planning,
  resource: Resource,
  asked: Pick<PreviewDeletion, 'ids' | 'isBulk'>,
): PreviewDeletion {
  const permitted = allOf([requiredGrant(planning, 'delete', resource), requiredGrant(planning, 'read', resource)])
  const removal = removalOf(planning, resource, permitted)
  const resources = [...planning.catalog.resources.values()]
  const readable = readableOf(planning, resources)
  return { kind: 'preview-deletion', ...asked, ...removal, readable, ...readableReferencesOf(planning, resources) }
}

/** Plans the deletion of several records, of which the caller sees only those that they may read (AUT-9). */
function planBulkDeletion(
  planning: Planning,
  resource: Resource,
  input: Extract<Input, { readonly kind: 'bulk-delete' | 'delete-matching' }>,
  permitted: Predicate,
): BulkDelete | DeleteMatching | PreviewDeletion {
  const removal = removalOf(planning, resource, permitted)
  if (input.kind === 'delete-matching') {
    const { conditions } = input
    const filter = matchedBy(planning, resource, input.selected, 'deleted')
    return { kind: 'delete-matching', filter, conditions, most: planning.preferred.most, ...removal }
  }
  const read = readBulkIds(input.body, resource.deletion.bulk?.max ?? 0)
  if ('ids' in read && read.isDryRun) return planPreview(planning, resource, { ids: read.ids, isBulk: true })
  const { ids, issues } = 'issues' in read ? { ids: [], issues: read.issues } : { ids: read.ids, issues: [] }
  const idempotency = idempotencyOf(planning, [resource.name, 'bulk-delete'], input)
  return { kind: 'bulk-delete', ids, issues, idempotency, ...removal }
}

/**
 * The records that a request by filter is about.
 *
 * @throws Fault FILTER_REQUIRED if these are all
 */
function matchedBy(planning: Planning, resource: Resource, selected: Selected, done: 'deleted' | 'changed'): Predicate {
  const { parts } = selectionOf(planning, resource, selected)
  if (parts.every((part) => part.filter.kind === 'always')) throw filterRequired(done)
  return permittedSelection(planning, resource, { parts }).filter
}

/** The id of a change of many records, and when it becomes a job. */
function workOf({ preferred, basePath }: Planning, most: number, deleted?: Resource) {
  const id = uuidv7()
  // Clients cannot turn deletions into jobs where the declaration rules jobs out.
  const isRuledOut = deleted?.deletion.asynchronous.above === Number.POSITIVE_INFINITY
  const asynchronously = preferred.asynchronously && !isRuledOut
  return { id, statusUrl: `${basePath}/jobs/${id}`, above: asynchronously ? 0 : most }
}

function removalOf(planning: Planning, resource: Resource, permitted: Predicate): Removal {
  const { caller, catalog, now } = planning
  const { id: deletion, ...work } = workOf(planning, resource.deletion.asynchronous.above, resource)
  // Those that refer to a deleted record are deleted with it, or prevent its deletion.
  const isDecisive = ({ reference }: Field) => reference?.onDelete === 'restrict' || reference?.onDelete === 'cascade'
  const concerned = [...catalog.resources.values()].filter((each) => each === resource || each.fields.some(isDecisive))
  return {
    resource,
    deletion,
    ...work,
    permitted,
    readable: readableOf(planning, concerned),
    ...readableReferencesOf(planning, concerned),
    caller,
    now,
  }
}

/** The records that the caller may read in some collections, by the names of the collections. */
function readableOf({ catalog, caller }: Planning, resources: Iterable<Resource>): ReadonlyMap<string, Predicate> {
  return new Map([...resources].map((each) => [each.name, permit(catalog, caller, 'read', each)]))
}

type BulkIds = { readonly ids: readonly string[]; readonly isDryRun: boolean } | { readonly issues: readonly Issue[] }

/**
 * Reads `{ "ids": ["…", …] }`, with `"dry_run": true` where nothing is to be deleted.
 *
 * @param most how many there may be
 *
 * @example
 * readBulkIds({ ids: ['a', 'a'] }, 1000) // { issues: [{ code: 'INVALID_VALUE', pointer: '/ids/1', … }] }
 */
export function readBulkIds(body: unknown, most: number): BulkIds {
  if (!isObject(body)) return { issues: [issue('object', { pointer: '' })] }
  const issues = unsettableMembers(body, ['ids', 'dry_run'])
  const { dry_run: isDryRun = false } = body
  if (typeof isDryRun !== 'boolean') issues.push(issue('type', { pointer: '/dry_run', types: ['boolean'] }))
  if (!Array.isArray(body['ids'])) issues.push(issue('ids', { pointer: '/ids' }))
  const ids = Array.isArray(body['ids']) ? (readItems(body['ids'], '/ids', { least: 1, most }, issues) ?? []) : []
  const places = new Map<unknown, number>()
  for (const [index, id] of ids.entries()) {
    const pointer = `/ids/${index}`
    const before = places.get(id)
    if (typeof id !== 'string') issues.push(issue('type', { pointer, types: ['string'] }))
    else if (before !== undefined) issues.push(issue('repeats', { pointer, first: `/ids/${before}` }))
    places.set(id, before ?? index)
  }
  return issues.length > 0 ? { issues } : { ids: ids as string[], isDryRun: isDryRun === true }
}
