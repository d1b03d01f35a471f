/** Places in a declaration, written as people would: `resources.tasks.rules[0].code`. */

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

/** The way to a place, however it will be written: keys of objects and indexes of arrays. */
export type Steps = readonly (string | number)[]

/** The place to which steps lead from another one. */
export function below(path: string, steps: Steps): string {
  return steps.reduce<string>((place, step) => (typeof step === 'number' ? item(place, step) : at(place, step)), path)
}
