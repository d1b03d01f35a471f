/** Whether what came of a plan is a change. */
import type { Outcome } from '../../plan/plan.ts'
import type { Large } from './delete/large.ts'

const refusals: ReadonlySet<string> = new Set<Outcome['kind']>([
  'missing', 'parent-missing', 'forbidden', 'precondition-required', 'stale', 'invalid', 'conflict', 'not-modified',
  'replayed', 'key-in-use', 'key-reused', 'bulk-refused',
]) // biome-ignore format: one row reads best

/** Whether an outcome is to stay; otherwise what was done to find it out is undone. */
export function isChange({ kind }: Outcome | Large): boolean {
  return kind !== 'large' && !refusals.has(kind)
}
