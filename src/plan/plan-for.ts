/** target + input + grants -> Plan. Outright refusals end here (403); everything that depends on a record travels on. */
import { uuidv7 } from 'uuidv7'
import type { Action, CallerView, OnDelete } from '../model/declaration.ts'
import { allOf, type Predicate } from '../model/predicate.ts'
import { type Catalog, type Resource, resourceOfStored } from '../model/resource.ts'
import { isAdministrator } from '../policy/caller.ts'
import { permit, throughFields } from '../policy/permit.ts'
import { openCursor } from '../request/cursor.ts'
import type { Input } from '../request/input.ts'
import type { PageRequest } from '../request/page.ts'
import type { Target } from '../request/target.ts'
import { fault } from '../spec/faults.ts'
import { readBulkIds } from './bulk-ids.ts'
import { idempotencyOf } from './idempotency.ts'
import type { Page, Parent, Plan, Preferred, Removal } from './plan.ts'
import { retainedSince } from './retained.ts'

/** What planning knows beside the request. */
export interface Planning {
  /** What is stored. */
  readonly catalog: Catalog
  /** The catalog of the client's version. */
  readonly versionCatalog: Catalog
  readonly cursorSecret: Uint8Array
  /** Milliseconds since 1970. */
  readonly now: number
  /** What the client prefers (RFC 7240), as far as the address follows it. */
  readonly preferred: Preferred
  /** What comes before collections in paths: `/v1`. */
  readonly basePath: string
}

type Addressed = Extract<Target, { readonly resource: Resource }>
type Asked = Exclude<Input, { readonly kind: 'document' | 'export' }>

/**
 * Plans what a caller asks of a resource.
 *
 * @throws Fault FORBIDDEN where no record could be allowed; INVALID_CURSOR
 */
export function planFor(planning: Planning, caller: CallerView, target: Addressed, input: Asked): Plan {
  const { catalog, now } = planning
  const { resource } = target
  const grant = (action: Action, of: Resource = resource) => permit(catalog, caller, action, of)
  const required = (action: Action): Predicate => {
    const predicate = grant(action)
    if (predicate.kind === 'never') throw forbidden(action, resource)
    return predicate
  }
  const id = target.kind === 'record' || target.kind === 'restore' ? target.id : ''
  switch (input.kind) {
    case 'read-record':
      return {
        kind: 'read-record',
        resource,
        id,
        permitted: required('read'),
        fields: input.fields,
        conditions: input.conditions,
      }
    case 'read-page': {
      const { filter, versionFilter, search, sort, fields, page, includeDeleted } = input.query
      const parent = parentOf(planning, caller, target)
      return {
        kind: 'read-page',
        resource,
        parent,
        filter,
        versionFilter,
        permitted: required('read'),
        search,
        deleted: includeDeleted
          ? { permitted: allOf([required('readDeleted'), required('read')]), since: retainedSince(resource, now) }
          : undefined,
        sort,
        page: openPage(planning, page, bindingOf(planning.versionCatalog, resource, parent, input.query.binding)),
        fields,
        conditions: input.conditions,
      }
    }
    case 'create':
      return {
        kind: 'create',
        resource,
        id: uuidv7(),
        parent: parentOf(planning, caller, target),
        body: input.body,
        permitted: required('create'),
        mayAssignOwner: isAdministrator(caller),
        idempotency: idempotencyOf(planning, caller, placeOf(target), input),
        caller,
        now,
      }
    case 'replace':
    case 'merge':
    case 'patch':
      return {
        kind: input.kind,
        resource,
        id,
        body: input.body,
        permitted: required('update'),
        mayCreate: grant('create'),
        movedBy: [...throughFields(resource, 'update'), ...throughFields(resource, 'create')],
        // A JSON Patch reads: whoever may read nothing is refused before the record is looked for.
        mayRead: input.kind === 'patch' ? required('read') : grant('read'),
        mayAssignOwner: isAdministrator(caller),
        conditions: input.conditions,
        caller,
        now,
      }
    case 'delete':
      return { kind: 'delete', id, conditions: input.conditions, ...removalOf(planning, caller, resource, required) }
    case 'bulk-delete': {
      const removal = removalOf(planning, caller, resource, required, true)
      const read = readBulkIds(input.body, resource.deletion.bulk?.max ?? 0)
      const idempotency = idempotencyOf(planning, caller, [resource.name, 'bulk-delete'], input)
      const { ids, issues } = 'issues' in read ? { ids: [], issues: read.issues } : { ids: read.ids, issues: [] }
      return { kind: 'bulk-delete', ids, issues, idempotency, ...removal }
    }
    case 'delete-matching': {
      const { filter, conditions } = input
      const { most } = planning.preferred
      const removal = removalOf(planning, caller, resource, required, true)
      return { kind: 'delete-matching', filter, conditions, most, ...removal }
    }
    case 'restore':
      return {
        kind: 'restore',
        resource,
        id,
        permitted: required('restore'),
        mayRead: grant('read'),
        readable: readableOf(catalog, caller, catalog.resources.values()),
        conditions: input.conditions,
        idempotency: idempotencyOf(planning, caller, [resource.name, id, 'restore'], input),
        caller,
        now,
      }
  }
}

