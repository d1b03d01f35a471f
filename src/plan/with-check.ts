/** What must hold for a record as a change makes it (AUT-8), as `with check` says of a policy in PostgreSQL. Pure. */
import { collectionsOf, fieldsOf, type Predicate } from '../model/predicate.ts'
import type { Draft } from '../model/record.ts'
import type { Resource } from '../model/resource.ts'
import type { Update } from './plan.ts'

/**
 * The permissions that an update needs for the record as it will be, in the order in which they are decided. What it does not
 * touch was decided with the record as it is.
 */
export function withCheck(plan: Update, { changed }: Pick<Draft, 'changed'>): Predicate[] {
  if (changed.length === 0) return []
  const checks: Predicate[] = []
  if (dependsOn(plan.resource, plan.permitted, [...changed, 'updated_at'])) checks.push(plan.permitted)
  // A record moves under another one only where the caller might have put it there.
  if (changed.some((name) => plan.movedBy.includes(name)) && plan.mayCreate.kind !== 'always')
    checks.push(plan.mayCreate)
  return checks
}

/** Whether a predicate may come out otherwise where some fields of a record change: through other records it may look at them too. */
export function dependsOn({ name }: Resource, predicate: Predicate, changed: readonly string[]): boolean {
  return fieldsOf(predicate).some((field) => changed.includes(field)) || collectionsOf(predicate).has(name)
}
