/**
 * Places: paths in a declaration (`resources.tasks.rules[0].code`) and JSON Pointers in a body (RFC 6901).
 */

const simple = /^[\w$-]{1,80}$/

/** The place of a key. */
export function at(path: string, key: string): string {
  if (!simple.test(key)) return `${path}[${JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** The place of an item of an array. */
export function item(path: string, index: number): string {
  return `${path}[${index}]`
}

/** The steps to a place: keys of objects and indexes of arrays. */
export type Steps = readonly (string | number)[]

/** The place that steps lead to. */
export function below(path: string, steps: Steps): string {
  return steps.reduce<string>((place, step) => (typeof step === 'number' ? item(place, step) : at(place, step)), path)
}

/** One step of a pointer, escaped (section 3). */
export function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The pointer of steps. */
export function pointerTo(steps: Steps): string {
  return steps.map((step) => `/${escapeStep(String(step))}`).join('')
}