/** What tells a collection from others, nested ones too. */
function placeOf(target: Addressed): readonly string[] {
  const parent = target.kind === 'collection' ? target.parent : undefined
  return parent === undefined ? [target.resource.name] : [parent.resource.name, parent.id, target.resource.name]
}

/**
 * What every deletion carries.
 *
 * @param ofSeveral whether it chooses among records: then it sees only those that the caller may read (AUT-9)
 */
function removalOf(
  { catalog, now, preferred, basePath }: Planning,
  caller: CallerView,
  resource: Resource,
  required: (action: Action) => Predicate,
  ofSeveral = false,
): Removal {
  const deletion = uuidv7()
  const { above } = resource.deletion.asynchronous
  // Whoever declares that it never becomes a job is not overruled.
  const asynchronously = preferred.asynchronously && above !== Number.POSITIVE_INFINITY
  const concerned = [...catalog.resources.values()].filter(
    (each) => each === resource || each.fields.some(({ reference }) => isDecisive(reference?.onDelete)),
  )
  return {
    resource,
    deletion,
    statusUrl: `${basePath}/jobs/${deletion}`,
    above: asynchronously ? 0 : above,
    permitted: ofSeveral ? allOf([required('delete'), required('read')]) : required('delete'),
    readable: readableOf(catalog, caller, concerned),
    caller,
    now,
  }
}

/** Whether the records that refer to a deleted one go with it, or stand in its way. */
function isDecisive(onDelete: OnDelete | undefined): boolean {
  return onDelete === 'restrict' || onDelete === 'cascade'
}

/** What the caller may read of some collections, by their names. */
function readableOf(
  catalog: Catalog,
  caller: CallerView,
  resources: Iterable<Resource>,
): ReadonlyMap<string, Predicate> {
  return new Map([...resources].map((each) => [each.name, permit(catalog, caller, 'read', each)]))
}

/** What a cursor of a list is bound to; in another version its keys may mean something else. */
export function bindingOf(
  versionCatalog: Catalog,
  resource: Resource,
  parent: Parent | undefined,
  query: string,
): string {
  const nameOf = ({ name }: Resource) => resourceOfStored(versionCatalog, name)?.name ?? name
  const above = parent === undefined ? '' : `${nameOf(parent.resource)}/${parent.id}`
  return `${versionCatalog.version} ${nameOf(resource)} ${above} ${query}`
}

// The same request gives the same page: storages know lists again by it.
const firstPages = new WeakMap<PageRequest, Page>()

function openPage({ cursorSecret }: Planning, page: PageRequest, binding: string): Page {
  if (page.style !== 'cursor') return page
  const { limit, cursor } = page
  if (cursor !== undefined) return { style: 'cursor', limit, position: openCursor(cursorSecret, binding, cursor) }
  const known = firstPages.get(page) ?? { style: 'cursor', limit, position: undefined }
  firstPages.set(page, known)
  return known
}

function parentOf({ catalog }: Planning, caller: CallerView, target: Addressed): Parent | undefined {
  if (target.kind !== 'collection' || target.parent === undefined) return undefined
  const { resource, id } = target.parent
  const field = target.resource.within?.field as string
  return { resource, id, field, permitted: permit(catalog, caller, 'read', resource) }
}

function forbidden(action: Action, resource: Resource): Error {
  const words: Readonly<Record<Action, string>> = {
    read: 'read',
    create: 'create',
    update: 'change',
    delete: 'delete',
    restore: 'restore',
    readDeleted: 'see deleted',
  }
  return fault('FORBIDDEN', { detail: `Your credential does not allow you to ${words[action]} ${resource.name}.` })
}
