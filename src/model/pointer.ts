/** JSON Pointers (RFC 6901): where in a body something is. */

/** One step of a pointer, escaped (section 3). */
export function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}
