/**
 * Plans about the history of records (HIS-2 to HIS-4): its revisions, the state of a record at a time, and its erasure.
 * A state is shown only if `read` and `readHistory` permit the record as it is, and as the state shows it.
 */
import { allOf, always, type EventGrant, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { historyGrant } from '../policy/permit.ts'
import { retainedSince } from './check-record.ts'
import type { EraseHistory, Former, Parent, ReadPage } from './plan.ts'
import { requiredGrant } from './plan-grants.ts'
import type { Planning } from './planning.ts'

/** The record whose revisions a list has, and those of them that the caller may read. */
interface Listed extends Pick<ReadPage, 'permitted'> {
  readonly parent: Parent
  readonly filter: Predicate
}

/** Whose history the caller may read, and which of its states. */
function grantFor(planning: Planning, resource: Resource, includesDeleted: boolean): EventGrant {
  requiredGrant(planning, 'read', resource)
  requiredGrant(planning, 'readHistory', resource)
  if (includesDeleted) requiredGrant(planning, 'readDeleted', resource)
  const since = includesDeleted ? retainedSince(resource, planning.now) : undefined
  return historyGrant(planning.catalog, planning.caller, resource, since)
}

/** The deleted records whose history the caller may read. */
function deletedBy({ readDeleted, history }: EventGrant): Parent['deleted'] {
  return history?.deletedSince === undefined ? undefined : { permitted: readDeleted, since: history.deletedSince }
}

/** Plans the list of the revisions of a record. */
export function listedRevisions(
  planning: Planning,
  { resource, id }: Pick<Parent, 'resource' | 'id'>,
  includesDeleted: boolean,
): Listed {
  const grant = grantFor(planning, resource, includesDeleted)
  return {
    parent: { resource, id, field: 'record_id', permitted: grant.read, deleted: deletedBy(grant) },
    filter: { kind: 'compare', field: 'collection', operator: 'eq', value: resource.name },
    // The record itself decides, where all states are alike.
    permitted: grant.read.kind === 'always' ? always : { kind: 'event', grants: [grant] },
  }
}

/** The permission to read a revision, of deleted records too if they are asked for. */
export function withDeletedRecords({ catalog, now }: Planning, permitted: Predicate): Predicate {
  if (permitted.kind !== 'event') return permitted
  const grants = permitted.grants.map((grant) => {
    const resource = catalog.resources.get(grant.collection) as Resource
    return { ...grant, history: { deletedSince: retainedSince(resource, now) } }
  })
  return { kind: 'event', grants }
}

/**
 * Plans the state of a record at a time.
 *
 * @param at seconds since 1970: the end of this second counts
 */
export function formerState(planning: Planning, resource: Resource, at: number, includesDeleted: boolean): Former {
  const grant = grantFor(planning, resource, includesDeleted)
  const revisions = planning.catalog.system.get('revisions') as Resource
  const latest = Math.min(at * 1_000 + 999, Date.UTC(9_999, 11, 31, 23, 59, 59, 999))
  return {
    revisions,
    until: timestamp(latest),
    deleted: deletedBy(grant),
    permitted: grant.read,
    shown: grant.read.kind === 'always' ? always : { kind: 'event', grants: [grant] },
  }
}

/** Plans the erasure of the history of a record. */
export function planErasure(
  planning: Planning,
  { resource, id }: Pick<Parent, 'resource' | 'id'>,
  { conditions, includeDeleted }: Pick<EraseHistory, 'conditions'> & { readonly includeDeleted: boolean },
): EraseHistory {
  const { caller, now } = planning
  const grant = grantFor(planning, resource, includeDeleted)
  const mayDelete = requiredGrant(planning, 'delete', resource)
  return {
    ...{ kind: 'erase-history', resource, id, conditions, caller, now },
    permitted: allOf([grant.read, mayDelete]),
    deleted: includeDeleted
      ? { permitted: allOf([grant.readDeleted, mayDelete]), since: retainedSince(resource, now) }
      : undefined,
  }
}
