/** target + input -> the plan that is made for it. */
import { isMapped } from '../model/resource.ts'
import type { Caller } from '../policy/caller.ts'
import type { Input } from '../request/input.ts'
import type { Target } from '../request/target.ts'
import { translateTarget } from '../versions/translate-request.ts'
import type { Plan } from './plan.ts'
import { planExport, planJobDeletion } from './plan-export.ts'
import { type Planning, planFor } from './plan-for.ts'
import { planKey, planRevocation } from './plan-key.ts'

/**
 * Plans whatever has a plan.
 *
 * @throws Fault as the plan of each does
 */
export function planRequest(planning: Planning, caller: Caller, target: Target, input: Input): Plan {
  if ('resource' in target && isMapped(target.resource)) {
    const { resource: versionResource } = target
    return { ...planRequest(planning, caller, translateTarget(target), input), versionResource }
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
