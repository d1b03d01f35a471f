/** target + input -> the plan that is made for it. */
import type { Caller } from '../policy/caller.ts'
import type { Input } from '../request/input.ts'
import type { Target } from '../request/target.ts'
import type { Plan } from './plan.ts'
import { planExport, planJobDeletion } from './plan-export.ts'
import { type Planning, planFor } from './plan-for.ts'
import { planKey, planRevocation } from './plan-key.ts'
import { seenOf, storedInput, storedTarget } from './stored.ts'

/**
 * Plans whatever has a plan.
 *
 * @throws Fault as the plan of each does
 */
export function planRequest(planning: Planning, caller: Caller, target: Target, input: Input): Plan {
  if ('resource' in target && target.resource.lens !== undefined) {
    const seen = seenOf(planning.catalog, target.resource)!
    const plan = planRequest(planning, caller, storedTarget(planning.catalog, target), storedInput(seen, input))
    const shown = target.resource
    if (plan.kind !== 'read-page' || input.kind !== 'read-page') return { ...plan, shown }
    return { ...plan, shown, asked: input.query.filter }
  }
  if (input.kind === 'export') return planExport(planning, caller, input)
  if (input.kind === 'delete' && target.kind === 'export') {
    return planJobDeletion(planning, caller, { id: target.id, mustExport: true }, input.conditions)
  }
  if (input.kind === 'document' || !('resource' in target)) throw new Error(`No plan for ${target.kind}.`)
  const { resource } = target
  if (resource.made === 'for-clients') {
    if (input.kind === 'create') return planKey(planning, caller, resource, input)
    if (input.kind === 'delete' && target.kind === 'record') {
      return planRevocation(planning, caller, target, input)
    }
  }
  if (resource.made === 'by-server' && input.kind === 'delete' && target.kind === 'record') {
    return planJobDeletion(planning, caller, { id: target.id, mustExport: false }, input.conditions)
  }
  return planFor(planning, caller, target, input)
}
