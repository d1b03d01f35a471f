/** How much a change is kept apart from others, so that what was true when it was decided is true when it ends (decision 040). */
import type { Catalog } from '../../model/resource.ts'
import type { Write } from '../../plan/plan.ts'
import { ruledAmong, ruledBelow } from '../transactions/rows/rules-lock.ts'
import type { Isolation } from './send.ts'

/**
 * A change is serializable where business rules are about everything that it writes and looks for: then everybody who could be in its way
 * is. Otherwise it is read committed and holds what it decides by, row by row; where business rules are about a part of that, it keeps
 * serializable changes away as long as it runs (`lockRules`).
 */
export function isolationOf(catalog: Catalog, plan: Pick<Write, 'kind' | 'resource'>): Isolation {
  switch (plan.kind) {
    case 'create':
    case 'replace':
    case 'merge':
    case 'patch':
      return ruledAmong(catalog, [plan.resource.name]) === 'all' ? 'serializable' : 'read committed'
    case 'delete':
    case 'bulk-delete':
    case 'delete-matching':
      return ruledBelow(catalog, plan.resource) === 'all' ? 'serializable' : 'read committed'
    // The keys of a subject are counted, and no row stands for a key that is not there yet.
    case 'create-key':
      return 'serializable'
    default:
      return 'read committed'
  }
}

/** The same of many creations in one transaction. */
export function isolationOfAll(catalog: Catalog, plans: readonly Pick<Write, 'resource'>[]): Isolation {
  const collections = plans.map(({ resource }) => resource.name)
  return ruledAmong(catalog, collections) === 'all' ? 'serializable' : 'read committed'
}
