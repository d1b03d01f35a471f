/** The permission that a request cannot do without. */
import type { Action } from 'resourced-contract/model/declaration'
import type { Predicate } from 'resourced-contract/model/predicate'
import { type Resource, resourceOfStored } from 'resourced-contract/model/resource'
import { fault } from 'resourced-contract/spec/faults'
import { permit } from '../policy/permit.ts'
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
