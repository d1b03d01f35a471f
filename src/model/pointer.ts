/** JSON Pointers (RFC 6901): where in a body something is. */
import type { Steps } from './place.ts'

/** One step of a pointer, escaped (section 3). */
export function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The pointer to which steps lead. */
export function pointerTo(steps: Steps): string {
  return steps.map((step) => `/${escapeStep(String(step))}`).join('')
}
